// Runs one Postgres server per data folder, shared by all commands on this machine.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type RetryPolicy, retry } from '../flow/retry.ts';
import {
  type Binaries,
  EmbeddedPostgresError,
  findBinaries,
  postgresPath,
  runnableBinaries,
  USE_OWN_POSTGRES,
} from './binaries.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { clusterPaths, FALLBACK_FOLDERS, withLock } from './cluster-paths.ts';
import { DATABASE_USER, type ServerSettings, serverArguments } from './initialise.ts';
import { readPostmaster, replaceStalePostmasterFile } from './postmaster-file.ts';
import { isPostmasterOf } from './process-identity.ts';
import { SERVER_ENVIRONMENT } from './server-user.ts';

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

// Starts and stops the server of a cluster, whatever state an earlier server left behind.

const POLL_MS = 50;
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 60_000;

/** Transient failures: another program took the port, or a server of a killed member is still starting or ending. */
const PORT_TAKEN = /could not bind|Address already in use/;
const OTHER_SERVER = /pre-existing shared memory block|lock file "postmaster.pid" (?:already exists|is empty)/;

/**
 * Connects to the server that runs on `cluster`, or starts one. The caller holds the home's lock.
 * @param signal aborts the wait; a server that this call started is stopped again
 * @throws EmbeddedPostgresError with the end of the server's log if it does not start; the reason of `signal`.
 */
async function ensureServer(
  cluster: Cluster,
  overrides: ServerSettings,
  onNotice: (text: string) => void,
  signal?: AbortSignal,
): Promise<ServerConnection> {
  const found = await connectWhenReady(cluster, onNotice, undefined, signal);
  if (found) return found;
  const paths = clusterPaths(cluster.home);
  const binaries = await runnableBinaries(cluster.user, cluster.copyFolder, findBinaries());
  refuseOtherVersion(paths.data, binaries);
  const giveUpAt = Date.now() + START_TIMEOUT_MS;
  for (let port = keptPort(paths.port) ?? (await freePort()); ; ) {
    replaceStalePostmasterFile(cluster.home);
    const log = openLog(paths.log);
    const command = [postgresPath(binaries), serverArguments(paths.data, port, overrides)] as const;
    const child = await spawnDetached(...command, { ...cluster.user, log: log.descriptor });
    writeFileSync(paths.port, String(port));
    const connected = await connectWhenReady(cluster, onNotice, child, signal).catch(async (error: unknown) => {
      // The server has no members yet: joining needs the lock, which our caller holds.
      if (signal?.aborted) await end(child);
      throw error;
    });
    if (connected) return connected;
    const said = readTail(paths.log, log.start);
    if (Date.now() > giveUpAt || !(PORT_TAKEN.test(said) || OTHER_SERVER.test(said)))
      throw startFailed(paths.log, said);
    if (PORT_TAKEN.test(said)) port = await freePort();
    else await delay(POLL_MS);
  }
}

/** Stops the server of the cluster in `home`, if one runs, and waits for it to end. The caller holds the home's lock. */
async function stopServer(home: string): Promise<void> {
  const server = readPostmaster(home);
  if (!server) return;
  // SIGINT requests a "fast" shutdown: sessions end, and all data is written. Requesting it twice is harmless.
  process.kill(server.pid, 'SIGINT');
  const giveUpAt = Date.now() + STOP_TIMEOUT_MS;
  while (isPostmasterOf(server.pid, clusterPaths(home).data)) {
    if (Date.now() > giveUpAt) {
      throw new EmbeddedPostgresError(
        `The embedded Postgres (process ${server.pid}) has been stopping for a minute and still runs.`,
        `It ends by itself once all data is written. Its log: ${clusterPaths(home).log}`,
      );
    }
    await delay(POLL_MS);
  }
}

/** Stops a server that was just started and may not have written its file yet, and waits until it has ended. */
async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGINT');
  for (const giveUpAt = Date.now() + STOP_TIMEOUT_MS; isRunning(child) && Date.now() < giveUpAt; ) await delay(POLL_MS);
}

interface Runner {
  readonly uid?: number;
  readonly gid?: number;
  readonly log: number;
}

/** Spawns in a new session: the server must survive Ctrl-C and the end of our terminal and process. */
async function spawnDetached(program: string, args: string[], { log, ...user }: Runner): Promise<ChildProcess> {
  const options = { ...user, cwd: '/', env: SERVER_ENVIRONMENT, detached: true };
  try {
    const child = spawn(program, args, { ...options, stdio: ['ignore', log, log] });
    await once(child, 'spawn');
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

function refuseOtherVersion(data: string, binaries: Binaries): void {
  const [cluster, ours] = [
    readFileSync(join(data, 'PG_VERSION'), 'utf8').trim(),
    String(Number.parseInt(binaries.version, 10)),
  ];
  if (cluster === ours) return;
  throw new EmbeddedPostgresError(
    `The database in ${data} was created by Postgres ${cluster}, but this jobmirror includes Postgres ${ours}.`,
    `Back it up with the jobmirror version that created it (its command backup), set another data_dir, and restore the backup there with this version.\n${USE_OWN_POSTGRES}`,
  );
}

function startFailed(log: string, said: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'The embedded Postgres did not start.',
    `The end of its log (${log}) says why; a full disk or a folder that it may not read is the usual cause.\n${USE_OWN_POSTGRES}`,
    { detail: said },
  );
}

function keptPort(path: string): number | undefined {
  try {
    return Number(readFileSync(path, 'utf8')) || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}

// The server's log file: opened for writing, kept small, and read after a failed start.

const MAX_BYTES = 5_000_000;
const TAIL_BYTES = 4_000;

/** Opens the log for appending, truncated if it has grown large. `start` is its length in bytes. The caller closes it. */
function openLog(path: string): { readonly descriptor: number; readonly start: number } {
  const descriptor = openSync(path, 'a', 0o600);
  if (fstatSync(descriptor).size > MAX_BYTES) ftruncateSync(descriptor);
  return { descriptor, start: fstatSync(descriptor).size };
}

/** The end of what was written after byte `start`. */
function readTail(path: string, start: number): string {
  const descriptor = openSync(path, 'r');
  try {
    const end = fstatSync(descriptor).size;
    const buffer = Buffer.alloc(Math.min(TAIL_BYTES, Math.max(0, end - start)));
    readSync(descriptor, buffer, 0, buffer.length, end - buffer.length);
    return buffer.toString();
  } finally {
    closeSync(descriptor);
  }
}

// Connects to a cluster's server as soon as it accepts connections, and waits as long as it is alive.

const CONNECT_POLL_MS = 25;
const NOTICE_AFTER_MS = 5_000;
/** After a hard kill, a server first replays its write-ahead log, up to a few gigabytes. */
const WAIT_FOR_MS = 10 * 60_000;
const WRONG_PASSWORD = '28P01';

/** A connection to the database `postgres` of a running server, and the server's port. */
interface ServerConnection {
  readonly client: pg.Client;
  readonly port: number;
}

/**
 * Waits while a server is starting, recovering or stopping. Returns undefined if none runs and `child`, if given, has ended.
 * @param signal aborts the wait
 * @throws EmbeddedPostgresError if the server runs but refuses the connection; the reason of `signal`.
 */
async function connectWhenReady(
  cluster: Cluster,
  onNotice: (text: string) => void,
  child?: ChildProcess,
  signal?: AbortSignal,
): Promise<ServerConnection | undefined> {
  const begin = Date.now();
  let noticed = false;
  let failure: unknown;
  for (; Date.now() - begin < WAIT_FOR_MS; await delay(CONNECT_POLL_MS)) {
    signal?.throwIfAborted();
    const server = readPostmaster(cluster.home);
    if (!server && !(child && isRunning(child))) return undefined;
    if (server?.status === 'ready') {
      const client = new pg.Client({ ...connectionOptions(cluster, server.port), connectionTimeoutMillis: 10_000 });
      // The 'end' event reports a lost connection; without this listener, the error would end the process.
      client.on('error', () => {});
      try {
        await client.connect();
        return { client, port: server.port };
      } catch (error) {
        await client.end().catch(() => {});
        failure = error;
        if ((error as { code?: string }).code === WRONG_PASSWORD) throw refused(cluster.home, failure);
      }
    }
    if (!noticed && Date.now() - begin > NOTICE_AFTER_MS) {
      noticed = true;
      onNotice('Waiting for Postgres; after a crash it first recovers its data.');
    }
  }
  throw refused(cluster.home, failure);
}

const connectionOptions = ({ password }: Cluster, port: number): pg.ClientConfig => ({
  host: '127.0.0.1',
  port,
  user: DATABASE_USER,
  password,
  database: 'postgres',
  keepAlive: true,
});

const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

function refused(home: string, cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The embedded Postgres in ${home} runs, but refuses the connection.`,
    `Its log is ${clusterPaths(home).log}. If its password was changed, write the new one to ${clusterPaths(home).password}.`,
    { detail: (cause as Error | undefined)?.message, cause },
  );
}
