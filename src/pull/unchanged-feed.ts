// Fast path for a small feed whose records are all unchanged: ends the pull without the tables and statements of a
// plan.
import type { RecordBatch } from '../feed/batch/record-batch.ts';
import type { FeedReading, RecordSink } from '../feed/feed-reading.ts';
import type { OpenedFeed } from '../feed/read-feed.ts';
import { nextFilled } from '../plan/source-faults.ts';
import { interpretedHash } from '../posting/hash.ts';
import { hasPlaces } from '../posting/places.ts';
import type { Database } from '../store/postgres/database.ts';
import { anyUnexpired } from '../store/pull/posting-expiry.ts';
import { commitUnchanged } from '../store/pull/pull-commit.ts';
import type { PullSubject } from '../store/pull/pull-transaction.ts';
import { copyOf, type FeedSetup, listsEntries } from './feed-setup.ts';
import { MOST_LISTED } from './record-intake.ts';

/** For larger feeds, the fixed cost of planning no longer matters. */
const MAX_RECORDS = MOST_LISTED;

/**
 * Reads only the record hashes of the feed and commits the pull if they equal those of all the feed's mappings and skipped
 * records and no change is open. The caller knows that nothing of the feed is due by itself. Returns whether it did; if not, nothing
 * was done and the feed must be planned.
 */
export async function pullUnchanged(
  setup: FeedSetup,
  db: Database,
  subject: PullSubject,
  opened: OpenedFeed,
): Promise<boolean> {
  // Records and mappings are not one to one.
  if (hasPlaces(setup.mapping)) return false;
  if (await anyUnexpired(db, setup.feed, setup.expireAfterDays)) return false;
  const hashes = new Set<string>();
  let usable = true;
  const sink: RecordSink = {
    take(batch) {
      usable &&= noteHashes(batch, setup.interpretation, hashes) && hashes.size <= MAX_RECORDS;
    },
    drain: () => undefined,
  };
  const reading = await opened.read(sink, {});
  if (!usable || !provesAll(reading, setup)) return false;
  const { bytes, version, weak, sources } = reading;
  return commitUnchanged(db, subject, {
    hashes,
    bytes,
    version,
    weak: weak?.reason,
    copy: copyOf(setup, reading),
    listedRecords: listsEntries(setup, reading) ? [...hashes].map((hash) => Buffer.from(hash, 'hex')) : undefined,
    filledSources: sources && nextFilled(undefined, sources, []),
    expires: setup.expireAfterDays !== undefined,
  });
}

/** Collects the record hashes. Returns false if a record is oversized or a hash appears twice. */
function noteHashes(batch: RecordBatch, interpretation: Buffer, hashes: Set<string>): boolean {
  for (let record = 0; record < batch.count; record++) {
    if (batch.oversizedLengthOf(record) > 0) return false;
    const hash = interpretedHash(batch.hashes, batch.hashAt(record), interpretation).toString('hex');
    if (hashes.has(hash)) return false;
    hashes.add(hash);
  }
  return true;
}

function provesAll(reading: FeedReading, { minRecords = 0 }: FeedSetup): reading is FeedReading & { kind: 'read' } {
  return reading.kind === 'read' && reading.shortfalls.length === 0 && reading.records >= Math.max(1, minRecords);
}
