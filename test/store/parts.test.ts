// Requests and failed attempts are in parts by time: new rows find theirs, or are recorded without one, and old parts are dropped whole.
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { lockKey } from '../../src/store/locks/advisory-locks.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { addParts, PARTED_TABLES, renewParts } from '../../src/store/status/parts.ts';
import { forgetOldRows } from '../../src/store/status/retention.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const KEPT = 5;
const DAYS = { requests: KEPT, failures: KEPT, audit: KEPT, pulls: KEPT, undo: KEPT };

let database: TestDatabase;
let db: Database;
async function open(options: { readonly empty?: true } = {}): Promise<void> {
  database = await createTestDatabase({ ...options, own: true });
  db = openDatabase(database.url, { max: 4 });
  if (options.empty) return;
  // The template has parts already.
  for (const table of PARTED_TABLES)
    for (const name of await parts(table)) if (name !== `${table}_default`) await db.query(`drop table ${name}`);
}
afterEach(async () => {
  await db.close();
  await database.drop();
});

/** The start of a day in UTC, so many days from today. */
const day = async (from: number): Promise<Date> =>
  (
    await db.query<{ at: Date }>(
      `select (date_trunc('day', now() at time zone 'UTC') + make_interval(days => $1)) at time zone 'UTC' as at`,
      [from],
    )
  )[0]?.at as Date;

const nameOf = async (from: number): Promise<string> =>
  `request_${(await day(from)).toISOString().slice(0, 10).replaceAll('-', '')}`;

/** A request in the middle of that day; the part that has it. */
async function request(from: number, key = `day ${from}`): Promise<string> {
  const at = new Date((await day(from)).getTime() + 12 * 3_600_000);
  const [row] = await db.query<{ part: string }>(
    `insert into request (feed, key, at, operation, outcome, duration_ms) values ('acme', $1, $2, 'create', 'created', 1)
     returning tableoid::regclass::text as part`,
    [key, at],
  );
  return row?.part ?? '';
}

/** A part as it was made on that day. */
async function partOf(from: number): Promise<string> {
  const name = await nameOf(from);
  await db.query(`create table ${name} (like request_default including all excluding identity)`);
  await db.query(
    `alter table request attach partition ${name} for values from ('${(await day(from)).toISOString()}') to ('${(await day(from + 1)).toISOString()}')`,
  );
  return name;
}

const parts = async (table = 'request') =>
  (
    await db.query<{ name: string }>(
      `select relname::text as name from pg_inherits join pg_class on oid = inhrelid where inhparent = $1::regclass order by 1`,
      [table],
    )
  ).map(({ name }) => name);

const keys = async () => (await db.query<{ key: string }>('select key from request order by id')).map(({ key }) => key);

it('has parts of a tenth of the time that rows are kept, for the next two days, and no more of them later', async () => {
  await open();
  expect([await addParts(db, 'request', KEPT), await addParts(db, 'failure', 90)]).toEqual([true, true]);
  expect(await parts()).toEqual([await nameOf(0), await nameOf(1), await nameOf(2), 'request_default']);
  // Nine days.
  expect(await parts('failure')).toHaveLength(2);
  expect([await request(0), await request(2), await request(3)]).toEqual([
    await nameOf(0),
    await nameOf(2),
    'request_default',
  ]);
  expect([await addParts(db, 'request', KEPT), await addParts(db, 'failure', 90)]).toEqual([false, false]);
});

it('drops old parts whole, and deletes no row of a younger one', async () => {
  await open();
  const [old, border] = [await partOf(-KEPT - 1), await partOf(-KEPT)];
  expect(await request(-KEPT - 1)).toBe(old);
  for (const at of [-KEPT, -1]) await request(at);
  // Nothing deletes the rows of a part one by one.
  await db.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'deleted %', old.key; end $$`,
  );
  await db.query('create trigger refuse before delete on request for each row execute function refuse()');
  const [relation] = await db.query<{ oid: number }>(`select $1::regclass::oid as oid`, [old]);
  await forgetOldRows(db, DAYS, new AbortController().signal);
  expect(await db.query('select from pg_class where oid = $1', [relation?.oid])).toEqual([]);
  expect(await parts()).toEqual([border, await nameOf(0), await nameOf(1), await nameOf(2), 'request_default']);
  expect(await keys()).toEqual([`day -${KEPT}`, 'day -1']);
});

it('records rows that have no part at once, deletes them when they are old, and makes parts from the next day on', async () => {
  await open();
  for (const at of [-KEPT - 2, -1, 0]) expect(await request(at)).toBe('request_default');
  await forgetOldRows(db, DAYS, new AbortController().signal);
  expect(await keys()).toEqual(['day -1', 'day 0']);
  expect(await parts()).toEqual([await nameOf(1), await nameOf(2), 'request_default']);
  expect(await request(0, 'later')).toBe('request_default');
});

it('makes the missing parts between others', async () => {
  await open();
  const later = await partOf(1);
  await addParts(db, 'request', 100);
  const made = await parts();
  expect(made).toEqual([await nameOf(0), later, await nameOf(2), 'request_default']);
  expect(await request(11)).toBe(await nameOf(2));
});

it('leaves parts to another process that makes them, and makes each once, however many do so at a time', async () => {
  await open();
  const other = await db.session();
  await other.query('begin');
  await other.query('select pg_advisory_xact_lock($1)', [lockKey('parts', 'request')]);
  expect([await addParts(db, 'request', KEPT), await parts()]).toEqual([false, ['request_default']]);
  await other.query('commit');
  await other.end();
  const made = await Promise.all([1, 2, 3, 4].map(() => addParts(db, 'request', KEPT)));
  expect(made.filter(Boolean)).toHaveLength(1);
  expect(await parts()).toHaveLength(4);
});

it('leaves parts for later while somebody reads all of them, and nobody who sends waits', async () => {
  await open();
  const old = await partOf(-KEPT - 1);
  const reader = await db.session();
  await reader.query('begin');
  await reader.query('select from request');
  expect(await renewParts(db, 'request', KEPT)).toEqual({ byRow: ['request_default'], failed: [] });
  expect(await parts()).toEqual([old, 'request_default']);
  expect(await request(0)).toBe('request_default');
  await reader.query('commit');
  await reader.end();
  expect(await renewParts(db, 'request', KEPT)).toEqual({ byRow: ['request_default'], failed: [] });
  expect(await parts()).toEqual([await nameOf(1), await nameOf(2), 'request_default']);
});

it('deletes the rows of an old part that somebody has a view of, and everything else that is old', async () => {
  await open();
  const old = await partOf(-KEPT - 1);
  await request(-KEPT - 1);
  await db.query(`create view reported as select key from ${old}`);
  await db.query(
    `insert into web_request (who, key, request, claimed_at) select 'anna', 'k', 'd', now() - interval '2 days'`,
  );
  await forgetOldRows(db, DAYS, new AbortController().signal);
  expect(await keys()).toEqual([]);
  expect(await parts()).toContain(old);
  expect(await db.query('select from web_request')).toEqual([]);
});

it('keeps the permissions of others, and a view of an empty table', async () => {
  await open({ empty: true });
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-migrations-'));
  const all = join(packageRoot, 'src', 'store', 'migrations');
  for (const name of await readdir(all)) if (name < '0112') await cp(join(all, name), join(folder, name));
  await migrate(database.url, folder);
  await rm(folder, { recursive: true });
  await db.query('grant select on request to public');
  await db.query('create view reported as select key from request');
  await migrate(database.url);
  expect(await db.query(`select has_table_privilege('public', 'request', 'select') as may`)).toEqual([{ may: true }]);
  expect(await request(0)).toBe('request_former');
});

it('keeps what an open entry says, however old its attempts are', async () => {
  await open();
  await db.query(
    `insert into failure (feed, key, at, operation, kind) values ('acme', 'odd', now() - interval '90 days', 'create', 'rejected')`,
  );
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, state, reason, since)
     values ('acme', 'odd', 'board', 'present', 'create', '{"title": "Nurse"}', 'rejected', '{"message": "no state"}', now() - interval '90 days')`,
  );
  await forgetOldRows(db, DAYS, new AbortController().signal);
  expect(await db.query('select from failure')).toEqual([]);
  expect(await db.query('select key, message from review_entry')).toEqual([{ key: 'odd', message: 'no state' }]);
});

it('takes the rows of a former version over as one part, and goes on with their numbers', async () => {
  await open({ empty: true });
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-migrations-'));
  const all = join(packageRoot, 'src', 'store', 'migrations');
  for (const name of await readdir(all)) if (name < '0112') await cp(join(all, name), join(folder, name));
  await migrate(database.url, folder);
  await rm(folder, { recursive: true });
  await db.query(
    `insert into request (feed, key, at, operation, outcome, duration_ms)
     select 'acme', 'day -' || d, now() - make_interval(days => d), 'create', 'created', 1 from unnest(array[20, 1]) d`,
  );
  const before = await db.query('select * from request order by id');
  const [relation] = await db.query<{ oid: number }>(`select 'request'::regclass::oid as oid`);
  await migrate(database.url);
  expect(await db.query('select * from request order by id')).toEqual(before);
  expect(await db.query(`select from request_former where key = 'day -1'`)).toHaveLength(1);
  // It is the same table: nothing was copied.
  expect(await db.query(`select 'request_former'::regclass::oid as oid`)).toEqual([relation]);
  expect(await parts('failure')).toEqual(['failure_default']);
  await request(0, 'new');
  expect(await db.query(`select id from request where key = 'new'`)).toEqual([{ id: 3 }]);
  // Its old rows are deleted one by one, until all of them are old.
  await forgetOldRows(db, DAYS, new AbortController().signal);
  expect(await keys()).toEqual(['day -1', 'new']);
  expect(await parts()).toEqual([await nameOf(1), await nameOf(2), 'request_default', 'request_former']);
});

it('keeps rows when the setting grows, and deletes those beyond it when it shrinks', async () => {
  await open();
  await addParts(db, 'request', 100);
  const wide = await nameOf(0);
  await db.query(`alter table request detach partition ${wide}`);
  await db.query(
    `alter table request attach partition ${wide} for values from ('${(await day(-9)).toISOString()}') to ('${(await day(1)).toISOString()}')`,
  );
  for (const at of [-8, -2]) expect(await request(at)).toBe(wide);
  await forgetOldRows(db, { ...DAYS, requests: 100 }, new AbortController().signal);
  expect(await keys()).toEqual(['day -8', 'day -2']);
  await forgetOldRows(db, DAYS, new AbortController().signal);
  expect(await keys()).toEqual(['day -2']);
});

it('deletes old rows one by one although no part can be made, and says why', async () => {
  await open();
  await request(-KEPT - 2);
  await request(-1);
  // What somebody has left there.
  await db.query(`create table ${await nameOf(0)} ()`);
  await expect(forgetOldRows(db, DAYS, new AbortController().signal)).rejects.toThrow('already exists');
  expect(await keys()).toEqual(['day -1']);
});
