// Opens a database pool and migrates the schema `sandbox`.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'pg';
import { packageRoot } from '../../config/package-root.ts';
import type { SandboxLog } from '../request-log.ts';
import type { JobFields } from './jobs.ts';

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

// Inspects the stored jobs for tests and measurements: all jobs, and duplicates.

/** A job with its owner. */
export interface InspectedJob {
  readonly id: string;
  readonly owner: string;
  readonly fields: JobFields;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Jobs of one owner that have the same value in one field. */
export interface Duplicate {
  readonly owner: string;
  readonly value: string;
  readonly ids: readonly string[];
}

export interface Inspection {
  /** All jobs that were not deleted, oldest first. */
  jobs(): Promise<readonly InspectedJob[]>;
  count(): Promise<number>;
  /** Duplicates by this field; jobs without it are ignored. */
  duplicates(field?: string): Promise<readonly Duplicate[]>;
  /**
   * Deletes a job, as somebody on the website might. Returns whether it existed.
   * @param isKept the site can still tell that it was deleted.
   */
  removeJob(id: string, isKept?: boolean): Promise<boolean>;
}

export const openInspection = (pool: Pool): Inspection => ({
  async jobs() {
    const { rows } = await pool.query<InspectedJob>(
      `select job.id, account.email as owner, fields, job.created_at as "createdAt", updated_at as "updatedAt"
       from sandbox.job join sandbox.account on account.id = owner_id where deleted_at is null order by sequence`,
    );
    return rows;
  },
  async count() {
    const { rows } = await pool.query<{ count: number }>(
      'select count(*)::integer as count from sandbox.job where deleted_at is null',
    );
    return rows[0]?.count ?? 0;
  },
  async duplicates(field = 'number') {
    const { rows } = await pool.query<Duplicate>(
      `select account.email as owner, fields->>$1 as value, array_agg(job.id order by sequence) as ids
       from sandbox.job join sandbox.account on account.id = owner_id
       where fields->>$1 is not null and deleted_at is null group by 1, 2 having count(*) > 1 order by 1, 2`,
      [field],
    );
    return rows;
  },
  async removeJob(id, isKept = false) {
    const deleting = isKept
      ? 'update sandbox.job set deleted_at = clock_timestamp() where id = $1 and deleted_at is null'
      : 'delete from sandbox.job where id = $1';
    return (await pool.query(deleting, [id])).rowCount === 1;
  },
});
