// A Postgres server for a single test or for one file, which may stop, fill or starve it.
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';
import type { ServerSettings } from '../../src/embedded-postgres/initialise.ts';
import { openEmbeddedServer } from '../../src/embedded-postgres/server.ts';
import { openQueueBackend } from '../../src/queue/backend.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { runSql, withDatabase } from '../support/sql.ts';

export interface PrivateServer {
  readonly url: string;
  /** Makes a database with our tables on it, and returns its URL. Migrates only the first one, and copies that. */
  newDatabase(): Promise<string>;
  /** Ends the server at once, like a crash; its owner restarts it. Resolves when it is back. */
  crash(): Promise<void>;
  /** Ends the server like an administrator who does not wait for clients; its owner restarts it. Resolves when it is back. */
  restart(): Promise<void>;
  /** Ends the server; it comes back as a standby, and is promoted like one that follows a lost primary. Resolves then. */
  failOver(): Promise<void>;
  /** Changes settings of all sessions, old and new, except the one that does so; null resets a setting. */
  set(settings: Readonly<Record<string, string | null>>): Promise<void>;
  close(): Promise<void>;
}

export async function openPrivateServer(settings: ServerSettings = {}): Promise<PrivateServer> {
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-laws-'));
  // As root, the unprivileged user of the server must be able to enter the folder.
  await chmod(folder, 0o711);
  const server = await openEmbeddedServer(folder, { settings });
  const url = server.url();
  let copies = 0;
  async function restart(): Promise<void> {
    const pid = await postmasterOf(url);
    process.kill(pid, 'SIGINT');
    await untilGone(pid);
    await untilBack(url);
  }
  return {
    url,
    async newDatabase() {
      if (copies === 0) await makeTemplate(url);
      const name = `copy_${++copies}`;
      await runSql(url, `create database ${name} template ${TEMPLATE}`);
      return withDatabase(url, name);
    },
    async crash() {
      const pid = await postmasterOf(url);
      process.kill(pid, 'SIGQUIT');
      // Until it has ended, it may still accept connections.
      await untilGone(pid);
      await untilBack(url);
    },
    restart,
    async failOver() {
      await runSql(
        url,
        `do $$ begin execute format('copy (select) to %L', current_setting('data_directory') || '/standby.signal'); end $$`,
      );
      await restart();
      await runSql(url, 'select pg_promote()');
    },
    async set(changed) {
      const client = new pg.Client({
        connectionString: url,
        options: '-c default_transaction_read_only=off -c statement_timeout=0',
      });
      await client.connect();
      for (const [name, value] of Object.entries(changed)) {
        await client.query(`alter system ${value === null ? `reset ${name}` : `set ${name} = '${value}'`}`);
      }
      await client.query('select pg_reload_conf()');
      await client.end();
    },
    async close() {
      await server.leave();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const TEMPLATE = 'migrated';

async function makeTemplate(url: string): Promise<void> {
  await runSql(url, `create database ${TEMPLATE}`);
  const databaseUrl = withDatabase(url, TEMPLATE);
  await migrate(databaseUrl);
  const onError = (error: Error): void => {
    throw error;
  };
  await openQueueBackend({ queue: 'database', databaseUrl, installation: 'template', onError });
}

/** Polls, because Postgres offers no event for this. */
async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((go) => setTimeout(go, 50));
  }
}

/** Polls, because Postgres offers no event for this. */
async function untilBack(url: string): Promise<void> {
  while ((await runSql(url, 'select 1 as one').catch(() => [])).length === 0)
    await new Promise((go) => setTimeout(go, 100));
}

/** The server itself is the parent of its checkpointer. */
async function postmasterOf(url: string): Promise<number> {
  const [row] = await runSql<{ pid: number }>(
    url,
    `select pid from pg_stat_activity where backend_type = 'checkpointer'`,
  );
  return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(row?.pid)], { encoding: 'utf8' }));
}

/** Opens connections until the server refuses one. */
export async function takeAllConnections(url: string): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  for (;;) {
    const client = new pg.Client(url);
    client.on('error', () => undefined);
    try {
      await client.connect();
      taken.push(client);
    } catch (error) {
      expect(error).toMatchObject({ code: '53300' });
      return taken;
    }
  }
}
