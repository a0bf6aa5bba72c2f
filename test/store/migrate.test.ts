// Migration: a database of an unsupported earlier version, or of a newer one, is refused with instructions.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { listPulls } from '../../src/store/pull/pull-row.ts';
import { readSiteState } from '../../src/store/site/site-state.ts';
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
  expect(await db.query('select name from migration')).toEqual([
    { name: '0001_schema.sql' },
    { name: '0002_messages.sql' },
  ]);
  // Compressed as the schema specifies or not at all, never with the server's default.
  const fields = JSON.stringify({ description: `<p>${'work – '.repeat(5_000)}</p>` });
  await db.query(`insert into document (feed, key, fields) values ('acme', 'a', $1)`, [fields]);
  const [stored] = await db.query('select pg_column_compression(fields) as how from document');
  expect([null, 'lz4']).toContain(stored?.how);
});

it('keeps the texts of a database from before messages had actions', async () => {
  await db.query('create table migration (name text primary key, applied_at timestamptz not null default now())');
  await db.query(await readFile(join(packageRoot, 'src/store/migrations/0001_schema.sql'), 'utf8'));
  await db.query(`insert into migration (name) values ('0001_schema.sql')`);
  await db.query(
    `insert into pull (feed, site, message, shortfalls) values ('acme', 'board', 'no "answer"', '{short,cut}'), ('acme', 'board', null, '{}')`,
  );
  await db.query(
    `insert into site_state (site, paused_since, pause_cause, last_message) values ('board', now(), 'it refuses', null)`,
  );
  await db.query(`insert into feed_state (feed, site, site_check_note) values ('acme', 'board', '12 jobs read')`);
  await migrate(database.url);
  expect(await listPulls(db, feedName('acme'), 2)).toMatchObject([
    { notes: [], shortfalls: [] },
    { notes: ['no "answer"'], shortfalls: ['short', 'cut'] },
  ]);
  expect(await readSiteState(db, siteName('board'))).toMatchObject({
    pauseCause: 'it refuses',
    lastMessage: undefined,
  });
  expect(await db.query('select site_check_note as note from feed_state')).toEqual([{ note: '12 jobs read' }]);
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
