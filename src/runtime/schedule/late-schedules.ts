// Logs schedules whose run is late, once each time one falls behind, and when all are on time again.
import { type Message, messageOf, tell } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { readSchedules, type ScheduleState } from '../../store/feed/feed-schedule.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import type { App } from '../app.ts';
import { nextRun } from './next-run.ts';

/** A run that has waited this long is late. */
const LATE_MS = 10_000;
/** Listed individually; the rest are only counted. */
const MOST_NAMED = 10;

export const isLate = ({ lateMs }: ScheduleState): boolean => lateMs > LATE_MS;

/** Explains why a run is late. */
export function describeLate(schedule: ScheduleState): Message {
  const { feed, lateMs, running, processes } = schedule;
  const late = `feed ${feed}: its run is ${formatSpan(lateMs)} late`;
  const unreadable = whyUnreadable(schedule);
  const start = { kind: 'start_schedules' } as const;
  if (unreadable !== undefined) {
    return messageOf(`${late}: ${unreadable}`, [{ words: 'to restore the configured one, restart', action: start }]);
  }
  if (processes === 0) {
    return messageOf(`${late}: no process runs its schedule`, [{ words: 'start one', action: start }]);
  }
  if (running === undefined) return `${late}: it waits for a free process`;
  return `${late}: the previous run has been in progress since ${formatTime(running.since)}`;
}

/** Only the database row can be unreadable: the configuration was checked. */
function whyUnreadable(schedule: ScheduleState): string | undefined {
  try {
    nextRun(schedule, new Date());
    return undefined;
  } catch (error) {
    return `in the database, ${(error as Error).message}`;
  }
}

/** Returns a function to call regularly. */
export function watchLateness(
  { db, log, writeAction }: Pick<App, 'db' | 'log' | 'writeAction'>,
  feeds: readonly FeedName[],
): () => Promise<void> {
  let known: ReadonlySet<FeedName> = new Set();
  return async () => {
    const late = (await readSchedules(db, feeds)).filter(isLate);
    const added = late.filter(({ feed }) => !known.has(feed)).sort((a, b) => b.lateMs - a.lateMs);
    for (const schedule of added.slice(0, MOST_NAMED)) {
      const message = tell(describeLate(schedule), writeAction);
      log.warn({ feed: schedule.feed, lateMs: Math.round(schedule.lateMs) }, message);
    }
    if (added.length > MOST_NAMED) log.warn({ feeds: late.length }, 'more schedules are late');
    if (known.size > 0 && late.length === 0) log.info('all schedules are on time again');
    known = new Set(late.map(({ feed }) => feed));
  };
}
