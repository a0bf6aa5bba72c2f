// Stores when each feed is verified next, assigns each due run to one process, and keeps what the last run found.
import type { FeedName } from '../../posting/identifiers.ts';
import { RUNNING_WORKERS } from '../locks/processes.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { type Database, type Queryable, returnsRow, type Stored, withoutNulls } from '../postgres/database.ts';
import { type Cron, isPutOff, type NextRun } from './feed-schedule.ts';

/** What a run found. */
export interface VerifyResult {
  /** The feed's mapped jobs; some of them if only a sample was compared. */
  readonly jobs: number;
  readonly same: number;
  readonly changed: number;
  readonly gone: number;
  readonly foreign: number;
  /** Jobs that could not be told: being sent, of unknown content, or without a clear answer. */
  readonly untold: number;
  /** Jobs that were marked to be set again. */
  readonly marked: number;
  /** Findings of which something was not marked: they wait for a person. */
  readonly left: number;
  /** Why not all jobs could be compared. */
  readonly message?: string;
}

/** The last run of a feed. */
export interface LastVerify extends VerifyResult {
  readonly at: Date;
}

export interface VerifySchedule extends Cron {
  readonly feed: FeedName;
}

/** A run that this process has claimed. */
export interface VerifyRun {
  readonly feed: FeedName;
  /** For a run that was stopped, the last posting that was compared. */
  readonly after: string | undefined;
  readonly soFar: VerifyResult | undefined;
}

/**
 * Stores the schedules as this process has them. A run that is due, or that was not completed, stays due; one that was put off because
 * the clock of the database was ahead is due at its time again.
 */
export async function setVerifySchedules(
  db: Queryable,
  schedules: readonly VerifySchedule[],
  nextRun: NextRun,
): Promise<void> {
  for (const { feed, pattern, timeZone } of schedules) {
    const [row] = await db.query<{ now: Date; same: boolean | null; dueAt: Date | null }>(
      `select clock_timestamp() as now, v.pattern = $2 and v.time_zone = $3 as same, v.due_at as "dueAt"
       from (select) one left join feed_verify v on v.feed = $1`,
      [feed, pattern, timeZone],
    );
    if (row === undefined) continue;
    if (row.same === true && !isPutOff(row.dueAt, { pattern, timeZone }, row.now, nextRun)) continue;
    await db.query(
      `insert into feed_verify as v (feed, pattern, time_zone, due_at) values ($1, $2, $3, $4)
       on conflict (feed) do update set pattern = excluded.pattern, time_zone = excluded.time_zone,
         due_at = case when v.pattern is not null and v.due_at <= now() then v.due_at else excluded.due_at end`,
      [feed, pattern, timeZone, nextRun({ pattern, timeZone }, row.now)],
    );
  }
}

/** Claims the due runs of these feeds, also those of a process that died or stalled. */
export async function takeVerifyRuns(
  db: Queryable,
  worker: number,
  feeds: readonly FeedName[],
  most: number,
): Promise<VerifyRun[]> {
  const rows = await db.query<Stored<VerifyRun>>(
    `update feed_verify v set run_by = $1
     from (select feed from feed_verify where feed = any($2::text[]) and due_at <= now()
         and (run_by is null or run_by = $1 or run_by not in (${RUNNING_WORKERS}))
       order by due_at, feed limit $3 for update skip locked) due
     where v.feed = due.feed returning v.feed, v.after_key as after, v.so_far as "soFar"`,
    [worker, feeds, most],
  );
  return rows.map(withoutNulls<VerifyRun>);
}

/** Notes how far a run has come. Returns false if another process has taken it over. */
export const noteVerified = (
  db: Queryable,
  worker: number,
  feed: FeedName,
  after: string,
  soFar: VerifyResult,
): Promise<boolean> =>
  returnsRow(db, 'update feed_verify set after_key = $3, so_far = $4 where feed = $1 and run_by = $2 returning 1', [
    feed,
    worker,
    after,
    toJsonb(soFar),
  ]);

/** Ends a run that this process had claimed. */
export async function endVerify(
  db: Database,
  worker: number,
  { feed, pattern, timeZone }: VerifySchedule,
  result: VerifyResult,
  nextRun: NextRun,
): Promise<void> {
  const [row] = await db.query<{ now: Date }>('select clock_timestamp() as now');
  await db.query(
    `update feed_verify set run_by = null, after_key = null, so_far = null, ended_at = now(), result = $3, due_at = $4
     where feed = $1 and run_by = $2`,
    [feed, worker, toJsonb(result), nextRun({ pattern, timeZone }, row?.now ?? new Date())],
  );
}

/** Releases a run that this process could not complete: it is due as before, and is continued. */
export async function giveBackVerify(db: Queryable, worker: number, feed: FeedName): Promise<void> {
  await db.query('update feed_verify set run_by = null where feed = $1 and run_by = $2', [feed, worker]);
}

/** Records what a person has found of a whole feed. */
export async function recordVerify(db: Queryable, feed: FeedName, result: VerifyResult): Promise<void> {
  await db.query(
    `insert into feed_verify (feed, ended_at, result) values ($1, now(), $2)
     on conflict (feed) do update set ended_at = excluded.ended_at, result = excluded.result`,
    [feed, toJsonb(result)],
  );
}

export async function lastVerifies(db: Queryable): Promise<ReadonlyMap<FeedName, LastVerify>> {
  const rows = await db.query<{ feed: FeedName; at: Date; result: VerifyResult }>(
    'select feed, ended_at as at, result from feed_verify where ended_at is not null',
  );
  return new Map(rows.map(({ feed, at, result }) => [feed, { ...result, at }]));
}
