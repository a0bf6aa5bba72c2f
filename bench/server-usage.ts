// Reads what processes have used until now, from /proc: measured ones, Postgres and Redis; and the WAL that Postgres has written.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../src/store/postgres/database.ts';

export interface ServerUsage {
  /** All processes of the server, also those that have ended. NaN where there is no /proc, as of Redis. */
  readonly postgresSeconds: number;
  /** 0 without Redis. */
  readonly redisSeconds: number;
  readonly walBytes: number;
}

/** @param redis process ID of a Redis server on this machine */
export async function serverUsage(db: Database, redis: number | undefined): Promise<ServerUsage> {
  const [row] = await db.query<{ data: string; wal: string }>(
    `select current_setting('data_directory') as data, pg_current_wal_lsn() - '0/0' as wal`,
  );
  const { data, wal } = row as { data: string; wal: string };
  const postmaster = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
  return {
    postgresSeconds: process.platform === 'linux' ? cpuOfTree(postmaster) : Number.NaN,
    redisSeconds: redis === undefined ? 0 : process.platform === 'linux' ? (readCpu(redis)?.own ?? 0) : Number.NaN,
    walBytes: Number(wal),
  };
}

/** A process with its children. What ended children have used counts for the process that has waited for them. */
function cpuOfTree(root: number): number {
  const own = readCpu(root);
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const used = children.map((pid) => readCpu(Number(pid))).filter((read) => read?.parent === root);
  return used.reduce((sum, read) => sum + (read?.own ?? 0), (own?.own ?? 0) + (own?.ended ?? 0));
}

let ticks: number | undefined;

/** Seconds; `undefined`: the process has ended. See proc_pid_stat(5). */
function readCpu(pid: number): { parent: number; own: number; ended: number } | undefined {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const columns = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const seconds = (...at: readonly number[]) =>
      at.reduce((sum, column) => sum + Number(columns[column]), 0) / Number(ticks);
    return { parent: Number(columns[1]), own: seconds(11, 12), ended: seconds(13, 14) };
  } catch {
    return undefined;
  }
}

/** CPU time of a running process, in seconds. */
export const cpuSecondsOf = (pid: number | undefined): number => readCpu(pid ?? 0)?.own ?? Number.NaN;

/** The most memory that a running process has had. */
export const peakMegabytesOf = (pid: number | undefined): number =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000;
