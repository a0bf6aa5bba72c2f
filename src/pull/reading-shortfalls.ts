// Collects why a reading is not proven complete, apart from its unreadable records.
import type { FeedReading } from '../feed/feed-reading.ts';
import { describeClocks } from '../feed/reading-clock.ts';
import type { FeedSetup } from './feed-setup.ts';
import type { PullLedger } from './pull-ledger.ts';

/** For people; empty: nothing but unreadable records can make the feed incomplete. */
export function shortfallsOf(
  reading: Extract<FeedReading, { kind: 'read' }>,
  { repeats, records }: Pick<PullLedger, 'repeats' | 'records'>,
  { minRecords }: Pick<FeedSetup, 'minRecords'>,
): readonly string[] {
  const repeated = repeats?.shortfall(reading.pages ?? []);
  return [
    ...reading.shortfalls,
    ...(repeated === undefined ? [] : [repeated]),
    ...tooFewShortfall(records, minRecords),
  ];
}

function tooFewShortfall(seen: number, minRecords: number | undefined): string[] {
  if (minRecords === undefined || seen >= minRecords) return [];
  const records = seen === 1 ? '1 record' : `${seen} records`;
  return [`the feed has ${records}, fewer than the configured minimum of ${minRecords}`];
}

/** @param count the records about whose dates the clocks of the reading do not agree */
export function uncertainShortfall(count: number, { clock }: Pick<FeedSetup, 'clock'>): string[] {
  if (count === 0 || clock === undefined) return [];
  const records = count === 1 ? '1 record is a posting' : `${count} records are postings`;
  return [`whether ${records} by their dates is uncertain: ${describeClocks(clock.time)}`];
}
