// Stores jobs and lists them page by page.
import type { Pool } from 'pg';

/** Field name → text; names are folded to `-`. */
export type JobFields = Readonly<Record<string, string>>;

/** A job of the site, as it is stored. */
export interface Job {
  readonly id: string;
  readonly ownerId: number;
  /** Postal abbreviation of its state. */
  readonly state: string;
  readonly fields: JobFields;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Only a kept job can be deleted. */
  readonly deletedAt: Date | undefined;
}

/** Selects the jobs of a list. */
export interface JobFilter {
  readonly state?: string;
  readonly ownerId?: number;
  /** Part of a title, or a whole reference number. */
  readonly search?: string;
}

/** One page of a list, newest jobs first. */
export interface ListedPage {
  readonly jobs: readonly Job[];
  /** The number of jobs in the whole list. */
  readonly total: number;
}

/**
 * How an ID is formed: `prefix` alone or followed by the job's number; `reused`: the lowest unused number instead of a new
 * one.
 */
export interface IdPlan {
  readonly prefix: string;
  readonly numbered: boolean;
  readonly reused: boolean;
}

/** The result of changing a job, which only its owner may do. */
export type Changed =
  | { readonly kind: 'changed'; readonly job: Job }
  | { readonly kind: 'missing' }
  | { readonly kind: 'foreign' };

export interface JobStore {
  create(ownerId: number, id: IdPlan, state: string, fields: JobFields): Promise<Job>;
  find(id: string): Promise<Job | undefined>;
  findDeleted(id: string): Promise<Job | undefined>;
  /** Sets the given fields, and keeps the others unless it replaces all; `state` only if the fields change it. */
  update(
    ownerId: number,
    id: string,
    fields: JobFields,
    state: string | undefined,
    replaces?: boolean,
  ): Promise<Changed>;
  /** @param isKept it can still be found, with the time of its deletion. */
  delete(ownerId: number, id: string, isKept?: boolean): Promise<Changed>;
  list(filter: JobFilter, offset: number, limit: number): Promise<ListedPage>;
  /** Job counts per state, largest first. */
  countByState(): Promise<readonly { readonly state: string; readonly count: number }[]>;
}

interface JobRow {
  readonly id: string;
  readonly owner_id: number;
  readonly state: string;
  readonly fields: JobFields;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deleted_at: Date | null;
}

/** A page without jobs is one row, which has their number only. */
type ListedRow = { readonly total: number } & (JobRow | { readonly id: null });

const COLUMNS = 'id, owner_id, state, fields, created_at, updated_at, deleted_at';

const toJob = (row: JobRow): Job => ({
  id: row.id,
  ownerId: row.owner_id,
  state: row.state,
  fields: row.fields,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  deletedAt: row.deleted_at ?? undefined,
});

export function openJobs(pool: Pool): JobStore {
  const finder = (name: string, condition: string) => async (id: string) => {
    const text = `select ${COLUMNS} from sandbox.job where id = $1 and ${condition}`;
    const { rows } = await pool.query<JobRow>({ name, text, values: [id] });
    return rows[0] && toJob(rows[0]);
  };
  const find = finder('sandbox-find', 'deleted_at is null');
  const findDeleted = finder('sandbox-find-deleted', 'deleted_at is not null');
  // The changing statement itself checks the owner, which avoids a race. Only if it changed nothing do we ask why.
  const changed = async (id: string, row: JobRow | undefined): Promise<Changed> => {
    if (row) return { kind: 'changed', job: toJob(row) };
    return { kind: (await find(id)) ? 'foreign' : 'missing' };
  };

  /** Of two concurrent creates, the unique index refuses one, which tries again. */
  async function createWithFreeId(ownerId: number, state: string, fields: JobFields): Promise<Job> {
    for (;;) {
      const { rows } = await pool.query<JobRow>({
        name: 'sandbox-create-reused',
        text: `insert into sandbox.job (sequence, id, owner_id, state, fields)
               select next, (select min(n) from generate_series(1, next) n
                             where not exists (select from sandbox.job where id = n::text))::text, $1, $2, $3
               from (select nextval('sandbox.job_sequence') as next) as sequence
               on conflict (id) do nothing returning ${COLUMNS}`,
        values: [ownerId, state, fields],
      });
      if (rows[0]) return toJob(rows[0]);
    }
  }

  return {
    find,
    findDeleted,

    async create(ownerId, id, state, fields) {
      if (id.reused) return createWithFreeId(ownerId, state, fields);
      const { rows } = await pool.query<JobRow>({
        name: 'sandbox-create',
        text: `insert into sandbox.job (sequence, id, owner_id, state, fields)
               select next, case when $3::boolean then $2::text || next else $2::text end, $1, $4, $5
               from (select nextval('sandbox.job_sequence') as next) as sequence
               returning ${COLUMNS}`,
        values: [ownerId, id.prefix, id.numbered, state, fields],
      });
      if (!rows[0]) throw new Error('the database took a job and returned none');
      return toJob(rows[0]);
    },

    async update(ownerId, id, fields, state, replaces = false) {
      const { rows } = await pool.query<JobRow>({
        name: 'sandbox-update',
        text: `update sandbox.job
               set fields = case when $5 then '{}' else fields end || $3::jsonb, state = coalesce($4, state), updated_at = clock_timestamp()
               where id = $2 and owner_id = $1 and deleted_at is null returning ${COLUMNS}`,
        values: [ownerId, id, fields, state, replaces],
      });
      return changed(id, rows[0]);
    },

    async delete(ownerId, id, isKept = false) {
      const { rows } = await pool.query<JobRow>({
        name: isKept ? 'sandbox-delete-kept' : 'sandbox-delete',
        text: `${isKept ? 'update sandbox.job set deleted_at = clock_timestamp()' : 'delete from sandbox.job'}
               where id = $2 and owner_id = $1 and deleted_at is null returning ${COLUMNS}`,
        values: [ownerId, id],
      });
      return changed(id, rows[0]);
    },

    async list(filter, offset, limit) {
      const where = `where deleted_at is null and ($1::text is null or state = $1) and ($2::integer is null or owner_id = $2)
        and ($3::text is null or fields->>'number' = $3 or strpos(lower(fields->>'title'), lower($3)) > 0)`;
      // One statement, so that the jobs and their number are from one moment.
      const { rows } = await pool.query<ListedRow>(
        `select page.*, (select count(*)::integer from sandbox.job ${where}) as total
         from (select) as one left join
           (select sequence, ${COLUMNS} from sandbox.job ${where} order by sequence desc offset $4 limit $5) as page on true
         order by page.sequence desc`,
        [filter.state ?? null, filter.ownerId ?? null, filter.search ?? null, offset, limit],
      );
      return { jobs: rows.flatMap((row) => (row.id === null ? [] : toJob(row))), total: rows[0]?.total ?? 0 };
    },

    async countByState() {
      const { rows } = await pool.query<{ state: string; count: number }>(
        'select state, count(*)::integer as count from sandbox.job where deleted_at is null group by state order by count desc, state',
      );
      return rows;
    },
  };
}
