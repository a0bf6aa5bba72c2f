// Computes when a schedule runs next, and when it was due before.
import { type CronExpression, CronExpressionParser } from 'cron-parser';
import type { Cron, NextRun } from '../store/feed/feed-schedule.ts';

/**
 * Where a zone turns its clocks by half an hour, the parser does not get past the turn: it is asked again from these hours
 * further on. One run may be left out then, and not all runs of all feeds.
 */
const PAST_THE_TURN_HOURS = [0, 1, 4, 12, 24, 28, 36, 48, 72, 96, 120];
const HOUR_MS = 3_600_000;

/** Throws with the schedule where it can't be read; the configuration was checked, a row of another version may not be. */
export const nextRun: NextRun = (schedule, after) =>
  pastTheTransition(schedule, after, 1, (runs) => runs.next().toDate());

/** When the schedule was due the `n`th last time before `now`. Throws as {@link nextRun} does. */
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
  for (const hours of PAST_THE_TURN_HOURS) {
    const currentDate = new Date(from.getTime() + direction * hours * HOUR_MS);
    try {
      return read(CronExpressionParser.parse(pattern, { tz: timeZone, currentDate }));
    } catch (error) {
      cause ??= error;
      if (!/loop limit/.test((error as Error).message)) break;
    }
  }
  throw new Error(`the schedule "${pattern}" (${timeZone}) can't be read`, { cause });
}

/** Whether a run was missed: the last one began before the schedule was due last, or there was none. */
export const isOverdue = (schedule: Cron, lastRunAt: Date | undefined, now: Date): boolean =>
  lastRunAt === undefined || lastRunAt.getTime() < lastDue(schedule, now).getTime();
