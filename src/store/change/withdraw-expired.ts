// Withdraws the deletes of expired postings whose time a person starts anew: ready, held, rejected or failed → none.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import type { Queryable } from '../postgres/database.ts';
import { addOutcomeCount } from '../pull/pull-row.ts';

/**
 * Call it while the postings are still noted as expired. A delete that is being sent is not called back, and one whose outcome is
 * unknown is left to the next pull. What a person discarded stays discarded.
 */
export async function withdrawExpired(tx: Queryable, feed: FeedName, keys: readonly PostingKey[]): Promise<void> {
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
