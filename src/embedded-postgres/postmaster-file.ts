// Reads a running server's postmaster.pid, and defuses the file that a killed server left behind.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clusterPaths } from './cluster-paths.ts';
import { identityOf, isPostmasterOf } from './process-identity.ts';

/** A live server of a cluster. */
export interface Postmaster {
  readonly pid: number;
  /** NaN in the first moments of a start. */
  readonly port: number;
  readonly status: 'starting' | 'ready' | 'stopping';
}

/** The server that runs on the cluster in `home`; undefined if none runs, whatever a stale file says. */
export function readPostmaster(home: string): Postmaster | undefined {
  const lines = readLines(home);
  const pid = Number(lines[0]);
  if (!pid || !isPostmasterOf(pid, clusterPaths(home).data)) return undefined;
  // The lines: pid, data folder, start, port, socket folder, address, shared memory, status (Postgres' miscadmin.h).
  const said = lines[7]?.trim();
  return { pid, port: Number(lines[3]), status: said === 'ready' || said === 'stopping' ? said : 'starting' };
}

/**
 * Lets a new server start although the process ID in a killed server's file now belongs to another program. Postgres
 * refuses to start while that process exists, but treats its own parent's ID, which is ours, as stale. The other lines are
 * kept: Postgres uses them to check that no process of the killed server still works on the data.
 */
export function replaceStalePostmasterFile(home: string): void {
  const [line, ...rest] = readLines(home);
  const pid = Number(line);
  // A start that was killed may have left a server that came up since the last check. Its file is not stale.
  if (!pid || !identityOf(pid) || isPostmasterOf(pid, clusterPaths(home).data)) return;
  writeFileSync(pathOf(home), [process.pid, ...rest].join('\n'));
}

const pathOf = (home: string): string => join(clusterPaths(home).data, 'postmaster.pid');

function readLines(home: string): string[] {
  try {
    return readFileSync(pathOf(home), 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
