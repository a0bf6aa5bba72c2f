// The test databases are separate, and one that is used again is like a new one.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, inject, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { runSql, whenUnused } from './sql.ts';

const nameOf = ({ url }: TestDatabase): string => new URL(url).pathname;

/** Runs on one connection, which is closed afterwards. */
async function onConnection<T>({ url }: TestDatabase, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'jobmirror' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const processOf = async (client: pg.Client): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid as number;

/** Drops a database and provides it again. */
async function again(database: TestDatabase, options = {}): Promise<TestDatabase> {
  await database.drop();
  return createTestDatabase(options);
}

describe('createTestDatabase', () => {
  it('keeps databases apart', async () => {
    const one = await createTestDatabase({ empty: true });
    const two = await createTestDatabase();
    await runSql(one.url, 'create table mark (id int)');
    await expect(runSql(two.url, 'select * from mark')).rejects.toThrow('does not exist');
    expect(await runSql(one.url, 'select * from mark')).toEqual([]);
    await Promise.all([one.drop(), two.drop()]);
  });

  it('provides a database again as if it were new', async () => {
    const one = await createTestDatabase({ accounts: true });
    const accounts = await runSql(one.url, 'select * from sandbox.account order by id');
    const id = `insert into pull (feed, site) values ('acme', 'board') returning id`;
    expect(await runSql(one.url, id)).toEqual([{ id: '1' }]);
    await runSql(one.url, `insert into site_state (site) values ('board'); delete from sandbox.account where id = 1`);
    const two = await again(one, { accounts: true });
    expect(nameOf(two)).toBe(nameOf(one));
    expect(await runSql(two.url, 'select from site_state')).toEqual([]);
    expect(await runSql(two.url, id)).toEqual([{ id: '1' }]);
    expect(await runSql(two.url, 'select * from sandbox.account order by id')).toEqual(accounts);
    expect(await runSql(two.url, 'select stamp = xmin::text as intact from data_stamp')).toEqual([{ intact: true }]);
    await two.drop();
  });

  it('keeps connections, without their locks, settings, temporary tables and names', async () => {
    const one = await createTestDatabase();
    const former = await onConnection(one, async (client) => {
      await client.query(`select pg_advisory_lock(7); create temporary table mark (); listen mark;
        set statement_timeout = '5s'; set session_replication_role = replica`);
      return processOf(client);
    });
    expect(
      await runSql(
        one.url,
        `select from pg_stat_activity
      where datname = current_database() and application_name = 'jobmirror'`,
      ),
    ).toEqual([]);
    const two = await again(one);
    await onConnection(two, async (client) => {
      expect(await processOf(client)).toBe(former);
      const { rows } =
        await client.query(`select to_regclass('mark') as mark, current_setting('statement_timeout') as timeout,
        current_setting('session_replication_role') as role, current_setting('application_name') as name,
        (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
        (select count(*)::int from pg_listening_channels()) as channels`);
      const like = { mark: null, timeout: '0', role: 'origin', name: 'jobmirror', locks: 0, channels: 0 };
      expect(rows).toEqual([like]);
    });
    await two.drop();
  });

  it('keeps a limited number of connections, the newest', async () => {
    const databases = await Promise.all(Array.from({ length: 3 }, () => createTestDatabase()));
    const clients = databases.flatMap(({ url }) =>
      Array.from({ length: 20 }, () => new pg.Client({ connectionString: url })),
    );
    await Promise.all(clients.map((client) => client.connect()));
    const newest = await processOf(clients.at(-1) as pg.Client);
    for (const client of clients) await client.end();
    const names = databases.map((database) => nameOf(database).slice(1));
    await vi.waitFor(
      async () =>
        expect(
          await runSql(
            inject('postgresUrl'),
            `select count(*)::int as kept, coalesce(bool_or(pid = ${newest}), false) as newest from pg_stat_activity
             where datname in (${names.map((name) => `'${name}'`)}) and application_name = 'kept by the tests'`,
          ),
        ).toEqual([{ kept: 40, newest: true }]),
      { timeout: 60_000 },
    );
    await Promise.all(databases.map((database) => database.drop()));
  });

  it('does not hand out a connection that was ended meanwhile', async () => {
    const one = await createTestDatabase();
    const former = await onConnection(one, processOf);
    await runSql(one.url, `select pg_terminate_backend(${former}, 10000)`);
    expect(await onConnection(one, processOf)).not.toBe(former);
    await one.drop();
  });

  it.each([
    'alter table pull add column mark int',
    'alter table change disable trigger user',
    'create function mark() returns int language sql return 1',
    'create schema mark; create table mark.mark ()',
    `do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`,
    `update data_stamp set stamp = 'another'`,
    `insert into site_reference (site, site_job_id, reference, field) select 'board', n::text, repeat(md5(n::text), 40), 'number'
     from generate_series(1, 5000) n`,
  ])('does not provide it again after: %s', async (statement) => {
    const one = await createTestDatabase();
    await runSql(one.url, statement);
    const two = await again(one);
    expect(nameOf(two)).not.toBe(nameOf(one));
    await two.drop();
  });

  it('ends connections that are in use', async () => {
    const one = await createTestDatabase();
    const client = new pg.Client({ connectionString: one.url });
    const ended = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    const two = await again(one);
    await ended;
    expect(nameOf(two)).toBe(nameOf(one));
    await two.drop();
  });

  it('provides its own, whose connections end', async () => {
    const one = await createTestDatabase({ own: true });
    const former = await onConnection(one, processOf);
    await expect.poll(() => runSql(one.url, `select from pg_stat_activity where pid = ${former}`)).toEqual([]);
    const two = await again(one, { own: true });
    expect(nameOf(two)).not.toBe(nameOf(one));
    await two.drop();
  });

  it.each([
    ['a client', async (url: string) => runSql<{ n: number }>(url, UNORDERED)],
    ['a pool', async (url: string) => rowsOfPool(url, UNORDERED)],
  ])('reverses rows of %s that have no order', async (_name, rowsOf) => {
    const one = await createTestDatabase();
    expect(await rowsOf(one.url)).toEqual([{ n: 3 }, { n: 2 }, { n: 1 }]);
    await one.drop();
  });

  it('keeps the order that a statement says', async () => {
    const one = await createTestDatabase();
    expect(await rowsOfPool(one.url, `${UNORDERED} order by n`)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await one.drop();
  });
});

const UNORDERED = 'select n from generate_series(1, 3) n';

async function rowsOfPool(url: string, statement: string): Promise<readonly unknown[]> {
  const pool = new pg.Pool({ connectionString: url });
  try {
    return (await pool.query(statement)).rows;
  } finally {
    await pool.end();
  }
}

it('whenUnused waits for sessions that end after more than the five seconds of Postgres', async () => {
  const database = await createTestDatabase({ empty: true });
  const name = `${nameOf(database).slice(1)}_copy`;
  const server = inject('postgresUrl');
  const copying = () =>
    runSql(server, `create database ${name} template ${nameOf(database).slice(1)} ${inject('fileCopy')}`);
  const copied = await onConnection(database, async () => {
    const copied = whenUnused(copying);
    await pause(7_000);
    return { copied };
  });
  await copied.copied;
  await runSql(server, `drop database ${name}`);
  await database.drop();
});
