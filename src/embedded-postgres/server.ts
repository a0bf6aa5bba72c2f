// Runs one Postgres server per data folder, shared by all commands on this machine.
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type pg from 'pg';
import { type RetryPolicy, retry } from '../flow/retry.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { FALLBACK_FOLDERS, withLock } from './cluster-paths.ts';
import type { ServerConnection } from './connect.ts';
import { EmbeddedPostgresError, USE_OWN_POSTGRES } from './embedded-error.ts';
import type { ServerSettings } from './initialise.ts';
import { DATABASE_USER } from './initialise.ts';
import { ensureServer, stopServer } from './postmaster.ts';
import { readPostmaster } from './postmaster-file.ts';

/** A process's membership in a running server. */
export interface EmbeddedServer {
  /** The URL of a database, by default `jobmirror`, which exists and is initially empty. Contains the password. */
  url(databaseName?: string): string;
  /**
   * Ends the membership; the last member to leave stops the server. Close all other connections first. Always call it
   * (`finally`): the connection that holds the membership keeps the process alive.
   */
  leave(): Promise<void>;
}

export interface EmbeddedServerOptions {
  /** Receives a sentence about anything slow, and about problems that were fixed. */
  readonly onNotice?: (text: string) => void;
  /** Postgres settings, used if this call creates the cluster or starts the server. */
  readonly settings?: ServerSettings;
  /** Folders that root tries if the server's user can't reach the data folder. */
  readonly fallbackFolders?: readonly string[];
  /** Aborts the opening, which then throws its reason and stops a server that it started. */
  readonly signal?: AbortSignal;
}

/** Each member holds this advisory lock in shared mode on its own connection; who can get it exclusively is the last. */
const MEMBERSHIP = 'hashtext($$jobmirror member$$)';
/** As long as this process is a member. */
const REJOINING: RetryPolicy = { firstDelayMs: 100, maxDelayMs: 10_000 };

/**
 * Joins the server of `dataDir`; first creates its cluster and starts the server, if needed.
 * A member whose server is killed restarts it, on the same port if that is still free.
 * @throws EmbeddedPostgresError that says what happened, where, and what to do.
 */
export async function openEmbeddedServer(
  dataDir: string,
  options: EmbeddedServerOptions = {},
): Promise<EmbeddedServer> {
  const { onNotice = () => {}, settings = {}, fallbackFolders = FALLBACK_FOLDERS, signal } = options;
  const leaving = new AbortController();
  let healing: Promise<void> | undefined;

  refuseLineBreak(resolve(dataDir));
  const make = () => openCluster(resolve(dataDir), fallbackFolders, settings, onNotice, signal);
  const cluster = await explained(dataDir, make, signal);
  let member = await explained(dataDir, () => join(cluster, signal), signal);
  if (signal?.aborted) {
    await leave();
    throw signal.reason;
  }
  return { url, leave };

  async function join({ home }: Cluster, until?: AbortSignal): Promise<ServerConnection> {
    const enter = async (): Promise<ServerConnection> => {
      const connected = await ensureServer(cluster, settings, onNotice, until);
      try {
        await connected.client.query(`select pg_advisory_lock_shared(${MEMBERSHIP})`);
        await ensureDatabase(connected.client);
      } catch (error) {
        await connected.client.end();
        throw error;
      }
      connected.client.once('end', () => {
        if (!leaving.signal.aborted) healing = rejoin();
      });
      return connected;
    };
    return withLock(home, enter, until);
  }

  async function rejoin(): Promise<void> {
    onNotice('The database server has ended unexpectedly; starting it again.');
    const { signal } = leaving;
    const joinAgain = async (): Promise<void> => {
      const before = member.port;
      member = await explained(dataDir, () => join(cluster, signal), signal);
      onNotice(
        member.port === before
          ? 'The database server is back.'
          : 'The database server is back on another port: start this command again.',
      );
    };
    const onRetry = (error: unknown): void => onNotice((error as Error).message);
    // Fails only when this process leaves.
    await retry(joinAgain, REJOINING, { signal, worthAgain: () => true, onRetry }).catch(() => undefined);
  }

  function url(databaseName = DATABASE_USER): string {
    return `postgres://${DATABASE_USER}:${cluster.password}@127.0.0.1:${member.port}/${databaseName}`;
  }

  async function leave(): Promise<void> {
    if (leaving.signal.aborted) return;
    leaving.abort();
    await healing;
    try {
      await explained(dataDir, () => withLock(cluster.home, leaveLocked));
    } finally {
      await member.client.end();
    }
  }

  async function leaveLocked(): Promise<void> {
    if (await isLast(member.client)) await stopServer(cluster.home);
  }
}

/** Postgres writes its folder into a line of `postmaster.pid`, by which a running server is found again. */
function refuseLineBreak(folder: string): void {
  if (!folder.includes('\n')) return;
  throw new EmbeddedPostgresError(
    `The path of the data folder holds a line break: ${JSON.stringify(folder)}`,
    `Postgres can't work there. Rename the folder, or set data_dir to another one.\n${USE_OWN_POSTGRES}`,
  );
}

async function ensureDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE_USER]);
  if (rowCount === 0) await client.query(`create database ${DATABASE_USER}`);
}

/** Gives up the membership; true if it was the last. If the server is already gone, nobody needs to stop it. */
async function isLast(client: pg.Client): Promise<boolean> {
  try {
    await client.query(`select pg_advisory_unlock_shared(${MEMBERSHIP})`);
    const { rows } = await client.query<{ last: boolean }>(`select pg_try_advisory_lock(${MEMBERSHIP}) as last`);
    return rows[0]?.last === true;
  } catch {
    return false;
  }
}

/** Wraps file system errors with their location and what to do. */
async function explained<Result>(dataDir: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EmbeddedPostgresError || (signal?.aborted && error === signal.reason)) throw error;
    throw new EmbeddedPostgresError(
      `The embedded Postgres can't use the data folder ${dataDir}: ${(error as Error).message}`,
      `Check that the disk is not full and that the folder belongs to you; or set data_dir to another folder.\n${USE_OWN_POSTGRES}`,
      { cause: error },
    );
  }
}

/**
 * Deletes the database of `dataDir` with all its data. First stops a server that a killed process left running. No other
 * process may be about to open the folder.
 * @throws EmbeddedPostgresError if another process still uses it.
 */
export async function removeCluster(dataDir: string): Promise<void> {
  const link = join(dataDir, 'postgres', 'cluster');
  if (!existsSync(link)) return;
  const home = realpathSync(link);
  if (readPostmaster(home)) {
    // Joining and leaving stops the server, unless somebody else is still a member.
    const server = await openEmbeddedServer(dataDir);
    await server.leave();
  }
  if (readPostmaster(home)) {
    throw new EmbeddedPostgresError(
      `The database in ${dataDir} is still in use.`,
      'End the other jobmirror commands that work on it, and try again.',
    );
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
}
