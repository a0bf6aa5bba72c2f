// The paths of the files in a cluster's folder, its "home".
import { chmodSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError, USE_OWN_POSTGRES } from './binaries.ts';
import { identityOf, isAlive } from './process-identity.ts';
import { canEnter, type ServerUser } from './server-user.ts';

export interface ClusterPaths {
  /** Postgres' data folder, owned by the user the server runs as. The user who started it owns everything else here. */
  readonly data: string;
  readonly log: string;
  /** The port that the server last used: it is reused, to let clients reconnect after a restart. */
  readonly port: string;
  /** The password of the only database user. */
  readonly password: string;
  /** Holds the path of the link in the data folder that points to this cluster. */
  readonly madeFor: string;
}

export const clusterPaths = (home: string): ClusterPaths => ({
  data: join(home, 'data'),
  log: join(home, 'server.log'),
  port: join(home, 'port'),
  password: join(home, 'password'),
  madeFor: join(home, 'made-for'),
});

// Finds a folder for the cluster if the server's user can't reach the data folder, such as one below root's home.

/** Candidate folders, best first: the system's temporary folder may not survive a restart. */
export const FALLBACK_FOLDERS: readonly string[] = [
  '/var/lib/jobmirror',
  join(tmpdir(), 'jobmirror-root'),
  '/tmp/jobmirror-root',
];

/**
 * The first of `candidates` that root can use and `user` can enter; contains a folder `clusters`.
 * @throws EmbeddedPostgresError if there is none.
 */
export function openFallbackFolder(user: ServerUser, candidates: readonly string[]): string {
  const failures: string[] = [];
  for (const folder of candidates) {
    try {
      makeEnterable(folder);
      if (!canEnter(user, folder)) throw new Error(`user ${user.uid} can't enter it`);
      makeEnterable(join(folder, 'clusters'));
      return folder;
    } catch (error) {
      failures.push(`${folder}: ${(error as Error).message}`);
    }
  }
  throw new EmbeddedPostgresError(
    `No folder for the embedded Postgres: it can't run as root, and user ${user.uid} can't enter the data folder or any other that was tried.`,
    `Set data_dir to a folder that everybody may enter, or run as another user than root.\n${USE_OWN_POSTGRES}`,
    { detail: failures.join('\n') },
  );
}

/** Creates the folder, or uses an existing one that is really ours: anybody could have created one of that name in /tmp. */
function makeEnterable(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error('it belongs to somebody else, or others may write to it');
  }
  chmodSync(folder, 0o755);
}

// A lock that gives one process at a time access to a folder, even if a holder is killed at any moment.
// Not proper-lockfile: it has had no release since 2021, and calls a lock stale by its time, which a stopped process or a
// changed clock falsifies.

// Node has no flock, and a lock file of a killed owner can't be taken over safely: two processes may find it stale, and
// the slower one then removes the lock that the faster one has just created. So the lock is a sequence of numbered
// symbolic links whose targets name the holder (creating a link is atomic, includes its content, and fails if it exists):
//
//   The highest number holds the lock, unless it says "free" or its process is dead; then whoever creates the next number
//   may hold it. Whoever creates n+1 removes n and all below it, lowest first. So if n still exists after n+1 was created,
//   nobody had n+1 before; if n is gone, the listing was out of date, and the creator removes its link again.
const FREE = 'free';
const POLL_MS = 25;
const WAIT_FOR_MS = 120_000;

/** Prepares a folder for {@link withLock}. Call it before any other process can see the folder. */
export const makeLockable = (folder: string): void => symlinkSync(FREE, linkPath(folder, 0));

/**
 * Runs `work` while no other caller, in this process or another, holds the lock of the same folder.
 * @param signal aborts the wait for the lock
 * @throws EmbeddedPostgresError if another process keeps the lock for two minutes; the reason of `signal`.
 */
export async function withLock<Result>(
  folder: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const held = await acquire(folder, signal);
  try {
    return await work();
  } finally {
    symlinkSync(FREE, linkPath(folder, held + 1));
    remove(linkPath(folder, held));
  }
}

async function acquire(folder: string, signal?: AbortSignal): Promise<number> {
  const me = identityOf(process.pid) ?? String(process.pid);
  const deadline = Date.now() + WAIT_FOR_MS;
  for (let holder = ''; Date.now() < deadline; await delay(POLL_MS)) {
    signal?.throwIfAborted();
    const numbers = lockNumbers(folder);
    const last = numbers.at(-1) ?? 0;
    holder = readTarget(folder, last) ?? holder;
    if (holder !== FREE && isAlive(holder)) continue;
    if (!tryLink(me, linkPath(folder, last + 1))) continue;
    if (!exists(linkPath(folder, last))) {
      remove(linkPath(folder, last + 1));
      continue;
    }
    for (const number of numbers) remove(linkPath(folder, number));
    return last + 1;
  }
  throw new EmbeddedPostgresError(
    `Another jobmirror process has been starting or stopping the database in ${folder} for two minutes.`,
    `Check what it is doing (${readTarget(folder, lockNumbers(folder).at(-1) ?? 0) ?? 'it has just ended'}), end it if it hangs, and try again.`,
  );
}

const linkPath = (folder: string, number: number): string => join(folder, `lock-${number}`);

function lockNumbers(folder: string): number[] {
  const numbers = readdirSync(folder).flatMap((name) => /^lock-(\d+)$/.exec(name)?.[1] ?? []);
  return numbers.map(Number).sort((a, b) => a - b);
}

function readTarget(folder: string, number: number): string | undefined {
  return ignoring('ENOENT', () => readlinkSync(linkPath(folder, number)));
}

const tryLink = (target: string, path: string): boolean =>
  ignoring('EEXIST', () => {
    symlinkSync(target, path);
    return true;
  }) ?? false;

const exists = (path: string): boolean => ignoring('ENOENT', () => lstatSync(path)) !== undefined;

const remove = (path: string): void => ignoring('ENOENT', () => unlinkSync(path));

function ignoring<Result>(code: string, act: () => Result): Result | undefined {
  try {
    return act();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== code) throw error;
    return undefined;
  }
}
