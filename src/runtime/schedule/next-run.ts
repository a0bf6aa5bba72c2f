// Computes when a schedule runs next, and when it was last due.
import { parseCron } from '../../config/schedule-choice.ts';
import { type Message, messageOf, tell } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { compileTimeZone, type TimeZone } from '../../posting/steps/time-zones.ts';
import { type Cron, type NextRun, readSchedules, type ScheduleState } from '../../store/feed/feed-schedule.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import type { App } from '../app.ts';

/** No clock is shifted by more, apart from whole days. */
const NEAR_MS = 3 * 3_600_000;
const HOURS = 24;
const DAY_MS = 86_400_000;
/** How many times as many runs are looked at, if clocks were shifted among them. */
const MOST_TIMES = 4;

/**
 * A run at a time that the clock skips is due when the clock would have shown it; at a time that the clock shows twice, at the first
 * one, and in schedules of every hour at both.
 * Throws an error that names an unreadable schedule; the configuration was checked, but a row of another version may be invalid.
 */
export const nextRun: NextRun = (schedule, after) => named(schedule, () => runAfter(schedule, after));

/** The `n`th latest time before `now` at which the schedule was due. Throws as {@link nextRun} does. */
export const latestDueTime = (schedule: Cron, now: Date, n = 1): Date =>
  named(schedule, () => dueBefore(schedule, now, n));

/** Whether a run was missed: the last one started before the schedule was last due, or there was none. */
export const isOverdue = (schedule: Cron, lastRunAt: Date | undefined, now: Date): boolean =>
  lastRunAt === undefined || lastRunAt.getTime() < latestDueTime(schedule, now).getTime();

function named<Value>({ pattern, timeZone }: Cron, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new Error(`the schedule "${pattern}" (${timeZone}) can't be read`, { cause: error });
  }
}

/** The parser knows the times of a clock that is never shifted; which instants those are is decided here. */
const readingsFrom = (pattern: string, wallClock: number) =>
  parseCron(pattern, { tz: 'UTC', currentDate: new Date(wallClock) });

function runAfter({ pattern, timeZone }: Cron, after: Date): Date {
  const zone = zoneOf(timeZone);
  const from = after.getTime();
  let first: number | undefined;
  for (const { reading, instants } of readingsWith(pattern, zone, zone.toWallClock(from) - shiftNear(zone, from))) {
    if (first !== undefined && reading > zone.toWallClock(first) + shiftNear(zone, first)) break;
    for (const instant of instants) if (instant > from && (first === undefined || instant < first)) first = instant;
    if (first !== undefined && shiftNear(zone, first) === 0) break;
  }
  return new Date(first as number);
}

function dueBefore({ pattern, timeZone }: Cron, now: Date, n: number): Date {
  const zone = zoneOf(timeZone);
  const end = zone.toWallClock(now.getTime()) + shiftNear(zone, now.getTime());
  for (let times = 1; times <= MOST_TIMES; times++) {
    const before = readingsFrom(pattern, zone.toWallClock(now.getTime()) + 1);
    let start = 0;
    for (let at = 0; at < n * times; at++) start = before.prev().getTime();
    const due = new Set<number>();
    for (const { reading, instants } of readingsWith(
      pattern,
      zone,
      start - 1 - shiftNear(zone, zone.toInstant(start)),
    )) {
      if (reading > end) break;
      for (const instant of instants) if (instant < now.getTime()) due.add(instant);
    }
    const found = [...due].sort((one, other) => one - other).at(-n);
    if (found !== undefined) return new Date(found);
  }
  throw new Error(`it has no ${n} runs before ${now.toISOString()}`);
}

/** What the clock shows at each run after this, without end, and the instants of it. */
function* readingsWith(pattern: string, zone: TimeZone, wallClock: number) {
  const readings = readingsFrom(pattern, wallClock);
  const isEveryHour = readings.fields.hour.values.length === HOURS;
  for (;;) {
    const reading = readings.next().getTime();
    yield { reading, instants: instantsOf(zone, reading, isEveryHour) };
  }
}

/** The instants at which the clock shows this, in order. */
function instantsOf(zone: TimeZone, reading: number, both: boolean): readonly number[] {
  const first = zone.toInstant(reading);
  if (!both) return [first];
  const second = reading - offsetAt(zone, reading + DAY_MS);
  return second > first && zone.toWallClock(second) === reading ? [first, second] : [first];
}

const offsetAt = (zone: TimeZone, instant: number): number =>
  zone.toWallClock(instant) - Math.floor(instant / 1000) * 1000;

/** By how much the clock is shifted near this instant: readings are that much out of order with instants. */
const shiftNear = (zone: TimeZone, instant: number): number =>
  Math.abs(offsetAt(zone, instant - NEAR_MS) - offsetAt(zone, instant + NEAR_MS));

const zones = new Map<string, TimeZone>();

function zoneOf(name: string): TimeZone {
  const zone = zones.get(name) ?? compileTimeZone(name);
  zones.set(name, zone);
  return zone;
}

// Logs schedules whose run is late, once each time one falls behind, and when all are on time again.

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
