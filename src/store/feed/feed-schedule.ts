// Stores when each feed is pulled next, and assigns each due run to one process, in Postgres because BullMQ or Redis may lose its state.
import type { FeedName } from '../../posting/identifiers.ts';
import { LIVE_WORKERS, RUNNING_WORKERS } from '../locks/processes.ts';
import { columnsOf, type Database, type Queryable, readValue } from '../postgres/database.ts';

/** A feed's schedule as configured in a process. */
export interface FeedSchedule {
  readonly feed: FeedName;
  /** A cron expression. */
  readonly pattern: string;
  /** The IANA time zone of the pattern. */
  readonly timeZone: string;
  /** Digest of the feed's whole configuration. */
  readonly digest: string;
}

/** When a schedule runs. */
export type Cron = Pick<FeedSchedule, 'pattern' | 'timeZone'>;

/** Returns the next run of a schedule after a time. Throws if the schedule is invalid. */
export type NextRun = (schedule: Cron, after: Date) => Date;

/** Called for a feed whose schedule is invalid; the other feeds continue. */
export type OnInvalidSchedule = (feed: FeedName, error: unknown) => void;

/** A process that owns schedules. Of two that started in the same millisecond, the one with the higher number is the newer. */
export interface Scheduler {
  readonly worker: number;
  readonly startedAt: Date;
}

/**
 * Stores the schedules of a process's feeds: new ones, and those that an older or ended process configured differently. A
 * due run stays due; one that was put off because the clock of the database was ahead is due at its time again. Schedules of feeds that this process does not know are not touched.
 * @param unscheduled feeds of the process without a schedule; removes an older process's schedule, which does not set it again.
 * @returns feeds whose stored schedule matched no configuration, as if edited by hand, and was restored.
 */
export async function setSchedules(
  db: Database,
  { worker, startedAt }: Scheduler,
  schedules: readonly FeedSchedule[],
  unscheduled: readonly FeedName[],
  nextRun: NextRun,
  onInvalidSchedule: OnInvalidSchedule = () => undefined,
): Promise<readonly FeedName[]> {
  if (unscheduled.length > 0) {
    await db.query(
      'update process_feed set unscheduled = true where worker = $1 and feed = any($2::text[]) and not unscheduled',
      [worker, unscheduled],
    );
  }
  const found = await db.query<StoredSchedule>(
    `select n.feed, s.digest, s.pattern, s.time_zone as "timeZone", s.due_at as "dueAt", clock_timestamp() as now,
       case when s.feed is null then not exists (select from process_feed f join process p on p.worker = f.worker
           where f.feed = n.feed and f.unscheduled and (p.started_at, p.worker) > ($2::timestamptz, $3::integer)
             and p.worker in (${RUNNING_WORKERS}))
         else (s.set_at, s.set_by) <= ($2::timestamptz, $3::integer) or s.set_by not in (${RUNNING_WORKERS}) end as "mayChange"
     from unnest($1::text[]) n(feed) left join feed_schedule s on s.feed = n.feed`,
    [[...schedules.map(({ feed }) => feed), ...unscheduled], startedAt, worker],
  );
  const before = new Map(found.map((row) => [row.feed, row]));
  const now = found[0]?.now ?? new Date();
  const other = schedules.filter((schedule) => {
    const row = before.get(schedule.feed);
    if (row?.mayChange !== true) return false;
    return row.digest !== schedule.digest || isEdited(row, schedule) || isPutOff(row.dueAt, schedule, row.now, nextRun);
  });
  const changed = other.flatMap((schedule) => {
    const next = nextOfFirstValid(schedule, [schedule], now, nextRun, onInvalidSchedule);
    return next === undefined ? [] : [{ ...schedule, next }];
  });
  if (changed.length > 0) {
    await db.query(
      `insert into feed_schedule as s (feed, pattern, time_zone, digest, due_at, set_by, set_at)
       select *, $6::integer, $7::timestamptz
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
       on conflict (feed) do update set pattern = excluded.pattern, time_zone = excluded.time_zone,
         digest = excluded.digest, set_by = excluded.set_by, set_at = excluded.set_at,
         due_at = case when s.due_at <= now() then s.due_at
           when s.pattern = excluded.pattern and s.time_zone = excluded.time_zone then least(s.due_at, excluded.due_at)
           else excluded.due_at end`,
      [...columnsOf(changed, 'feed', 'pattern', 'timeZone', 'digest', 'next'), worker, startedAt],
    );
  }
  const ended = unscheduled.filter((feed) => {
    const row = before.get(feed);
    return row?.mayChange === true && row.digest !== null;
  });
  if (ended.length > 0) await db.query('delete from feed_schedule where feed = any($1::text[])', [ended]);
  return changed.flatMap((schedule) => (isEdited(before.get(schedule.feed), schedule) ? schedule.feed : []));
}

/** A feed of this process, with its stored schedule, if any. */
interface StoredSchedule {
  readonly feed: FeedName;
  readonly digest: string | null;
  readonly pattern: string | null;
  readonly timeZone: string | null;
  readonly dueAt: Date | null;
  readonly mayChange: boolean;
  readonly now: Date;
}

/** A configuration digest implies one schedule: a different one under the same digest was edited by hand. */
const isEdited = (row: StoredSchedule | undefined, { digest, pattern, timeZone }: FeedSchedule): boolean =>
  row?.digest === digest && (row.pattern !== pattern || row.timeZone !== timeZone);

/** A run that is put off by less comes soon enough; most schedules need not be computed then. */
const SOON_MS = 3_600_000;

/** Whether a run is due later than its schedule says: it was planned while the clock of the database was ahead. */
export function isPutOff(dueAt: Date | null, schedule: Cron, now: Date, nextRun: NextRun): boolean {
  if (dueAt === null || dueAt.getTime() - now.getTime() < SOON_MS) return false;
  try {
    return dueAt > nextRun(schedule, now);
  } catch {
    return false;
  }
}

/** The next run of the first valid schedule; `undefined` if none is valid. Reports the invalid ones. */
function nextOfFirstValid(
  { feed }: Pick<FeedSchedule, 'feed'>,
  schedules: readonly Cron[],
  after: Date,
  nextRun: NextRun,
  onInvalidSchedule: OnInvalidSchedule,
): Date | undefined {
  for (const schedule of schedules) {
    try {
      return nextRun(schedule, after);
    } catch (error) {
      onInvalidSchedule(feed, error);
    }
  }
  return undefined;
}

/** Makes the next run of these feeds due now; skips feeds with a run in progress. */
export async function makeDue(db: Queryable, feeds: readonly FeedName[]): Promise<void> {
  await db.query(
    'update feed_schedule set due_at = now() where feed = any($1::text[]) and due_at > now() and run_by is null',
    [feeds],
  );
}

/** A run that this process has claimed. */
export interface DueRun {
  readonly feed: FeedName;
  /** When it was due, by the database clock. */
  readonly dueAt: Date;
  readonly lateMs: number;
}

interface DueRow {
  readonly feed: FeedName;
  readonly pattern: string;
  readonly timeZone: string;
  /** As text, because the driver's dates have no microseconds. */
  readonly due: string;
  readonly runBy: number | null;
  readonly now: Date;
}

/**
 * Claims due runs, longest waiting first, including runs claimed by a dead or stalled process. However many times a feed has
 * come due, it is one run. If the stored schedule is invalid, the process's own determines the next run; a feed without a
 * valid one is skipped.
 * @param feeds feeds that this process can pull now; skips those scheduled under another configuration.
 */
export async function takeDueRuns(
  db: Database,
  worker: number,
  feeds: readonly FeedSchedule[],
  limit: number,
  nextRun: NextRun,
  onInvalidSchedule: OnInvalidSchedule = () => undefined,
): Promise<DueRun[]> {
  if (limit <= 0 || feeds.length === 0) return [];
  const rows = await db.query<DueRow>(
    `select s.feed, s.pattern, s.time_zone as "timeZone", s.due_at::text as due, s.run_by as "runBy",
       clock_timestamp() as now
     from feed_schedule s join unnest($1::text[], $2::text[]) own(feed, digest)
       on own.feed = s.feed and own.digest = s.digest
     where s.run_by is null and s.due_at <= now()
       or s.run_by is not null and s.run_by <> $3 and s.run_by not in (${RUNNING_WORKERS})
     order by coalesce(s.run_due, s.due_at), s.feed limit $4`,
    [feeds.map(({ feed }) => feed), feeds.map(({ digest }) => digest), worker, limit],
  );
  const own = new Map(feeds.map((schedule) => [schedule.feed, schedule]));
  const ready = rows.flatMap((row) => {
    const next = nextOfFirstValid(row, [row, own.get(row.feed) ?? row], row.now, nextRun, onInvalidSchedule);
    return next === undefined ? [] : [{ ...row, next }];
  });
  if (ready.length === 0) return [];
  return db.query<DueRun>(
    `update feed_schedule s set run_due = coalesce(s.run_due, s.due_at), run_since = clock_timestamp(), run_by = $1,
       due_at = case when s.due_at <= now() then d.next else s.due_at end
     from unnest($2::text[], $3::timestamptz[], $4::integer[], $5::timestamptz[]) d(feed, due, run_by, next)
     where s.feed = d.feed and s.due_at = d.due and s.run_by is not distinct from d.run_by
     returning s.feed, s.run_due as "dueAt",
       (extract(epoch from clock_timestamp() - s.run_due) * 1000)::float8 as "lateMs"`,
    [worker, ...columnsOf(ready, 'feed', 'due', 'runBy', 'next')],
  );
}

/** Ends a run that this process had claimed. */
export async function endRun(db: Queryable, worker: number, feed: FeedName): Promise<void> {
  await db.query(
    'update feed_schedule set run_due = null, run_since = null, run_by = null where feed = $1 and run_by = $2',
    [feed, worker],
  );
}

/** Releases runs that this process could not finish: they are due as before. */
export async function giveBackRuns(db: Queryable, worker: number, feeds: readonly FeedName[]): Promise<void> {
  await db.query(`${GIVE_BACK} where feed = any($1::text[]) and run_by = $2`, [feeds, worker]);
}

const GIVE_BACK = 'update feed_schedule set due_at = run_due, run_due = null, run_since = null, run_by = null';

/** Releases runs recorded for this process that it does not work on, because a response or a release was lost. */
export async function giveBackForgotten(db: Queryable, worker: number, running: readonly FeedName[]): Promise<void> {
  await db.query(`${GIVE_BACK} where feed <> all($1::text[]) and run_by = $2`, [running, worker]);
}

/** Milliseconds until one of these feeds is due; `undefined` if none is scheduled. */
export const nextDueInMs = (db: Queryable, feeds: readonly FeedName[]): Promise<number | undefined> =>
  readValue<number>(
    db,
    `select (extract(epoch from min(due_at) - clock_timestamp()) * 1000)::float8 as ms
     from feed_schedule where feed = any($1::text[]) and run_by is null`,
    [feeds],
  );

/** Status of a feed's schedule. All times are the database's. */
export interface ScheduleState extends Cron {
  readonly feed: FeedName;
  /** When the next run is due; in the past if the run is waiting. */
  readonly nextAt: Date;
  /** How long the next run has been due, in milliseconds; 0 if it is not due. */
  readonly lateMs: number;
  /** The run in progress: when it was due, and when it started. */
  readonly running: { readonly dueAt: Date; readonly since: Date } | undefined;
  /** Live `start` processes that are configured with the feed: without one, nobody runs the schedule. */
  readonly processes: number;
}

interface ScheduleRow extends Omit<ScheduleState, 'running'> {
  /** The process that has taken the run lives: both times are set. */
  readonly isRunning: boolean;
  readonly since: Date;
  readonly dueAt: Date;
}

/** The schedules of all feeds, or of the given ones. */
export async function readSchedules(db: Queryable, feeds?: readonly FeedName[]): Promise<ScheduleState[]> {
  const rows = await db.query<ScheduleRow>(
    `with live as materialized (${RUNNING_WORKERS})
     select s.feed, s.pattern, s.time_zone as "timeZone", s.run_since as since, s.run_due as "dueAt", r."isRunning", n."nextAt",
       greatest(0, extract(epoch from clock_timestamp() - n."nextAt") * 1000)::float8 as "lateMs",
       (select count(*) from process_feed f join live on live.worker = f.worker join process p on p.worker = f.worker
         where f.feed = s.feed and p.command = 'start') as processes
     from feed_schedule s cross join lateral (select exists(select from live where live.worker = s.run_by) as "isRunning") r
       cross join lateral (select case when s.run_by is null or r."isRunning" then s.due_at else s.run_due end as "nextAt") n
     where $1::text[] is null or s.feed = any($1::text[]) order by s.feed`,
    [feeds ?? null],
  );
  return rows.map(({ isRunning, dueAt, since, ...row }) => ({
    ...row,
    running: isRunning ? { dueAt, since } : undefined,
  }));
}

/** Removes schedules that no process has been configured with for a week. */
export async function forgetSchedules(db: Queryable): Promise<void> {
  await db.query(
    `delete from feed_schedule s where s.due_at < now() - interval '7 days' and s.run_by is null
       and not exists (select from process_feed f join (${LIVE_WORKERS}) live on live.worker = f.worker
         where f.feed = s.feed)`,
  );
}
