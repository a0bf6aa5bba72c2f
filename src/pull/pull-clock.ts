// The clock of one pull, by which the postings of some formats expire, and conditions on dates are judged, in the list and in the details.
import { formatOf } from '../feed/format/formats.ts';
import { type ReadingClock, startClock } from '../feed/reading-clock.ts';
import { dateConditionsOf } from '../posting/mapping-paths.ts';
import { databaseTime } from '../store/change/site-search.ts';
import type { Queryable } from '../store/postgres/database.ts';
import type { FeedSetup } from './feed-setup.ts';

/** Starts by the clock of the database. `undefined` if the time makes no difference for the feed. */
export async function pullClock(
  db: Queryable,
  { source, mapping }: Pick<FeedSetup, 'source' | 'mapping'>,
): Promise<ReadingClock | undefined> {
  const formats = [source.format, ...(source.details === undefined ? [] : [source.details.document.format])];
  const isTimed = formats.some((name) => formatOf(name).dependsOnTime === true) || dateConditionsOf(mapping).length > 0;
  return isTimed ? startClock((await databaseTime(db)).getTime()) : undefined;
}

/** The setup whose records and details are read at the time of the pull. */
export function atTime(setup: FeedSetup, clock: ReadingClock | undefined): FeedSetup {
  if (clock === undefined) return setup;
  const { details } = setup.source;
  if (details === undefined) return { ...setup, clock };
  const document = { ...details.document, clock };
  return { ...setup, clock, source: { ...setup.source, details: { ...details, document } } };
}
