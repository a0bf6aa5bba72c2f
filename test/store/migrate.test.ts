// Migration: once, beside running processes, and never of a database of a newer version or of one too old.
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { restoreBackup } from '../../src/store/backup/restore-backup.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { migrate, readMigrations } from '../../src/store/postgres/migrate.ts';
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
  expect(names[0]).toBe('0100_schema.sql');
  expect(await db.query('select name from migration')).toEqual(names.map((name) => ({ name })));
  // With lz4 if the server has it, whatever its default is.
  const fields = JSON.stringify({ description: `<p>${'work – '.repeat(5_000)}</p>` });
  await db.query(`insert into document (feed, key, fields) values ('acme', 'a', $1)`, [fields]);
  const [stored] = await db.query<{ how: string; best: string }>(
    `select pg_column_compression(fields) as how, case when 'lz4' = any(enumvals) then 'lz4' else 'pglz' end as best
     from document, pg_settings where name = 'default_toast_compression'`,
  );
  expect(stored?.how).toBe(stored?.best);
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

it('refuses a database of a development or newer version and says what to do', async () => {
  await open();
  await db.query('create table migration (name text primary key, applied_at timestamptz not null default now())');
  for (const [name, message] of [
    ['0001_books.sql', /made by a development version.*mappings export.*mappings import/s],
    ['0086_recovered.sql', /tables are too old .*0086_recovered.sql.*first upgrade .*0091_entry_circumstances.sql/],
    ['0900_later.sql', /migrations that this version does not know \(0900_later.sql\): update jobmirror/],
  ] as const) {
    await db.query('delete from migration');
    await db.query('insert into migration (name) values ($1)', [name]);
    await expect(migrate(database.url)).rejects.toThrow(message);
  }
});

it.each(['migration', 'request'])(
  "refuses another application's table %s, and restores nothing over it",
  async (name) => {
    await open();
    await db.query(`create table ${name} as select 7 as theirs`);
    const refusal = `it has tables of another application (${name})`;
    await expect(migrate(database.url)).rejects.toThrow(refusal);
    const how = { replace: true, actor: 'tester', signal: new AbortController().signal };
    await expect(restoreBackup(db, 'none.backup', how)).rejects.toThrow(refusal);
    expect(await db.query(`select theirs from ${name}`)).toEqual([{ theirs: 7 }]);
    // In another schema they are nobody's concern.
    await db.query(
      `create schema ours; alter database ${new URL(database.url).pathname.slice(1)} set search_path = ours, public`,
    );
    await migrate(database.url);
    expect(await db.query(`select theirs from public.${name}`)).toEqual([{ theirs: 7 }]);
  },
);
