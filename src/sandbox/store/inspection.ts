// Inspects the stored jobs for tests and measurements: all jobs, and duplicates.
import type { Pool } from 'pg';
import type { JobFields } from './jobs.ts';

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
