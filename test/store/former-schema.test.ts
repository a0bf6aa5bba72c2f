// A database that the former migrations made is taken over without loss: its tables are those of `0100_schema.sql`.
import { hash } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { applyMigrations, migrate, openMigrations, readMigrations } from '../../src/store/postgres/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { FORMER_MIGRATIONS, makeFormer } from '../support/former-schema.ts';

let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  database = await createTestDatabase({ empty: true });
  db = openDatabase(database.url, { max: 1 });
});
afterEach(async () => {
  await db.close();
  await database.drop();
});

/**
 * Digests of what 0001 to 0091 made on Postgres 18, without the table `ungrouped_entry` and the function `entry_part`. The order of
 * columns does not matter.
 */
const FORMER_CATALOGUE = {
  columns: '34ccd479220145c5',
  storage: '4cc8b9db98bc8325',
  tables: 'ffddc403ef1fac79',
  constraints: '758679a7dd2cf5ee',
  indexes: 'f09121b743fcf002',
  functions: 'b202282185863b29',
  triggers: 'f18cc106ade16018',
  sequences: 'bfb1a6917f070442',
};

/** One row per object: its name and what it is. */
const CATALOGUE = {
  columns: `select table_name || '.' || column_name, concat_ws(' ', data_type, udt_name, collation_name, is_nullable, column_default,
      is_identity, identity_generation, is_generated, generation_expression) from information_schema.columns where table_schema = 'public'`,
  storage: `select attrelid::regclass || '.' || attname, attstorage::text || attcompression::text from pg_attribute
    join pg_class c on c.oid = attrelid
    where relkind = 'r' and relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped`,
  tables: `select relname, array_to_string(reloptions, ' ') from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  constraints: `select conrelid::regclass || ' ' || conname, pg_get_constraintdef(oid) from pg_constraint
    where connamespace = 'public'::regnamespace`,
  indexes: `select indexname, indexdef from pg_indexes where schemaname = 'public'`,
  functions: `select proname, pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace`,
  triggers: `select tgrelid::regclass || ' ' || tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal`,
  sequences: `select sequencename, concat_ws(' ', data_type, start_value, min_value, max_value, increment_by, cycle, cache_size)
    from pg_sequences where schemaname = 'public'`,
} as const;

async function catalogue(of: Database = db): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const [kind, query] of Object.entries(CATALOGUE)) {
    const rows = await of.query<{ name: string; what: string | null }>(
      `select name::text collate "C" as name, what from (${query}) objects (name, what) order by 1`,
    );
    digests[kind] = hash('sha256', JSON.stringify(rows.map(({ name, what }) => [name, what])), 'hex').slice(0, 16);
  }
  return digests;
}

const version = async (): Promise<number> =>
  Number((await db.query<{ version: string }>(`select current_setting('server_version_num') as version`))[0]?.version);

async function makeSchema(): Promise<void> {
  const first = [...(await readMigrations())].slice(0, 1);
  await db.transaction(async (tx) => {
    await openMigrations(tx, new Map());
    await applyMigrations(tx, new Map(first));
  });
}

it('has the schema that the former migrations made', async ({ skip }) => {
  if ((await version()) < 180_000) skip('the digests are those of Postgres 18');
  await makeSchema();
  expect(await catalogue()).toEqual(FORMER_CATALOGUE);
});

/** What all migrations make of an empty database. */
async function wholeCatalogue(): Promise<Record<string, string>> {
  const empty = await createTestDatabase({ empty: true });
  const whole = openDatabase(empty.url, { max: 1 });
  try {
    await migrate(empty.url);
    return await catalogue(whole);
  } finally {
    await whole.close();
    await empty.drop();
  }
}

it('is taken over with its rows', async () => {
  await makeSchema();
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, state, reason)
     select 'acme', 'p' || n, 'board', 'present', 'create', '{"title": "Nurse"}', 'rejected', '{"message": "no"}' from generate_series(1, 3) n`,
  );
  await db.query(
    `insert into record_problem (feed, kind, record_hash, problems, excerpt, first_pull) values ('acme', 'unreadable', '', '[]', '', 1)`,
  );
  const entries = await db.query('select * from review_entry order by id');
  expect(entries).toHaveLength(4);
  await makeFormer(database.url);
  // Two of the entries were not grouped yet.
  await db.query('insert into ungrouped_entry (after_id, last_id) select max(id) - 2, max(id) from review_entry');
  await db.query('delete from review_entry where id > (select after_id from ungrouped_entry)');
  await migrate(database.url);
  expect(await db.query('select * from review_entry order by id')).toEqual(entries);
  expect(await db.query('select name from migration')).toEqual(
    [...(await readMigrations()).keys()].map((name) => ({ name })),
  );
  expect(await catalogue()).toEqual(await wholeCatalogue());
  await migrate(database.url);
});

it('is not taken over with fewer or other migrations than all of the former ones', async () => {
  await makeSchema();
  await makeFormer(database.url);
  for (const change of [
    `delete from migration where name = '${FORMER_MIGRATIONS.at(-1)}'`,
    `insert into migration (name) values ('0087_other.sql')`,
  ]) {
    await db.query(change);
    await expect(migrate(database.url)).rejects.toThrow(/tables are too old for this version.*first upgrade/);
  }
  expect(await db.query('select from ungrouped_entry')).toEqual([]);
});
