// Starts the time of postings anew, and withdraws the deletes of those that had expired: ready, held, rejected or failed → none.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import type { Queryable } from '../postgres/database.ts';
import { addOutcomeCount } from '../pull/pull-row.ts';

/**
 * Starts the time of postings anew: those that have expired get a job again, those with a job keep it for longer, and its delete is not
 * sent. Returns the keys of which neither is known. The caller holds the feed's lock.
 */
export async function renewPostings(
  tx: Queryable,
  feed: FeedName,
  keys: readonly PostingKey[],
): Promise<readonly PostingKey[]> {
  await withdrawExpired(tx, feed, keys);
  const rows = await tx.query<{ key: PostingKey }>(
    `insert into posting_expiry as e (feed, key, renewed_at)
     select $1, k.key, now() from (select distinct unnest($2::text[]) as key) k
     where exists (select from mapping m where m.feed = $1 and m.key = k.key)
       or exists (select from posting_expiry x where x.feed = $1 and x.key = k.key)
     on conflict (feed, key) do update set expired_at = null, renewed_at = now() returning key`,
    [feed, keys],
  );
  // The next pull must read the feed, changed or not.
  await tx.query('update feed_state set source_version = null where feed = $1', [feed]);
  const known = new Set(rows.map(({ key }) => key));
  return keys.filter((key) => !known.has(key));
}

/**
 * Call it while the postings are still noted as expired. A delete that is being sent is not called back, and one whose outcome is
 * unknown is left to the next pull. What a person discarded stays discarded.
 */
async function withdrawExpired(tx: Queryable, feed: FeedName, keys: readonly PostingKey[]): Promise<void> {
  await lockOutcomesShared(tx, [feed]);
  const withdrawn = await tx.query(
    `with chosen as (
       select c.id from change c join posting_expiry e on e.feed = c.feed and e.key = c.key
       where c.feed = $1 and c.key = any($2::text[]) and e.expired_at is not null and c.desired = 'absent'
         and c.state in ('ready', 'held', 'rejected', 'failed')
         and not exists (select from uncertain_write u where u.feed = c.feed and u.key = c.key and u.fields is not null)
       order by c.key for update of c)
     delete from change c using chosen where c.id = chosen.id returning c.id`,
    [feed, keys],
  );
  // They no longer count towards the pull.
  await addOutcomeCount(
    tx,
    withdrawn.map(() => ({ feed, outcome: 'dropped' }) as const),
  );
}
