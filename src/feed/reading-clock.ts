// The time of one reading, by which postings expire. It stays the same for all documents and details of the reading.
import type { ReadingTime } from '../posting/dates.ts';

export interface ReadingClock {
  readonly time: ReadingTime;
  /** Takes what the source's clock said when it sent a document, in milliseconds since 1970. The first one counts. */
  note(sentAt: number | undefined): void;
}

/** Other times are those of a clock that was never set, or no times. */
const [FIRST_TIME, LAST_TIME] = [Date.UTC(2000), Date.UTC(9999)];

/**
 * Starts the clock of a reading. @param now by the clock of the database, which all processes share: that of a process may
 * be wrong, and then its pulls would delete what others create.
 */
export function startClock(now = Date.now()): ReadingClock {
  const startedAt = performance.now();
  let time: ReadingTime = { now };
  return {
    get time() {
      return time;
    },
    note(sentAt) {
      if (sentAt === undefined || sentAt < FIRST_TIME || sentAt > LAST_TIME || time.source !== undefined) return;
      time = { now, source: sentAt - (performance.now() - startedAt) };
    },
  };
}

/** Says how the clocks differ, for people. */
export const describeClocks = ({ now, source = now }: ReadingTime): string =>
  `the source's clock says ${shown(source)}, that of the database ${shown(now)}; set right the one that is wrong`;

const shown = (time: number): string =>
  new Date(time)
    .toISOString()
    .replace('T', ' ')
    .replace(/:\d\d\.\d+Z$/, ' UTC');
