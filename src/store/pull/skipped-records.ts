// Stores the hashes of skipped records, so that the next pull recognises them without parsing them.
import pg from 'pg';
import { RecordIndex, RecordMark } from '../../compact/record-index.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { streamHashes } from '../mapping/hash-rows.ts';
import type { Session } from '../postgres/database.ts';

export const SKIPPED_COLUMNS = { feed: 'text', record_hash: 'bytea' } as const;

const BATCH = 10_000;

/** The stored hashes of a feed, marked `mapped`. */
export async function loadSkippedIndex(session: Session, feed: FeedName): Promise<RecordIndex> {
  const [size] = await session.query<{ n: number }>('select count(*) as n from skipped_record where feed = $1', [feed]);
  const index = new RecordIndex(size?.n ?? 0);
  await streamHashes(
    session,
    `select record_hash, ${RecordMark.mapped}::int2 from skipped_record where feed = ${pg.escapeLiteral(feed)}`,
    (bytes, at, mark) => index.add(bytes, mark as RecordMark, at),
  );
  return index;
}

/** Removes hashes that the feed no longer has. */
export async function removeSkipped(session: Session, feed: FeedName, hashes: Iterable<Buffer>): Promise<void> {
  let batch: Buffer[] = [];
  const flush = () =>
    session.query('delete from skipped_record where feed = $1 and record_hash = any($2::bytea[])', [feed, batch]);
  for (const hash of hashes) {
    batch.push(hash);
    if (batch.length < BATCH) continue;
    await flush();
    batch = [];
  }
  if (batch.length > 0) await flush();
}
