// Streams the record hashes of a feed's mappings and open changes into the compact index that a pull looks records up in.
import pg from 'pg';
import { RecordIndex, RecordMark } from '../plan/record-index.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { Session } from './database.ts';
import { streamHashes } from './hash-rows.ts';

/**
 * Loads the index of one feed: counts, so that no more memory is taken than there are hashes, and streams them.
 * @param distrust the field mapping changed since the hashes were noted: every record is to be parsed again.
 */
export async function loadRecordIndex(session: Session, feed: FeedName, distrust: boolean): Promise<RecordIndex> {
  const [size] = await session.query<{ n: number }>(
    'select (select count(*) from mapping where feed = $1) + (select count(*) from change where feed = $1) as n',
    [feed],
  );
  const index = new RecordIndex(size?.n ?? 0);
  const name = pg.escapeLiteral(feed);
  const known = distrust ? RecordMark.contested : RecordMark.settled;
  const wished = distrust ? RecordMark.contested : RecordMark.wished;
  const add = (bytes: Buffer, at: number, mark: number) => index.add(bytes, mark as RecordMark, at);
  const expect = (bytes: Buffer, at: number) => index.expect(bytes, at);
  // A posting that was missing of late is planned again, so that its count of missing pulls is cleared.
  await streamHashes(
    session,
    `select m.record_hash,
        (case when c.key is null and m.missing_pulls = 0 then ${known} else ${RecordMark.contested} end)::int2
      from mapping m left join change c on c.feed = m.feed and c.key = m.key where m.feed = ${name}`,
    add,
    expect,
  );
  // What is in flight may become the mapping's record while the feed streams.
  await streamHashes(
    session,
    `select sent_record_hash, ${RecordMark.contested}::int2 from change where feed = ${name} and sent_record_hash is not null`,
    add,
  );
  await streamHashes(
    session,
    `select record_hash, ${wished}::int2 from change where feed = ${name} and wanted = 'present' and not gone`,
    add,
    expect,
  );
  return index;
}
