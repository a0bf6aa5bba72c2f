// Converts times between UTC and the wall clock of an IANA time zone, with the zone data of the JavaScript engine.

/** Milliseconds since 1970: of an instant, or of the same reading of a clock in UTC. */
export interface TimeZone {
  readonly toWallClock: (instant: number) => number;
  /** A time that the clock skips in spring is moved forward; of one that it shows twice in autumn the first is meant. */
  readonly toInstant: (wallClock: number) => number;
}

/** Throws a `RangeError` for a name that the engine does not know. */
export function compileTimeZone(name: string): TimeZone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const toWallClock = (instant: number): number => {
    const part: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(instant)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
  const offsetAt = (instant: number): number => toWallClock(instant) - Math.floor(instant / 1000) * 1000;
  return {
    toWallClock,
    toInstant(wallClock) {
      // The offset a day earlier applies until the clock changes: with it, an hour that comes twice is the first one.
      const before = wallClock - offsetAt(wallClock - DAY_MS);
      if (toWallClock(before) === wallClock) return before;
      const after = wallClock - offsetAt(wallClock + DAY_MS);
      return toWallClock(after) === wallClock ? after : before;
    },
  };
}

const DAY_MS = 86_400_000;
