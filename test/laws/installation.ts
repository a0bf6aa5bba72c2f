// Sets up an installation for fault tests: a mirror with short waits, a second user of the site, and its own processes.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { request } from 'undici';
import { packageRoot } from '../../src/config/package-root.ts';
import { TIMING, type Timing } from '../../src/runtime/timing.ts';
import type { InspectedJob } from '../../src/sandbox/sandbox.ts';
import { ACCOUNTS } from '../support/accounts.ts';
import { FAST_TIMING } from '../support/fast-timing.ts';
import { type Mirror, type MirrorOptions, openMirror, type Program } from '../support/mirror.ts';

export interface Installation extends Mirror {
  /** E-mail address of the user that the mirror acts as. */
  readonly owner: string;
  /** Another user's jobs as they were created; they must never change. */
  readonly foreign: readonly InspectedJob[];
  /**
   * Starts the built `jobmirror COMMAND` (`npm run build`) as a process, with these extra variables, and with the mirror's
   * configuration unless the command names one. `FAULT_AT` kills or stops it (`test/support/entry-with-faults.mjs`).
   */
  spawn(command: readonly string[], env?: Readonly<Record<string, string>>): Running;
}

/** A process of the installation. */
export interface Running {
  readonly child: ChildProcess;
  /** Resolves at the first output, for a worker when it is working; from then on a signal stops the process cleanly. */
  readonly started: Promise<void>;
  /** Resolves when the process has ended, and with it its database sessions: its status or signal, and its output. */
  readonly ended: Promise<Ended>;
}

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** Short enough to resolve a doubt within seconds, long enough for a slow machine. */
export const SHORT = {
  limits: '{ requests_per_second: 5000, concurrency: 4, timeout_seconds: 2 }',
  doubts: '{ resolve_after_seconds: 2.5 }',
  retry: '{ attempts: 5, first_delay_seconds: 0.05, max_delay_seconds: 0.2 }',
} as const;

const ENTRY = join(packageRoot, 'test/support/entry-with-faults.mjs');
const POLL_MS = 20;
const OWNER = ACCOUNTS[0].email;

export async function openInstallation(options: MirrorOptions = {}): Promise<Installation> {
  const { timing = FAST_TIMING } = options;
  const mirror = await openMirror({ ...options, timing, site: { ...SHORT, ...options.site } });
  const foreign = await makeForeignJobs(mirror);
  return { ...mirror, owner: OWNER, foreign, ...processesOf(mirror, timing) };
}

/** `spawn`, and a `close` that also ends the processes it started. */
export function processesOf(program: Program, timing: Timing): Pick<Installation, 'spawn' | 'close'> {
  const timingEnv = timing === TIMING ? {} : { TIMING: JSON.stringify(timing) };
  const processes: Running[] = [];
  const closing = new AbortController();
  return {
    spawn(command, env = {}) {
      const config = command.includes('--config') ? [] : ['--config', program.configPath];
      const databaseUrl = named(program.env.DATABASE_URL as string, `jobmirror, process ${processes.length + 1}`);
      const child = spawn(process.execPath, [ENTRY, ...command, ...config], {
        env: {
          PATH: process.env.PATH,
          HOME: program.folder,
          ...program.env,
          DATABASE_URL: databaseUrl,
          ...timingEnv,
          ...env,
        },
        cwd: program.folder,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const running = { child, started: firstOutputOf(child), ended: endOf(child, databaseUrl, closing.signal) };
      processes.push(running);
      return running;
    },
    async close() {
      closing.abort();
      for (const { child } of processes) child.kill('SIGKILL');
      // Nothing may use the database when it is reset for the next test.
      await Promise.all(processes.map(({ ended }) => ended));
      await program.close();
    },
  };
}

const firstOutputOf = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) stream?.once('data', () => resolve());
    child.once('close', () => resolve());
  });

/** The same database, with the name that the sessions of a process have at the server. */
function named(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('application_name', name);
  return url.href;
}

/**
 * A killed process is waited for until the server has noticed its death: on a loaded machine, one that is started at once could still
 * find its locks.
 * @param databaseUrl with the name of the process
 * @param closing aborts when the installation closes, which ends the sessions that are left
 */
async function endOf(child: ChildProcess, databaseUrl: string, closing: AbortSignal): Promise<Ended> {
  const end = await outputOf(child);
  // The database may be away as well.
  if (end.signal === 'SIGKILL') await untilNoticed(databaseUrl, closing).catch(() => undefined);
  return end;
}

/**
 * Resolves when the installation closes, or no session of that name is left except those that wait for a lock: they notice nothing
 * until they have it.
 */
async function untilNoticed(databaseUrl: string, closing: AbortSignal): Promise<void> {
  if (closing.aborted) return;
  const left = `select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name = current_setting('application_name')
      and wait_event_type is distinct from 'Lock'`;
  const client = new pg.Client({ connectionString: databaseUrl });
  // After the server has gone away, the next query fails.
  client.on('error', () => undefined);
  await client.connect();
  try {
    while (!closing.aborted && (await client.query(left)).rows.length > 0) await pause(POLL_MS);
  } finally {
    await client.end();
  }
}

async function outputOf(child: ChildProcess): Promise<Ended> {
  let output = '';
  const collect = (piece: Buffer) => {
    output += piece.toString();
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const [status, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { status, signal, output };
}

/** Two jobs of somebody else. */
async function makeForeignJobs({ sandbox }: Mirror): Promise<readonly InspectedJob[]> {
  const { token } = await sandbox.ensureUser(ACCOUNTS[1].email, undefined, randomBytes(20).toString('hex'));
  for (const number of ['elsewhere-1', 'elsewhere-2']) {
    const body = `<job><title>Cook</title><number>${number}</number><location-state>Ohio</location-state></job>`;
    const answer = await request(`${sandbox.url}/jobs.xml`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${token}:X`).toString('base64')}`,
        'content-type': 'application/xml',
      },
      body,
    });
    await answer.body.dump();
    if (answer.statusCode !== 201) throw new Error(`the sandbox answered ${answer.statusCode} to a foreign job`);
  }
  const jobs = await sandbox.inspect.jobs();
  sandbox.requests.clear();
  return jobs;
}
