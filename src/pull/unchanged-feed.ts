// Ends a pull of a small feed of which every record is as the site has it, without the tables and statements of a plan.

import type { RecordBatch } from '../feed/batch/record-batch.ts';
import type { FeedReading, RecordSink } from '../feed/feed-reading.ts';
import type { OpenedFeed } from '../feed/read-feed.ts';
import { requestDigest } from '../feed/source/request-digest.ts';
import { interpretedHash } from '../posting/hash.ts';
import type { Database } from '../store/postgres/database.ts';
import type { PullSubject } from '../store/pull/pull-transaction.ts';
import { commitUnchanged } from '../store/pull/pull-unchanged.ts';
import type { FeedSetup } from './feed-setup.ts';

/** Beyond that a plan costs no more than what it plans. */
const MOST_RECORDS = 2_000;

/**
 * Reads the feed for its record hashes alone, and commits the pull where they are those of all of the feed's mappings and
 * nothing is open. Gives whether it did; if not, nothing was done, and the feed has to be planned.
 */
export async function pullUnchanged(
  setup: FeedSetup,
  db: Database,
  subject: PullSubject,
  opened: OpenedFeed,
): Promise<boolean> {
  const hashes = new Set<string>();
  let usable = true;
  const sink: RecordSink = {
    take(batch) {
      usable &&= noteHashes(batch, setup.interpretation, hashes) && hashes.size <= MOST_RECORDS;
    },
    drain: () => undefined,
  };
  const reading = await opened.read(sink, {});
  if (!usable || !provesAll(reading, setup)) return false;
  const { bytes, validators } = reading;
  const { etag, lastModified, address } = validators;
  const request = requestDigest(setup.source, setup);
  return commitUnchanged(db, subject, { hashes, bytes, validators: { etag, lastModified, address, request } });
}

/** Whether each record can be told by its hash. */
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
