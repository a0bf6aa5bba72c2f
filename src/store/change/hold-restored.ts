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

/**
 * Holds all deletes that were not done, approved or not, also those that the site has refused: a person who sends one again knows as
 * little. Those under way when the backup was made are held once they end. Those that were held get a new revision: no action on many
 * entries that a person began before goes on with them. Returns how many were not held before.
 */
export async function holdRestoredDeletes(tx: Queryable): Promise<number> {
  await tx.query(`update change set revision = nextval('revision_number') where desired = 'absent' and state = 'held'`);
  const [row] = await tx.query<{ n: number }>(
    `with held as (
       update change set target_state = 'held', approved = false, attempts = 0, not_before = '-infinity',
         reason = case when state = 'in_doubt' then ${retargetedReason('change', '$1::jsonb')} else $1 end,
         state = case when attempt_token is null then 'held' else state end,
         since = case when attempt_token is null then now() else since end,
         revision = case when attempt_token is null then nextval('revision_number') else revision end
       where desired = 'absent' and (state in ('ready', 'failed', 'rejected') or attempt_token is not null) returning 1)
     select count(*) as n from held`,
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
    `update change set state = 'held', target_state = 'held', reason = $3, approved = false, since = now(), attempts = 0,
       not_before = '-infinity'
     where feed = $1 and key = $2 and desired = 'absent' and state in ('ready', 'failed', 'rejected')`,
    [feed, key, toJsonb(heldBecause('restored', why))],
  );
}
