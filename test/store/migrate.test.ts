// Databases of earlier versions, with rows in them, come to the newest schema with all that they hold.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type TestDatabase, createTestDatabase } from '../support/database.ts';

/** What there was before fields became text. */
const EARLIER = [
  '0001_books.sql',
  '0002_unanswered.sql',
  '0010_posting_note.sql',
  '0020_pull_accounts.sql',
  '0030_site_address.sql',
  '0040_absent_changes.sql',
];

let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  database = await createTestDatabase({ empty: true });
  db = openDatabase(database.url, { max: 2 });
  await db.query('create table migration (name text primary key, applied_at timestamptz not null default now())');
  for (const name of EARLIER) {
    await db.query(await readFile(join(packageRoot, 'src', 'store', 'migrations', name), 'utf8'));
    await db.query('insert into migration (name) values ($1)', [name]);
  }
});
afterEach(async () => {
  await db.close();
  await database.drop();
});

it('keeps the fields of changes and documents, short and long, and stores them no slower than new ones', async () => {
  const fields = { title: 'Nurse "RN" – \\ 𝄞', description: `<p>\n${'work – '.repeat(5_000)}</p>`, empty: '' };
  const json = JSON.stringify(fields);
  await db.query(`insert into document (feed, key, fields) values ('acme', 'a', $1), ('acme', 'b', '{}')`, [json]);
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, state, attempt_token, sent_fields) values
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

it('gives each key record hashes of its own, and leaves those that are', async () => {
  const hash = (text: string) => `decode(md5('${text}'), 'hex')`;
  await db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values
       ('acme', 'old a', 'board', '1', ${hash('a')}, ''), ('acme', 'new a', 'board', '2', ${hash('a')}, ''),
       ('acme', 'b', 'board', '3', ${hash('b')}, ''), ('acme', 'c', 'board', '4', ${hash('c')}, ''),
       ('globex', 'b', 'board', '5', ${hash('b')}, '')`,
  );
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, state, record_hash, attempt_token, sent_record_hash) values
       ('acme', 'b', 'board', 'present', 'update', '{}', 'rejected', ${hash('b')}, null, null),
       ('acme', 'old c', 'board', 'present', 'create', '{}', 'rejected', ${hash('c')}, null, null),
       ('acme', 'd', 'board', 'present', 'create', '{}', 'sending', ${hash('d')}, gen_random_uuid(), ${hash('a')}),
       ('acme', 'gone', 'board', 'absent', 'delete', null, 'held', null, null, null)`,
  );
  await migrate(database.url);
  const shared = await db.query(
    `select feed, array_agg(distinct key) as keys
     from (select feed, key, record_hash as hash from mapping
           union all select feed, key, h from change, unnest(array[record_hash, sent_record_hash]) h) noted
     where hash is not null group by feed, hash having count(distinct key) > 1`,
  );
  expect(shared).toEqual([]);
  const kept = await db.query(
    `select feed, key from mapping where record_hash = ${hash('b')} union all
     select feed, key from change where record_hash in (${hash('b')}, ${hash('d')}) order by feed, key`,
  );
  expect(kept.map(({ feed, key }) => `${feed} ${key}`)).toEqual(['acme b', 'acme b', 'acme d', 'globex b']);
});
