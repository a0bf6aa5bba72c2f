// Creates an empty cluster in a new folder with Postgres' initdb.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Binaries, EmbeddedPostgresError, initdbPath } from './binaries.ts';
import { clusterPaths } from './cluster-paths.ts';
import { giveOwnershipTo, SERVER_ENVIRONMENT, type ServerUser } from './server-user.ts';

/** The cluster's only database user, and the default database of `url()`. */
export const DATABASE_USER = 'jobmirror';

/**
 * Turns `home` (empty except for its lock) into a new cluster that `user` runs and `link` will point to.
 * @param signal ends initdb, and removes `home`
 * @throws EmbeddedPostgresError with the output of initdb; the reason of `signal`.
 */
export async function initialiseHome(
  home: string,
  link: string,
  binaries: Binaries,
  user: ServerUser,
  settings: ServerSettings,
  signal?: AbortSignal,
): Promise<void> {
  const paths = clusterPaths(home);
  const password = randomBytes(24).toString('base64url');
  writeFileSync(paths.password, password, { mode: 0o600 });
  writeFileSync(paths.madeFor, link);
  mkdirSync(paths.data, { mode: 0o700 });
  giveOwnershipTo(user, paths.data);
  // initdb reads the password only from a file, and the server's user must be able to read it.
  const passwordForInitdb = join(home, 'password-for-initdb');
  writeFileSync(passwordForInitdb, password, { mode: 0o600 });
  giveOwnershipTo(user, passwordForInitdb);
  const options = [`--username=${DATABASE_USER}`, `--pwfile=${passwordForInitdb}`, '--auth=scram-sha-256'];
  const content = ['--encoding=UTF8', '--locale=C', '--no-instructions'];
  if (settings.fsync === 'off') content.push('--no-sync');
  try {
    signal?.throwIfAborted();
    const how = { ...user, cwd: '/', env: SERVER_ENVIRONMENT };
    const running = promisify(execFile)(initdbPath(binaries), ['-D', paths.data, ...options, ...content], how);
    // After a kill, still wait for initdb to end: it may write until then.
    const end = (): unknown => running.child.kill();
    signal?.addEventListener('abort', end, { once: true });
    await running.finally(() => signal?.removeEventListener('abort', end));
    signal?.throwIfAborted();
  } catch (cause) {
    rmSync(home, { recursive: true, maxRetries: 10 });
    signal?.throwIfAborted();
    throw new EmbeddedPostgresError(
      `Postgres could not create a database in ${home}.`,
      'See its output below. Usually the disk is full, or the folder is on a file system without owners and modes: then set data_dir to another folder.',
      { detail: (cause as { stderr?: string }).stderr || (cause as Error).message, cause },
    );
  }
  rmSync(passwordForInitdb);
}

// The settings of the embedded server, passed as command line arguments: a new jobmirror version needs no edited files.

/** Postgres settings by name. */
export type ServerSettings = Readonly<Record<string, string>>;

/** Tuned for our load: a few processes, bulk writes and short transactions, on a machine shared with other programs. */
const SETTINGS: ServerSettings = {
  listen_addresses: '127.0.0.1',
  // Socket paths are limited to 107 bytes, which a deeply nested data folder exceeds.
  unix_socket_directories: '',
  // A command uses about eight, and up to twenty under load; many terminals and timers may run commands at once.
  max_connections: '600',
  shared_buffers: '128MB',
  wal_compression: 'on',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  // Parallel queries use /dev/shm, which has 64 MB in a container; our queries are small anyway.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  jit: 'off',
  log_min_messages: 'warning',
  // Log failing statements without their text, which may be megabytes long.
  log_min_error_statement: 'panic',
  cluster_name: 'jobmirror',
};

/** The arguments for `postgres`; `overrides` win. */
export function serverArguments(data: string, port: number, overrides: ServerSettings): string[] {
  const settings = Object.entries({ ...SETTINGS, ...overrides, port: String(port) });
  return ['-D', data, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
