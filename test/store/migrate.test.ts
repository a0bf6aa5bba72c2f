// Migration: a database of an unsupported earlier version, or of a newer one, is refused with instructions.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  database = await createTestDatabase({ empty: true });
  db = openDatabase(database.url, { max: 2 });
});
afterEach(async () => {
  await db.close();
  await database.drop();
});

it('migrates an empty database once, even with several processes at a time', async () => {
  await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)]);
  await migrate(database.url);
  expect(await db.query('select name from migration')).toEqual([{ name: '0001_schema.sql' }]);
  // Compressed as the schema specifies or not at all, never with the server's default.
  const fields = JSON.stringify({ description: `<p>${'work – '.repeat(5_000)}</p>` });
  await db.query(`insert into document (feed, key, fields) values ('acme', 'a', $1)`, [fields]);
  const [stored] = await db.query('select pg_column_compression(fields) as how from document');
  expect([null, 'lz4']).toContain(stored?.how);
});

it.each([
  ['a development version', '0001_books.sql', /made by a development version.*mappings export.*mappings import/s],
  [
    'a newer version',
    '0900_later.sql',
    /migrations that this version does not know \(0900_later.sql\): update jobmirror/,
  ],
])('refuses a database of %s and says what to do', async (_, name, message) => {
  await db.query('create table migration (name text primary key, applied_at timestamptz not null default now())');
  await db.query('insert into migration (name) values ($1)', [name]);
  await expect(migrate(database.url)).rejects.toThrow(message);
});
