// Migration: a database of an earlier version gets the schema of a new one. One of an unsupported earlier version, or of a newer
// one, is refused with instructions.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { migrate, readMigrations } from '../../src/store/postgres/migrate.ts';
import { listPulls } from '../../src/store/pull/pull-row.ts';
import { readSiteState } from '../../src/store/site/site-state.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;
async function open(options: Parameters<typeof createTestDatabase>[0] = { empty: true }): Promise<void> {
  database = await createTestDatabase(options);
  db = openDatabase(database.url, { max: 2 });
}
afterEach(async () => {
  await db.close();
  await database.drop();
});

it('migrates an empty database once, even with several processes at a time', async () => {
  await open();
  await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)]);
  await migrate(database.url);
  const names = [...(await readMigrations()).keys()];
  expect(names[0]).toBe('0001_schema.sql');
  expect(await db.query('select name from migration')).toEqual(names.map((name) => ({ name })));
  // Compressed as the schema specifies or not at all, never with the server's default.
  const fields = JSON.stringify({ description: `<p>${'work – '.repeat(5_000)}</p>` });
  await db.query(`insert into document (feed, key, fields) values ('acme', 'a', $1)`, [fields]);
  const [stored] = await db.query<{ how: string }>('select pg_column_compression(fields) as how from document');
  expect([null, 'lz4']).toContain(stored?.how);
  // A restore drops functions by their names.
  const overloaded = `select proname from pg_proc where pronamespace = 'public'::regnamespace group by 1 having count(*) > 1`;
  expect(await db.query(overloaded)).toEqual([]);
});

it('waits for running processes without a deadlock, whichever tables they use first', async () => {
  await open({ own: true });
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
  const waiting = `select from pg_locks where not granted and relation = 'mapping'::regclass
    and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(async () => (await db.query(waiting)).length).toBe(1);
  await running.query('lock table change in row exclusive mode');
  await running.query('commit');
  await migrated;
  expect(await db.query('select next from change union all select next from mapping')).toEqual([]);
  await running.end();
  await rm(folder, { recursive: true });
});

it('gives a database of the first version the schema of a new one, and keeps its data', async () => {
  await open();
  await applyOnly('0001_schema.sql');
  await db.query(
    `insert into feed_state (feed, site, key_rule, etag, last_modified, fingerprint, site_check_note)
     values ('acme', 'board', 'rule', '"one"', 'Mon, 23 Nov 2026 07:00:00 GMT', 'f', '12 jobs read')`,
  );
  await db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values ('acme', 'a', 'board', '7', '', '')`,
  );
  await db.query(
    `insert into pull (feed, site, message, shortfalls) values ('acme', 'board', 'no "answer"', '{short,cut}'), ('acme', 'board', null, '{}')`,
  );
  await db.query(
    `insert into site_state (site, paused_since, pause_cause, last_message) values ('board', now(), 'it refuses', null)`,
  );
  await migrate(database.url);
  expect(
    await db.query('select feed, site, key_rule, source_version, site_check_note as note from feed_state'),
  ).toEqual([{ feed: 'acme', site: 'board', key_rule: 'rule', source_version: null, note: '12 jobs read' }]);
  expect(await db.query('select feed, key, site_job_id from mapping')).toEqual([
    { feed: 'acme', key: 'a', site_job_id: '7' },
  ]);
  expect(await listPulls(db, feedName('acme'), 2)).toMatchObject([
    { notes: [], shortfalls: [] },
    { notes: ['no "answer"'], shortfalls: ['short', 'cut'] },
  ]);
  expect(await readSiteState(db, siteName('board'))).toMatchObject({
    pauseCause: 'it refuses',
    lastMessage: undefined,
  });
  expect(await schemaOf(db)).toEqual(await newSchema());
});

// Some development versions had a first migration that already created feed_state as the third one leaves it.
const EDITED_FIRST = `alter table feed_state drop column etag, drop column last_modified, drop column validated_address,
  drop column fingerprint, add column source_version text`;

it.each([[['0001_schema.sql']], [['0001_schema.sql', '0002_messages.sql']]])(
  'gives a database with the edited first migration the schema of a new one, and keeps its data: %j',
  { tags: 'slow' },
  async (earlier) => {
    await open();
    await applyOnly(...earlier);
    await db.query(EDITED_FIRST);
    await db.query(
      `insert into feed_state (feed, site, key_rule, source_version) values ('acme', 'board', 'rule', 'digest "one"')`,
    );
    await migrate(database.url);
    expect(await db.query('select feed, site, key_rule, source_version from feed_state')).toEqual([
      { feed: 'acme', site: 'board', key_rule: 'rule', source_version: 'digest "one"' },
    ]);
    expect(await schemaOf(db)).toEqual(await newSchema());
  },
);

it('refuses a database of a development or newer version and says what to do', async () => {
  await open();
  await db.query('create table migration (name text primary key, applied_at timestamptz not null default now())');
  for (const [name, message] of [
    ['0001_books.sql', /made by a development version.*mappings export.*mappings import/s],
    ['0900_later.sql', /migrations that this version does not know \(0900_later.sql\): update jobmirror/],
  ] as const) {
    await db.query('delete from migration');
    await db.query('insert into migration (name) values ($1)', [name]);
    await expect(migrate(database.url)).rejects.toThrow(message);
  }
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

/** That of the template, which was migrated from an empty database. */
async function newSchema(): Promise<unknown> {
  const fresh = await createTestDatabase();
  const opened = openDatabase(fresh.url, { max: 1 });
  try {
    return await schemaOf(opened);
  } finally {
    await opened.close();
    await fresh.drop();
  }
}
