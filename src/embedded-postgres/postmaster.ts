// Starts and stops the server of a cluster, whatever state an earlier server left behind.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Binaries, findBinaries, postgresPath, runnableBinaries } from './binaries.ts';
import type { Cluster } from './cluster.ts';
import { clusterPaths } from './cluster-paths.ts';
import { connectWhenReady, isRunning, type ServerConnection } from './connect.ts';
import { EmbeddedPostgresError, USE_OWN_POSTGRES } from './embedded-error.ts';
import { type ServerSettings, serverArguments } from './initialise.ts';
import { disarmStaleFile, readPostmaster } from './postmaster-file.ts';
import { isPostmasterOf } from './process-identity.ts';
import { SERVER_ENVIRONMENT } from './server-user.ts';

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
export async function ensureServer(
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
    disarmStaleFile(cluster.home);
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
export async function stopServer(home: string): Promise<void> {
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
