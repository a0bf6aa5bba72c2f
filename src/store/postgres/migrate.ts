// Migrates a database to the newest schema: numbered SQL files, each applied once, all in one transaction.
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../config/package-root.ts';
import { pause } from '../../flow/pause.ts';
import { type Database, openDatabase, type Queryable, readColumn, readFlag } from './database.ts';
import { isLockTaken } from './transient-error.ts';
import { onUsableServer } from './usable-server.ts';

const folder = join(packageRoot, 'src', 'store', 'migrations');
const LOCK = 5_206_114_901;
/** First migration of development versions; their databases cannot be migrated to a released schema. */
const DEVELOPMENT_SCHEMA = '0001_books.sql';
const FROM_DEVELOPMENT =
  'this database was made by a development version of jobmirror: write its mappings to a file with the former version ' +
  '(`mappings export`), give this version an empty database, and read them there (`mappings import`)';

/** A migration waits for longer transactions than this only if somebody tries again. */
const TRY_FOR_MS = 10 * 60_000;
const TRY_EVERY_MS = 200;

/**
 * Applies the missing migrations; safe to call from several processes at once, and while older ones run.
 * Throws if the database is of a newer version, or of one too old to be taken over, and UnusableServerError on a server that is of no use.
 */
export async function migrate(databaseUrl: string, migrations = folder): Promise<void> {
  const files = await listMigrations(migrations);
  if (migrations === folder) known ??= files;
  const database = openDatabase(databaseUrl, { max: 1 });
  try {
    // If nothing is missing, reading is enough, which also works on a read-only server.
    if (await onUsableServer(database, (session) => isUpToDate(session, files))) return;
    await applyMissing(database, await readMigrations(migrations, files));
  } finally {
    await database.close();
  }
}

/** As this process began: an installation of a newer version replaces the folder while it runs. */
let known: readonly string[] | undefined;

/** A newer version has migrated the database while this process ran, which does not know what its rows mean now. */
export class NewerSchemaError extends Error {
  constructor(name: string) {
    super(
      `another process has brought the database to the schema of a newer version (${name}): this process ends; start it again with that version`,
    );
  }
}

/** Throws {@link NewerSchemaError}. Within a transaction that uses tables of jobmirror, nobody migrates until it ends. */
export async function refuseNewerSchema(db: Queryable): Promise<void> {
  if (known === undefined) return;
  const [name] = await readColumn<string>(db, 'select name from migration where name <> all($1) order by name desc', [
    known,
  ]);
  if (name !== undefined) throw new NewerSchemaError(name);
}

const listMigrations = async (migrations: string): Promise<string[]> =>
  (await readdir(migrations)).filter((name) => name.endsWith('.sql')).sort();

/** The texts of this version's migrations by name, in their order. */
export async function readMigrations(migrations = folder, files?: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const name of files ?? (await listMigrations(migrations)))
    texts.set(name, await readFile(join(migrations, name), 'utf8'));
  return texts;
}

/** Tries until no running process uses any of the tables. */
async function applyMissing(database: Database, texts: ReadonlyMap<string, string>): Promise<void> {
  const until = performance.now() + TRY_FOR_MS;
  for (let busy: string | undefined; ; ) {
    try {
      return await database.transaction((tx) => applyAtOnce(tx, texts, busy));
    } catch (error) {
      if (!(error instanceof TableInUseError) || performance.now() > until) throw error;
      busy = error.table;
      await pause(TRY_EVERY_MS);
    }
  }
}

async function applyAtOnce(tx: Queryable, texts: ReadonlyMap<string, string>, busy: string | undefined): Promise<void> {
  // The role's timeout is for statements of every day.
  await tx.query('set local statement_timeout = 0');
  const found = await openMigrations(tx, texts);
  const applied = new Set(replaceFormer(found));
  const unknown = [...applied].filter((name) => !texts.has(name));
  if (unknown.includes(DEVELOPMENT_SCHEMA)) throw new Error(FROM_DEVELOPMENT);
  if (unknown.length > 0) {
    const older = explainOlder(unknown);
    if (older !== undefined) throw new Error(`the database can't be migrated: ${older}`);
    throw new Error(
      `the database has migrations that this version does not know (${unknown.join(', ')}): update jobmirror`,
    );
  }
  const tables = [...texts].flatMap(([name, text]) => (applied.has(name) ? tablesOf(text) : []));
  await takeTables(tx, tables, busy);
  if (isFormer(found)) await takeOverFormer(tx);
  await applyMigrations(tx, new Map([...texts].filter(([name]) => !applied.has(name))));
}

/** The schema has tables of ours that no migration of ours has made: another application's, which must neither be filled nor dropped. */
export class ForeignTablesError extends Error {
  constructor(tables: readonly string[]) {
    super(`it has tables of another application (${tables.join(', ')}): give jobmirror a database of its own`);
  }
}

const IN_OWN_SCHEMA = 'c.relnamespace = quote_ident(current_schema())::regnamespace';

/**
 * Creates the table of applied migrations, if it does not exist, and returns their names. Until the transaction ends, nobody else migrates.
 * @param texts this version's migrations
 * @throws {ForeignTablesError}
 */
export async function openMigrations(tx: Queryable, texts: ReadonlyMap<string, string>): Promise<string[]> {
  await tx.query('select pg_advisory_xact_lock($1)', [LOCK]);
  const isForeign = `select exists (select from pg_class c where ${IN_OWN_SCHEMA} and c.relname = 'migration' and not exists (
    select from pg_attribute where attrelid = c.oid and attname = 'name' and not attisdropped)) as known`;
  if (await readFlag(tx, isForeign)) throw new ForeignTablesError(['migration']);
  await tx.query(
    'create table if not exists migration (name text primary key, applied_at timestamptz not null default now())',
  );
  const applied = await readColumn<string>(tx, 'select name from migration order by name');
  if (applied.length > 0) return applied;
  const foreign = await readColumn<string>(
    tx,
    `select relname::text from pg_class c where ${IN_OWN_SCHEMA} and relname = any($1) order by 1`,
    [[...texts.values()].flatMap(tablesOf)],
  );
  if (foreign.length > 0) throw new ForeignTablesError(foreign);
  return applied;
}

/** Applies these migrations, in their order. The table `migration` exists, and nobody else uses the others. */
export async function applyMigrations(tx: Queryable, texts: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, text] of texts) {
    await tx.query(text);
    await tx.query('insert into migration (name) values ($1)', [name]);
  }
}

const tablesOf = (text: string): string[] => [...text.matchAll(/^create table (\w+)/gm)].map(([, name = '']) => name);

async function isUpToDate(db: Queryable, files: readonly string[]): Promise<boolean> {
  const isOurs = `select exists (select from pg_attribute where attrelid = to_regclass('migration') and attname = 'name') as known`;
  if (!(await readFlag(db, isOurs))) return false;
  const applied = await readColumn<string>(db, 'select name from migration');
  return applied.length === files.length && applied.every((name) => files.includes(name));
}

/** A running process uses the table. */
class TableInUseError extends Error {
  readonly table: string;

  constructor(table: string, cause: unknown) {
    super(`another process uses the table ${table} of the database all the time: stop it, and try again`, { cause });
    this.table = table;
  }
}

/**
 * Locks the tables that exist, until the end of the transaction. Waits for `first` only, and holds no other table meanwhile:
 * whoever used two of them in another order would wait for this process as it waits for them.
 * Throws {@link TableInUseError}, after which the transaction must be rolled back.
 */
async function takeTables(tx: Queryable, tables: readonly string[], first: string | undefined): Promise<void> {
  const rows = await tx.query<{ name: string }>(
    `select name from unnest($1::text[]) with ordinality t(name, n) where to_regclass(name) is not null
     order by (name = $2) desc nulls last, n`,
    [tables, first ?? null],
  );
  for (const { name } of rows) {
    const waits = name === first;
    try {
      if (waits) await tx.query(`set local lock_timeout = '5s'`);
      await tx.query(`lock table ${name} in access exclusive mode ${waits ? '' : 'nowait'}`);
      if (waits) await tx.query('set local lock_timeout to default');
    } catch (error) {
      if (isLockTaken(error)) throw new TableInUseError(name, error);
      throw error;
    }
  }
}

export async function readInstallation(db: Queryable): Promise<string> {
  const [row] = await db.query<{ id: string }>('select id from installation');
  if (row === undefined) throw new Error('the database has no installation ID: it was not migrated');
  return row.id;
}

// Takes over databases and backups whose tables the 64 migrations made that `0100_schema.sql` replaces. Their tables differ from those of
// that file by what is named here only.

const SCHEMA = '0100_schema.sql';
const NEWEST_FORMER = '0091_entry_circumstances.sql';
/** The hash of the sorted names of the former migrations. */
const FORMER_NAMES = 'c31213ec94db6eaa7ad3f4663b104bf7d945e5a9021841fe574e47fb46997cd8';

/** Whether exactly the former migrations made the tables. */
export const isFormer = (migrations: readonly string[]): boolean =>
  hash('sha256', migrations.toSorted().join('\n'), 'hex') === FORMER_NAMES;

/** The migrations of this version that make the same tables. */
export const replaceFormer = (migrations: readonly string[]): readonly string[] =>
  isFormer(migrations) ? [SCHEMA] : migrations;

/** Why a database or backup with these unknown migrations is too old to be taken over, and what to do; undefined: they are newer. */
export function explainOlder(unknown: readonly string[]): string | undefined {
  const newest = unknown.toSorted().at(-1) ?? '';
  if (newest >= SCHEMA) return undefined;
  return (
    `its tables are too old for this version (newest migration: ${newest}): first upgrade the database with the version of jobmirror 0.1 ` +
    `whose newest migration is ${NEWEST_FORMER}, and then with this one`
  );
}

/** The table that only the former schema has: review entries that were not grouped yet, by their numbers. */
export const FORMER_TABLE =
  'create table ungrouped_entry (one boolean primary key default true check (one), after_id bigint not null, last_id bigint not null)';

/**
 * Makes the former tables those of `0100_schema.sql`. Nobody else uses them. Postgres 14 would drop the column `part` together with
 * the function that generated it once; there the function stays.
 */
export async function takeOverFormer(tx: Queryable): Promise<void> {
  await tx.query(`
    select write_review_entry(c.id, case when state = 'discarded' then coalesce(discarded_from, 'rejected') else state end,
      state = 'discarded', feed, key, site, coalesce(fields, sent_fields), reason, since,
      entry_revision(state, revision, attempt_token, found_job_id, reason),
      change_circumstances(desired, pull, gone, invalid, record_hash, key))
    from ungrouped_entry u join change c on c.id > u.after_id and c.id <= u.last_id
    where state in ('rejected', 'failed', 'held', 'in_doubt', 'discarded');
    select write_review_entry(p.id, kind, discarded, feed, key, null, null, jsonb_build_object('problems', problems), since, revision, '{}')
    from ungrouped_entry u join record_problem p on p.id > u.after_id and p.id <= u.last_id;
    drop table ungrouped_entry;
    do $$
    begin
      if not exists (select from pg_depend where refclassid = 'pg_proc'::regclass and refobjid = to_regproc('entry_part')) then
        drop function if exists entry_part(boolean, text, text, text, text);
      end if;
    end
    $$;
    delete from migration;
    insert into migration (name) values ('${SCHEMA}')`);
}
