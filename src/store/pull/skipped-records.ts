// Stores the hashes of skipped records, so that the next pull recognises them without parsing them.
import pg from 'pg';
import { type Mark, RecordIndex } from '../../compact/record-index.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { streamHashes } from '../mapping/hash-rows.ts';
import type { Session } from '../postgres/database.ts';

/** What the hash of a record that needs no parsing belongs to. */
export const SkippedMark = {
  /** A record that an earlier pull skipped. */
  skipped: 1,
  /** The record of an expired posting. */
  expired: 2,
  /** A record that this pull was the first to skip. */
  added: 3,
} as const satisfies Record<string, Mark>;

export const SKIPPED_COLUMNS = { feed: 'text', record_hash: 'bytea' } as const;

const BATCH = 10_000;

/** SQL: expired postings whose jobs are gone and which the last pull saw; $1 is the feed. */
export const EXPIRED_ROWS = `from posting_expiry e where e.feed = $1 and e.expired_at is not null and e.record_hash is not null and e.missing_pulls = 0
  and not exists (select from mapping m where m.feed = e.feed and m.key = e.key)`;

/** The stored hashes of a feed, with their {@link SkippedMark}; those of expired postings only if asked for. */
export async function loadSkippedIndex(session: Session, feed: FeedName, withExpired = false): Promise<RecordIndex> {
  const [size] = await session.query<{ n: number }>('select count(*) as n from skipped_record where feed = $1', [feed]);
  const index = new RecordIndex(size?.n ?? 0);
  await streamHashes(
    session,
    `select record_hash, ${SkippedMark.skipped}::int2 from skipped_record where feed = ${pg.escapeLiteral(feed)}`,
    (bytes, at, mark) => index.add(bytes, mark as Mark, at),
  );
  if (withExpired) {
    await streamHashes(
      session,
      `select e.record_hash, ${SkippedMark.expired}::int2 ${EXPIRED_ROWS.replace('$1', pg.escapeLiteral(feed))}`,
      (bytes, at, mark) => index.add(bytes, mark as Mark, at),
    );
  }
  return index;
}

/** Removes hashes that the feed no longer has. */
export const removeSkipped = (session: Session, feed: FeedName, hashes: Iterable<Buffer>): Promise<void> =>
  removeRecords(session, 'skipped_record', feed, hashes);

/** Removes the rows of records of a feed, a batch of hashes at a time. */
export async function removeRecords(
  session: Session,
  table: 'skipped_record' | 'dated_record',
  feed: FeedName,
  hashes: Iterable<Buffer>,
): Promise<void> {
  let batch: Buffer[] = [];
  const flush = () =>
    session.query(`delete from ${table} where feed = $1 and record_hash = any($2::bytea[])`, [feed, batch]);
  for (const hash of hashes) {
    batch.push(hash);
    if (batch.length < BATCH) continue;
    await flush();
    batch = [];
  }
  if (batch.length > 0) await flush();
}
