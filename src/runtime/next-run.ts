// Computes when a schedule runs next, and when it was last due.
import type { CronExpression } from 'cron-parser';
import { parseCron } from '../config/parse-cron.ts';
import type { Cron, NextRun } from '../store/feed/feed-schedule.ts';

/**
 * In zones that shift their clocks by half an hour, the parser cannot get past the transition, so it is retried this
 * many hours further on. At worst that skips one run of one feed; without it, all runs of all feeds would stop.
 */
const RETRY_AFTER_HOURS = [0, 1, 4, 12, 24, 28, 36, 48, 72, 96, 120];
const HOUR_MS = 3_600_000;

/**
 * Throws an error that names an unreadable schedule; the configuration was checked, but a row of another version may be
 * invalid.
 */
export const nextRun: NextRun = (schedule, after) =>
  pastTheTransition(schedule, after, 1, (runs) => runs.next().toDate());

/** The `n`th latest time before `now` at which the schedule was due. Throws as {@link nextRun} does. */
export const lastDue = (schedule: Cron, now: Date, n = 1): Date =>
  pastTheTransition(schedule, now, -1, (runs) => {
    for (let at = 1; at < n; at++) runs.prev();
    return runs.prev().toDate();
  });

function pastTheTransition(
  { pattern, timeZone }: Cron,
  from: Date,
  direction: 1 | -1,
  read: (runs: CronExpression) => Date,
): Date {
  let cause: unknown;
  for (const hours of RETRY_AFTER_HOURS) {
    const currentDate = new Date(from.getTime() + direction * hours * HOUR_MS);
    try {
      return read(parseCron(pattern, { tz: timeZone, currentDate }));
    } catch (error) {
      cause ??= error;
      if (!/loop limit/.test((error as Error).message)) break;
    }
  }
  throw new Error(`the schedule "${pattern}" (${timeZone}) can't be read`, { cause });
}

/** Whether a run was missed: the last one started before the schedule was last due, or there was none. */
export const isOverdue = (schedule: Cron, lastRunAt: Date | undefined, now: Date): boolean =>
  lastRunAt === undefined || lastRunAt.getTime() < lastDue(schedule, now).getTime();
