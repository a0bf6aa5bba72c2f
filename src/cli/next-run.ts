// Computes when a schedule runs next.
import { CronExpressionParser } from 'cron-parser';
import type { NextRun } from '../store/feed-schedule.ts';

/** Throws with the schedule where it can't be read; the configuration was checked, a row of another version may not be. */
export const nextRun: NextRun = ({ pattern, timeZone }, after) => {
  try {
    return CronExpressionParser.parse(pattern, { tz: timeZone, currentDate: after }).next().toDate();
  } catch (cause) {
    throw new Error(`the schedule "${pattern}" (${timeZone}) can't be read`, { cause });
  }
};
