// Migration: a database of an earlier version gets the schema of a new one. One of an unsupported earlier version, or of a newer
// one, is refused with instructions.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { migrate, readMigrations } from '../../src/store/postgres/migrate.ts';
import { listPulls } from '../../src/store/pull/pull-row.ts';
import { readSiteState } from '../../src/store/site/site-state.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { firstOf } from '../support/extent.ts';

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
  const names = [...(await readMigrations()).keys()];
  expect(names[0]).toBe('0001_schema.sql');
  expect(await db.query('select name from migration')).toEqual(names.map((name) => ({ name })));
  // Compressed as the schema specifies or not at all, never with the server's default.
  const fields = JSON.stringify({ description: `<p>${'work – '.repeat(5_000)}</p>` });
  await db.query(`insert into document (feed, key, fields) values ('acme', 'a', $1)`, [fields]);
  const [stored] = await db.query('select pg_column_compression(fields) as how from document');
  expect([null, 'lz4']).toContain(stored?.how);
});

it('waits for running processes without a deadlock, whichever tables they use first', async () => {
  await migrate(database.url);
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-migrations-'));
  await cp(join(packageRoot, 'src', 'store', 'migrations'), folder, { recursive: true });
  await writeFile(
    join(folder, '9999_next.sql'),
    'alter table change add column next integer; alter table mapping add column next integer;',
  );
  const running = await db.session();
  await running.query('begin');
  await running.query('lock table mapping in row exclusive mode');
  const migrated = migrate(database.url, folder);
  const waiting = `select from pg_locks where not granted and relation = 'mapping'::regclass`;
  await expect.poll(async () => (await db.query(waiting)).length, { timeout: 10_000 }).toBe(1);
  await running.query('lock table change in row exclusive mode');
  await running.query('commit');
  await migrated;
  expect(await db.query('select next from change union all select next from mapping')).toEqual([]);
  await running.end();
  await rm(folder, { recursive: true });
});

it('keeps the texts of a database from before messages had actions', async () => {
  await applyOnly('0001_schema.sql');
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

// Some development versions had a first migration that already created feed_state as the third one leaves it.
const EDITED_FIRST = `alter table feed_state drop column etag, drop column last_modified, drop column validated_address,
  drop column fingerprint, add column source_version text`;

it.each(
  firstOf(
    [
      {
        made: 'when feeds had validators',
        earlier: ['0001_schema.sql'],
        validators: { etag: '"one"', last_modified: 'Mon, 23 Nov 2026 07:00:00 GMT', fingerprint: 'f' },
        version: null,
      },
      {
        made: 'with the edited first migration',
        earlier: ['0001_schema.sql'],
        edit: EDITED_FIRST,
        validators: { source_version: 'digest "one"' },
        version: 'digest "one"',
      },
      {
        made: 'with the edited first migration and the second one',
        earlier: ['0001_schema.sql', '0002_messages.sql'],
        edit: EDITED_FIRST,
        validators: { source_version: 'digest "one"' },
        version: 'digest "one"',
      },
    ],
    1,
  ),
)('gives a database made $made the schema of a new one, and keeps its data', async ({ earlier, edit, ...made }) => {
  await applyOnly(...earlier);
  if (edit !== undefined) await db.query(edit);
  const names = Object.keys(made.validators);
  await db.query(
    `insert into feed_state (feed, site, key_rule, ${names.join(', ')})
     values ('acme', 'board', 'rule', ${names.map((_, at) => `$${at + 1}`).join(', ')})`,
    Object.values(made.validators),
  );
  await db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values ('acme', 'a', 'board', '7', '', '')`,
  );
  await migrate(database.url);
  expect(await db.query('select feed, site, key_rule, source_version from feed_state')).toEqual([
    { feed: 'acme', site: 'board', key_rule: 'rule', source_version: made.version },
  ]);
  expect(await db.query('select feed, key, site_job_id from mapping')).toEqual([
    { feed: 'acme', key: 'a', site_job_id: '7' },
  ]);
  expect(await schemaOf(db)).toEqual(await newSchema());
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

/** Gives the database the schema of a version that had only these migrations. */
async function applyOnly(...names: string[]): Promise<void> {
  await db.query('create table migration (name text primary key, applied_at timestamptz not null default now())');
  for (const name of names) {
    await db.query(await readFile(join(packageRoot, 'src/store/migrations', name), 'utf8'));
    await db.query('insert into migration (name) values ($1)', [name]);
  }
}

/** Columns (in any order), indexes and constraints of all tables. */
async function schemaOf(of: Database): Promise<unknown> {
  return {
    columns: await of.query(
      `select table_name, column_name, data_type, is_nullable, column_default, is_identity
       from information_schema.columns where table_schema = 'public' order by table_name, column_name`,
    ),
    indexes: await of.query(`select indexdef from pg_indexes where schemaname = 'public' order by indexdef`),
    constraints: await of.query(
      `select conrelid::regclass::text as of, conname, pg_get_constraintdef(oid) as rule from pg_constraint
       where connamespace = 'public'::regnamespace order by 1, 2`,
    ),
  };
}

async function newSchema(): Promise<unknown> {
  const fresh = await createTestDatabase({ empty: true });
  const opened = openDatabase(fresh.url, { max: 1 });
  try {
    await migrate(fresh.url);
    return await schemaOf(opened);
  } finally {
    await opened.close();
    await fresh.drop();
  }
}
