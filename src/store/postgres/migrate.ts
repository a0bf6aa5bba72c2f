// Migrates a database to the newest schema: numbered SQL files, each applied once, all in one transaction.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../config/package-root.ts';
import { openDatabase, type Queryable } from './database.ts';

const folder = join(packageRoot, 'src', 'store', 'migrations');
const LOCK = 5_206_114_901;
/** First migration of development versions; their databases cannot be migrated to a released schema. */
const DEVELOPMENT_SCHEMA = '0001_books.sql';
const FROM_DEVELOPMENT =
  'this database was made by a development version of jobmirror: write its mappings to a file with the former version ' +
  '(`mappings export`), give this version an empty database, and read them there (`mappings import`)';

/**
 * Applies the missing migrations; safe to call from several processes at once.
 * Throws if the database was migrated by a newer version than this one.
 */
export async function migrate(databaseUrl: string): Promise<void> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const database = openDatabase(databaseUrl, { max: 1 });
  try {
    // If nothing is missing, reading is enough, which also works on a read-only server.
    if (await isUpToDate(database, files)) return;
    await database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [LOCK]);
      await tx.query(
        'create table if not exists migration (name text primary key, applied_at timestamptz not null default now())',
      );
      const applied = new Set((await tx.query<{ name: string }>('select name from migration')).map((row) => row.name));
      const unknown = [...applied].filter((name) => !files.includes(name));
      if (unknown.includes(DEVELOPMENT_SCHEMA)) throw new Error(FROM_DEVELOPMENT);
      if (unknown.length > 0) {
        throw new Error(
          `the database has migrations that this version does not know (${unknown.join(', ')}): update jobmirror`,
        );
      }
      for (const name of files.filter((file) => !applied.has(file))) {
        await tx.query(await readFile(join(folder, name), 'utf8'));
        await tx.query('insert into migration (name) values ($1)', [name]);
      }
    });
  } finally {
    await database.close();
  }
}

async function isUpToDate(db: Queryable, files: readonly string[]): Promise<boolean> {
  const [table] = await db.query<{ known: boolean }>(`select to_regclass('migration') is not null as known`);
  if (table?.known !== true) return false;
  const applied = (await db.query<{ name: string }>('select name from migration')).map((row) => row.name);
  return applied.length === files.length && applied.every((name) => files.includes(name));
}
