import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { type Database, openDatabase, type Transaction } from '../../src/store/postgres/database.ts';
import { isPassing } from '../../src/store/postgres/transient-error.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { listen } from '../support/listen.ts';

let database: TestDatabase;
let cleaning: Database;
beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
  cleaning = openDatabase(database.url, { max: 1 });
});
afterEach(() => cleaning.query('drop table if exists thing'));
afterAll(async () => {
  await cleaning.close();
  await database.drop();
});

// Must run first, as the driver warns only once per process.
it('concurrent statements on one session reach the driver one by one', async () => {
  const db = openDatabase(database.url);
  const warnings = vi.spyOn(process, 'emitWarning');
  onTestFinished(() => warnings.mockRestore());
  for (const session of [await db.session(), await db.lend()]) {
    const failing = session.query('select 1 / 0').catch((error: Error) => error.message);
    const answers = [1, 2, 3].map((n) => session.query<{ n: number }>('select $1::integer as n', [n]));
    expect(await failing).toBe('division by zero');
    expect((await Promise.all(answers)).flat()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await session.end();
  }
  expect(warnings.mock.calls.filter(([text]) => String(text).includes('client.query()'))).toEqual([]);
  await db.close();
});

it.each([
  ['synchronous_commit', 'off', 'local'],
  ['synchronous_commit', 'remote_write', 'remote_write'],
  ['datestyle', 'German', 'ISO, DMY'],
  ['default_transaction_isolation', 'serializable', 'read committed'],
])('of a database with %s = %s, %s is used', async (setting, set, used) => {
  const name = new URL(database.url).pathname.slice(1);
  await cleaning.query(`alter database ${name} set ${setting} = '${set}'`);
  const db = openDatabase(database.url);
  const session = await db.session();
  const lent = await db.lend();
  for (const each of [db, db.prepared, session, lent])
    expect(await each.query('select current_setting($1) as used', [setting])).toEqual([{ used }]);
  await session.end();
  lent.giveBack();
  await db.close();
  await cleaning.query(`alter database ${name} reset ${setting}`);
});

it('the error of a lost idle connection does not contain the connection', async () => {
  const errors: Error[] = [];
  const db = openDatabase(database.url, { max: 1, onError: (error) => errors.push(error) });
  const other = openDatabase(database.url, { max: 1 });
  const [row] = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
  await other.query('select pg_terminate_backend($1)', [row?.pid]);
  await expect.poll(() => errors).toHaveLength(1);
  expect(errors[0]).not.toHaveProperty('client');
  await Promise.all([db.close(), other.close()]);
});

it.each([
  ['deallocated', 'deallocate all'],
  ['planned before the table changed', 'alter table thing add column more text'],
])('a prepared statement that was %s fails once, with a transient error', async (_what, trouble) => {
  const db = openDatabase(database.url, { max: 1 });
  await db.query('create table thing (id integer)');
  const statement = `select *, $1::text as what from thing -- ${trouble}`;
  const ask = () => db.prepared.transaction((tx) => tx.query(statement, [trouble]));
  await ask();
  await db.query(trouble);
  expect(isPassing(await ask().catch((error) => error))).toBe(true);
  expect(await ask()).toEqual([]);
  await db.close();
});

it('pipelined statements of a transaction run in the order in which they were sent', async () => {
  const db = openDatabase(database.url);
  await db.query('create table thing (id integer, said text)');
  const sum = await db.transaction(async (tx) => {
    const [, , [row]] = await Promise.all([
      tx.query(`insert into thing values (1, 'one'), (2, 'two')`),
      tx.query('delete from thing where id = 1'),
      tx.query<{ said: string }>(`select string_agg(said, ',') as said from thing`),
    ]);
    tx.leave(tx.query(`update thing set said = 'left'`));
    return row?.said;
  });
  expect(sum).toBe('two');
  expect(await db.query('select said from thing')).toEqual([{ said: 'left' }]);
  await db.close();
});

const failing = 'select 1 / 0';

it.each([
  ['that is awaited', (tx: Transaction) => tx.query(failing), 'division by zero'],
  [
    'sent beside others',
    (tx: Transaction) => Promise.all([tx.query('select 1'), tx.query(failing)]),
    'division by zero',
  ],
  ['that was handed to the commit', (tx: Transaction) => tx.leave(tx.query(failing)), 'division by zero'],
  [
    'with an ignored error',
    (tx: Transaction) => tx.query(failing).catch(() => undefined),
    'ROLLBACK instead of COMMIT',
  ],
])(
  'a failing statement %s rolls its transaction back, and the connection stays usable',
  async (_which, fail, message) => {
    const db = openDatabase(database.url, { max: 1 });
    await db.query('create table thing (id integer)');
    for (const opensWithLocks of [false, true]) {
      const work = async (tx: Transaction) => {
        await tx.query('select pg_advisory_xact_lock_shared(1)');
        await tx.query('insert into thing values (1)');
        await fail(tx);
      };
      await expect(db.transaction(work, { opensWithLocks })).rejects.toThrow(message);
      expect(await db.query('select * from thing')).toEqual([]);
    }
    await db.close();
  },
);

/** Delays a promise by `depth` microtasks: results of pipelined statements may arrive together. */
const deeply = async <T>(depth: number, promise: Promise<T>): Promise<T> =>
  depth === 0 ? promise : deeply(depth - 1, promise).then((value) => value);

it.each([0, 1, 2, 4, 8, 16, 32])('statements after a rollback are refused, even %i microtasks later', async (depth) => {
  const db = openDatabase(database.url, { max: 1 });
  await db.query('create table thing (id integer)');
  const later: Promise<unknown>[] = [];
  const inTwoSteps = async (tx: Transaction) => {
    await deeply(depth, tx.query('insert into thing values (1)'));
    await tx.query('insert into thing values (2)');
  };
  const work = (tx: Transaction) => {
    later.push(inTwoSteps(tx));
    return Promise.all([...later, tx.query(failing), tx.query('select 1')]);
  };
  await expect(db.transaction(work)).rejects.toThrow('division by zero');
  await Promise.allSettled(later);
  expect(await db.query('select * from thing')).toEqual([]);
  await db.close();
});

it.each([0, 1, 2, 4, 8])(
  'a transaction fails with its first error, even if it arrives %i microtasks late',
  async (depth) => {
    const db = openDatabase(database.url, { max: 1 });
    const work = (tx: Transaction) => Promise.all([deeply(depth, tx.query(failing)), tx.query('select 1')]);
    await expect(db.transaction(work)).rejects.toThrow('division by zero');
    await db.close();
  },
);

it('a connection lost during a transaction fails all of its statements, and the next connection works', async () => {
  const db = openDatabase(database.url, { max: 1 });
  await db.query('create table thing (id integer)');
  const work = (tx: Transaction) =>
    Promise.all([
      tx.query('insert into thing values (1)'),
      tx.query('select pg_terminate_backend(pg_backend_pid())'),
      tx.query('insert into thing values (2)'),
    ]);
  const error = await db.transaction(work).catch((thrown) => thrown);
  expect(isPassing(error)).toBe(true);
  expect(await db.query('select * from thing')).toEqual([]);
  await db.close();
});

it('a connection that the server ends in the packet that opens it fails its user, not the process', async () => {
  const message = (type: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const ended = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () =>
      socket.end(Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I')), message('E', ended)])),
    );
  });
  const port = await listen(server);
  const db = openDatabase(`postgres://one@127.0.0.1:${port}/one`);
  const lent = db.lend().then((session) => session.query('select 1'));
  const failures = await Promise.allSettled([db.query('select 1'), db.transaction((tx) => tx.query('select 1')), lent]);
  expect(failures.map((each) => each.status === 'rejected' && isPassing(each.reason))).toEqual([true, true, true]);
  await db.close();
  server.close();
});
