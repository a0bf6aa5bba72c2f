// Computes when a schedule runs next, and when it was due before.
import { CronExpressionParser } from 'cron-parser';
import type { Cron, NextRun } from '../store/feed-schedule.ts';

/** Throws with the schedule where it can't be read; the configuration was checked, a row of another version may not be. */
export const nextRun: NextRun = ({ pattern, timeZone }, after) => {
  try {
    return CronExpressionParser.parse(pattern, { tz: timeZone, currentDate: after }).next().toDate();
  } catch (cause) {
    throw new Error(`the schedule "${pattern}" (${timeZone}) can't be read`, { cause });
  }
};

/** When the schedule was due the `n`th last time before `now`. Throws as {@link nextRun} does. */
export function lastDue({ pattern, timeZone }: Cron, now: Date, n = 1): Date {
  try {
    const expression = CronExpressionParser.parse(pattern, { tz: timeZone, currentDate: now });
    for (let at = 1; at < n; at++) expression.prev();
    return expression.prev().toDate();
  } catch (cause) {
    throw new Error(`the schedule "${pattern}" (${timeZone}) can't be read`, { cause });
  }
}

/** Whether a run was missed: the last one began before the schedule was due last, or there was none. */
export const isOverdue = (schedule: Cron, lastRunAt: Date | undefined, now: Date): boolean =>
  lastRunAt === undefined || lastRunAt.getTime() < lastDue(schedule, now).getTime();
