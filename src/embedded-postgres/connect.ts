// Connects to a cluster's server as soon as it accepts connections, and waits as long as it is alive.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { EmbeddedPostgresError } from './binaries.ts';
import type { Cluster } from './cluster.ts';
import { clusterPaths } from './cluster-paths.ts';
import { DATABASE_USER } from './initialise.ts';
import { readPostmaster } from './postmaster-file.ts';

const POLL_MS = 25;
const NOTICE_AFTER_MS = 5_000;
/** After a hard kill, a server first replays its write-ahead log, up to a few gigabytes. */
const WAIT_FOR_MS = 10 * 60_000;
const WRONG_PASSWORD = '28P01';

/** A connection to the database `postgres` of a running server, and the server's port. */
export interface ServerConnection {
  readonly client: pg.Client;
  readonly port: number;
}

/**
 * Waits while a server is starting, recovering or stopping. Returns undefined if none runs and `child`, if given, has ended.
 * @param signal aborts the wait
 * @throws EmbeddedPostgresError if the server runs but refuses the connection; the reason of `signal`.
 */
export async function connectWhenReady(
  cluster: Cluster,
  onNotice: (text: string) => void,
  child?: ChildProcess,
  signal?: AbortSignal,
): Promise<ServerConnection | undefined> {
  const begin = Date.now();
  let noticed = false;
  let failure: unknown;
  for (; Date.now() - begin < WAIT_FOR_MS; await delay(POLL_MS)) {
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

export const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

function refused(home: string, cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The embedded Postgres in ${home} runs, but refuses the connection.`,
    `Its log is ${clusterPaths(home).log}. If its password was changed, write the new one to ${clusterPaths(home).password}.`,
    { detail: (cause as Error | undefined)?.message, cause },
  );
}
