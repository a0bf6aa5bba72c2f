// The clock of one pull, by which the postings of some formats expire, in the list and in the details.
import type { FeedSource } from '../feed/feed-reading.ts';
import { formatOf } from '../feed/format/formats.ts';
import { type ReadingClock, startClock } from '../feed/reading-clock.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { databaseTime } from '../store/site/site-search.ts';
import type { FeedSetup } from './feed-setup.ts';

/** Starts by the clock of the database. `undefined` if the time makes no difference for the feed. */
export async function pullClock(db: Queryable, { format, details }: FeedSource): Promise<ReadingClock | undefined> {
  const formats = [format, ...(details === undefined ? [] : [details.document.format])];
  if (!formats.some((name) => formatOf(name).dependsOnTime === true)) return undefined;
  return startClock((await databaseTime(db)).getTime());
}

/** The setup whose details are read at the time of the pull. */
export function atTime(setup: FeedSetup, clock: ReadingClock | undefined): FeedSetup {
  const { details } = setup.source;
  if (details === undefined || clock === undefined) return setup;
  const document = { ...details.document, clock };
  return { ...setup, source: { ...setup.source, details: { ...details, document } } };
}
