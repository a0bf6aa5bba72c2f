// Opens a database pool and migrates the schema `sandbox`.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'pg';
import { packageRoot } from '../../config/package-root.ts';
import type { SandboxLog } from '../log.ts';

const migrationsFolder = join(packageRoot, 'src', 'sandbox', 'migrations');
/** Prevents two sandboxes from migrating one database at the same time. The number is arbitrary. */
const MIGRATION_LOCK = 7_262_663;

/**
 * Connects and brings the schema up to date.
 * @param url `postgres://user:password@host/name`
 * @throws the driver's error, if the database can't be reached
 */
export async function openDatabase(url: string, connections: number, log: SandboxLog): Promise<Pool> {
  const pool = new Pool({ connectionString: url, max: connections });
  pool.on('error', (error) => log('database connection lost', { error: error.message }));
  try {
    await migrate(pool);
    return pool;
  } catch (error) {
    await pool.end();
    throw error;
  }
}

async function migrate(pool: Pool): Promise<void> {
  const files = (await readdir(migrationsFolder)).filter((name) => name.endsWith('.sql')).sort();
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query('create schema if not exists sandbox');
    await client.query(
      'create table if not exists sandbox.migration (name text primary key, applied_at timestamptz not null default now())',
    );
    const { rows } = await client.query<{ name: string }>('select name from sandbox.migration');
    const applied = new Set(rows.map((row) => row.name));
    for (const name of files.filter((file) => !applied.has(file))) {
      await client.query(await readFile(join(migrationsFolder, name), 'utf8'));
      await client.query('insert into sandbox.migration (name) values ($1)', [name]);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}
