// Loads the record hashes of a feed's mappings and open changes into the compact index in which a pull looks up records.
import pg from 'pg';
import { type Mark, RecordIndex, RecordMark } from '../../compact/record-index.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { Session } from '../postgres/database.ts';
import { streamHashes } from '../postgres/stream-rows.ts';
import { hasExpired, joinExpiry } from './posting-expiry.ts';

/**
 * Loads the index of one feed. Counts the hashes first, so that no more memory than needed is taken. Hashes written under
 * another mapping fingerprint are included: they match no record and so show what is missing. The records of expired postings are
 * planned again.
 */
export async function loadRecordIndex(
  session: Session,
  feed: FeedName,
  expireAfterDays?: number,
): Promise<RecordIndex> {
  const [size] = await session.query<{ n: number }>(
    'select (select count(*) from mapping where feed = $1) + (select count(*) from change where feed = $1) as n',
    [feed],
  );
  const index = new RecordIndex(size?.n ?? 0);
  const name = pg.escapeLiteral(feed);
  const add = (bytes: Buffer, at: number, mark: number) => index.add(bytes, mark as Mark, at);
  const expect = (bytes: Buffer, at: number) => index.expect(bytes, at);
  const expired = hasExpired(expireAfterDays);
  const joinM = expireAfterDays === undefined ? '' : joinExpiry('m');
  const joinC =
    expireAfterDays === undefined ? '' : `left join mapping m on m.feed = c.feed and m.key = c.key ${joinExpiry('c')}`;
  // A posting that was missing recently is planned again, so that its count of missing pulls is reset.
  await streamHashes(
    session,
    `select m.record_hash,
        (case when c.key is null and m.missing_pulls = 0 and not ${expired} then ${RecordMark.mapped} else ${RecordMark.superseding} end)::int2
      from mapping m left join change c on c.feed = m.feed and c.key = m.key ${joinM} where m.feed = ${name}`,
    add,
    expect,
  );
  // A request in flight may become the mapping's record while the feed streams, even if its posting has gone missing since.
  await streamHashes(
    session,
    `select sent_record_hash, ${RecordMark.superseding}::int2 from change where feed = ${name} and sent_record_hash is not null`,
    add,
  );
  await streamHashes(
    session,
    `select c.record_hash, (case when c.gone or ${expired} then ${RecordMark.superseding} else ${RecordMark.open} end)::int2
      from change c ${joinC} where c.feed = ${name} and c.desired = 'present'`,
    add,
    expect,
  );
  return index;
}
