// When a process starts: makes overdue feeds due now, and logs when each feed will be pulled.
import { messageOf, tell } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { type FeedSchedule, makeDue, readSchedules } from '../../store/feed/feed-schedule.ts';
import type { Database } from '../../store/postgres/database.ts';
import { readPullHistories } from '../../store/pull/pull-history.ts';
import { formatTime } from '../../telemetry/times.ts';
import type { App } from '../app.ts';
import { isOverdue } from './next-run.ts';

/** Feeds that are logged individually. */
const MOST_LISTED = 20;

/** What the last runs of feeds mean for the next ones. */
interface CaughtUp {
  readonly lastRuns: ReadonlyMap<FeedName, Date>;
  /** Due now: the last run started before the schedule's latest due time, or there was none. */
  readonly overdue: ReadonlySet<FeedName>;
}

/** Makes due every run that was missed while nobody ran the schedules, and every feed never pulled. */
export async function catchUp(db: Database, schedules: readonly FeedSchedule[]): Promise<CaughtUp> {
  const histories = await readPullHistories(
    db,
    schedules.map(({ feed }) => feed),
  );
  const [clock] = await db.query<{ now: Date }>('select clock_timestamp() as now');
  const now = clock?.now ?? new Date();
  const overdue = schedules.filter((schedule) => isOverdue(schedule, histories.get(schedule.feed)?.lastRunAt, now));
  await makeDue(
    db,
    overdue.map(({ feed }) => feed),
  );
  const lastRuns = [...histories].flatMap(([feed, { lastRunAt }]) =>
    lastRunAt === undefined ? [] : [[feed, lastRunAt] as const],
  );
  return { lastRuns: new Map(lastRuns), overdue: new Set(overdue.map(({ feed }) => feed)) };
}

/** Logs when each feed is pulled next: those pulled at once first, then in order of time. */
export async function announce(
  { db, log, writeAction }: Pick<App, 'db' | 'log' | 'writeAction'>,
  schedules: readonly FeedSchedule[],
  unscheduled: readonly FeedName[],
  { lastRuns, overdue }: CaughtUp,
): Promise<void> {
  const states = await readSchedules(
    db,
    schedules.map(({ feed }) => feed),
  );
  const inOrder = [...states].sort((a, b) => a.nextAt.getTime() - b.nextAt.getTime());
  for (const { feed, nextAt, pattern, timeZone } of inOrder.slice(0, MOST_LISTED)) {
    const lastRun = lastRuns.get(feed);
    const last = lastRun === undefined ? 'it was never pulled' : `its last run was at ${formatTime(lastRun)}`;
    const what = overdue.has(feed) ? `is pulled now: ${last}` : `is pulled next at ${formatTime(nextAt)}`;
    log.info({ feed, schedule: pattern, timeZone, lastRun: lastRun ?? null, nextRun: nextAt }, `feed ${feed} ${what}`);
  }
  if (inOrder.length > MOST_LISTED) {
    const seeAll = [{ words: 'to see all of them run', action: { kind: 'show_status' } as const }];
    log.info({ feeds: inOrder.length - MOST_LISTED }, tell(messageOf('more feeds are scheduled', seeAll), writeAction));
  }
  if (unscheduled.length > 0) {
    const named = unscheduled.slice(0, MOST_LISTED).join(', ');
    log.info({ feeds: unscheduled.length }, `feeds without a schedule are only pulled by sync: ${named}`);
  }
}
