// Connects to a cluster's server as soon as it accepts connections, for as long as it lives.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Cluster } from './cluster.ts';
import { clusterPaths } from './cluster-paths.ts';
import { EmbeddedPostgresError } from './embedded-error.ts';
import { DATABASE_USER } from './initialise.ts';
import { readPostmaster } from './postmaster-file.ts';

const POLL_MS = 25;
const NOTICE_AFTER_MS = 5_000;
/** After a hard kill, a server repeats what its log of changes holds, at most a few gigabytes, before it is ready. */
const RETRY_FOR_MS = 10 * 60_000;
const WRONG_PASSWORD = '28P01';

/** A connection to the database `postgres` of a running server, and the port it leads to. */
export interface Connected {
  readonly client: pg.Client;
  readonly port: number;
}

/**
 * Waits while a server is starting, recovering or stopping. Undefined: none runs (`child`, just started, has ended).
 * @param signal ends the waiting
 * @throws EmbeddedPostgresError where one runs but takes nobody in; the reason of `signal`.
 */
export async function connectWhenReady(
  cluster: Cluster,
  onNotice: (text: string) => void,
  child?: ChildProcess,
  signal?: AbortSignal,
): Promise<Connected | undefined> {
  const begin = Date.now();
  let noticed = false;
  let failure: unknown;
  for (; Date.now() - begin < RETRY_FOR_MS; await delay(POLL_MS)) {
    signal?.throwIfAborted();
    const server = readPostmaster(cluster.home);
    if (!server && !(child && isRunning(child))) return undefined;
    if (server?.status === 'ready') {
      const client = new pg.Client({ ...connectionOptions(cluster, server.port), connectionTimeoutMillis: 10_000 });
      // A lost connection is seen by its end; without a listener, the error would end the process.
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
      onNotice('Waiting for Postgres; after a hard end it first recovers its data.');
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
    `The embedded Postgres in ${home} runs, but does not let us in.`,
    `Its log is ${clusterPaths(home).log}. If its password was changed, write the new one to ${clusterPaths(home).password}.`,
    { detail: (cause as Error | undefined)?.message, cause },
  );
}
