import { expect, it, vi } from 'vitest';
import { isPassing, openDatabase } from '../../src/store/database.ts';
import { freshDatabase } from '../support/database.ts';

it('an idle connection that is lost is reported without the connection itself', async () => {
  const database = await freshDatabase();
  const errors: Error[] = [];
  const db = openDatabase(database.url, { max: 1, onError: (error) => errors.push(error) });
  const other = openDatabase(database.url, { max: 1 });
  const [row] = await db.query('select pg_backend_pid() as pid');
  await other.query('select pg_terminate_backend($1)', [row?.pid]);
  await vi.waitFor(() => expect(errors).toHaveLength(1), { timeout: 10_000 });
  expect(errors[0]).not.toHaveProperty('client');
  await Promise.all([db.close(), other.close()]);
  await database.drop();
});

it.each([
  ['deallocated', 'deallocate all'],
  ['made for a table as it was', 'alter table thing add column more text'],
])('a prepared statement that was %s fails once, for the moment', async (_what, trouble) => {
  const database = await freshDatabase();
  const db = openDatabase(database.url, { max: 1 });
  await db.query('create table thing (id integer)');
  const statement = `select *, $1::text as what from thing -- ${trouble}`;
  const ask = () => db.prepared.transaction((tx) => tx.query(statement, [trouble]));
  await ask();
  await db.query(trouble);
  expect(isPassing(await ask().catch((error) => error))).toBe(true);
  expect(await ask()).toEqual([]);
  await db.close();
  await database.drop();
});
