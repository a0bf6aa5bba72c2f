// Has the next pull plan a posting anew, as if its record had never been read.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import { unreadHashSql } from '../mapping/unread-hash.ts';
import type { Queryable } from '../postgres/database.ts';

/**
 * The caller keeps all pulls out, also those that request details, and no attempt of the posting is open: its end would record the
 * hash of the record again. A worker that has already read the change holds its old revision, so it can't claim it.
 */
export async function planAgain(tx: Queryable, feed: FeedName, key: PostingKey): Promise<void> {
  const unread = unreadHashSql('planned again');
  await tx.query(`update mapping set record_hash = ${unread} where feed = $1 and key = $2`, [feed, key]);
  await tx.query(
    `update change set record_hash = case when desired = 'present' then ${unread} end, revision = nextval('revision_number')
     where feed = $1 and key = $2`,
    [feed, key],
  );
  // The next pull must read the feed, changed or not.
  await tx.query('update feed_state set source_version = null where feed = $1', [feed]);
}
