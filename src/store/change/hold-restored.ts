// Deletes that were decided about another state of the site, after a restore from a backup or about a job that was replaced: the next
// complete pull decides again.
import { heldBecause } from '../../plan/delete-guard.ts';
import type { FeedName, PostingKey, SiteJobId } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import { retargetedReason } from './target-state.ts';

const REASON = heldBecause(
  'restored',
  'the database was restored from a backup, and the posting may be back: the next complete pull of the feed decides again',
);

/** Deletes that the site has refused and a person has discarded: reopened, they could be sent again. */
export const DISCARDED_REFUSAL = `state = 'discarded' and discarded_from in ('failed', 'rejected')`;

/**
 * Holds all deletes that were not done, approved or not, also those that the site has refused: a person who sends one again knows as
 * little. Discarded ones are held once they are reopened. Those under way when the backup was made are held once they end. Those that were held get a new revision: no action on many
 * entries that a person began before goes on with them. Returns how many were not held before.
 */
export async function holdRestoredDeletes(tx: Queryable): Promise<number> {
  await tx.query(`update change set revision = nextval('revision_number') where desired = 'absent' and state = 'held'`);
  const [row] = await tx.query<{ n: number }>(
    `with held as (
       update change set target_state = 'held', approved = false, attempts = 0, not_before = '-infinity',
         reason = case when state = 'in_doubt' then ${retargetedReason('change', '$1::jsonb')} else $1 end,
         state = case when attempt_token is null and state <> 'discarded' then 'held' else state end,
         discarded_from = case when state = 'discarded' then 'held' else discarded_from end,
         since = case when attempt_token is null and state <> 'discarded' then now() else since end,
         revision = case when attempt_token is null then nextval('revision_number') else revision end
       where desired = 'absent' and (state in ('ready', 'failed', 'rejected') or ${DISCARDED_REFUSAL} or attempt_token is not null)
       returning state)
     select count(*) as n from held where state <> 'discarded'`,
    [toJsonb(REASON)],
  );
  return row?.n ?? 0;
}

/** The same for the delete of a posting that has another job now: nobody has decided about that one. No request for it is in flight. */
export async function holdDeleteOfReplaced(
  tx: Queryable,
  { feed, key, from, to }: { feed: FeedName; key: PostingKey; from: SiteJobId; to: SiteJobId },
): Promise<void> {
  const why = `the posting got job ${to} in place of job ${from}, which was to be deleted: the next complete pull of the feed decides again`;
  await tx.query(
    `update change set target_state = 'held', reason = $3, approved = false, attempts = 0, not_before = '-infinity',
       state = case when state = 'discarded' then state else 'held' end,
       discarded_from = case when state = 'discarded' then 'held' else discarded_from end,
       since = case when state = 'discarded' then since else now() end
     where feed = $1 and key = $2 and desired = 'absent' and (state in ('ready', 'failed', 'rejected') or ${DISCARDED_REFUSAL})`,
    [feed, key, toJsonb(heldBecause('restored', why))],
  );
}
