// Databases of earlier versions, with rows in them, come to the newest schema with all that they hold.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';

/** What there was before fields became text. */
const EARLIER = [
  '0001_books.sql',
  '0002_unanswered.sql',
  '0010_posting_note.sql',
  '0020_pull_accounts.sql',
  '0030_site_address.sql',
  '0040_absent_changes.sql',
];

let database: FreshDatabase;
let db: Database;
beforeAll(async () => {
  database = await freshDatabase({ empty: true });
  db = openDatabase(database.url, { max: 2 });
  await db.query('create table migration (name text primary key, applied_at timestamptz not null default now())');
  for (const name of EARLIER) {
    await db.query(await readFile(join(packageRoot, 'src', 'store', 'migrations', name), 'utf8'));
    await db.query('insert into migration (name) values ($1)', [name]);
  }
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

it('keeps the fields of changes and documents, short and long, and stores them no slower than new ones', async () => {
  const fields = { title: 'Nurse "RN" – \\ 𝄞', description: `<p>\n${'work – '.repeat(5_000)}</p>`, empty: '' };
  const json = JSON.stringify(fields);
  await db.query(`insert into document (feed, key, fields) values ('acme', 'a', $1), ('acme', 'b', '{}')`, [json]);
  await db.query(
    `insert into change (feed, key, site, wanted, operation, fields, state, attempt_token, sent_fields) values
       ('acme', 'a', 'board', 'present', 'create', $1, 'sending', gen_random_uuid(), $1),
       ('acme', 'b', 'board', 'absent', 'delete', null, 'ready', null, null)`,
    [json],
  );
  await migrate(database.url);
  expect(await db.query('select key, fields from document order by key')).toEqual([
    { key: 'a', fields },
    { key: 'b', fields: {} },
  ]);
  expect(await db.query('select key, fields, sent_fields from change order by key')).toEqual([
    { key: 'a', fields, sent_fields: fields },
    { key: 'b', fields: null, sent_fields: null },
  ]);
  // Compressed as 0001 wants it, or not at all: never by the server's default.
  const stored = await db.query(`select distinct pg_column_compression(fields) as how from document
    union select pg_column_compression(fields) from change union select pg_column_compression(sent_fields) from change`);
  expect([null, 'lz4']).toEqual(expect.arrayContaining(stored.map(({ how }) => how)));
  await migrate(database.url);
});
