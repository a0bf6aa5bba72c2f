// After a restore from a backup: deletes that it has waiting may be of postings that are back, so the next complete pull decides again.
import { heldBecause } from '../../plan/delete-guard.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';

const REASON = heldBecause(
  'restored',
  'the database was restored from a backup, and the posting may be back: the next complete pull of the feed decides again',
);

/**
 * Holds all deletes that were not done, approved or not, also those that the site has refused: a person who sends one again knows as
 * little. Those under way when the backup was made are held once they end. Returns how many.
 */
export async function holdRestoredDeletes(tx: Queryable): Promise<number> {
  const [row] = await tx.query<{ n: number }>(
    `with held as (
       update change set target_state = 'held', reason = $1, approved = false, attempts = 0, not_before = '-infinity',
         state = case when attempt_token is null then 'held' else state end,
         since = case when attempt_token is null then now() else since end,
         revision = case when attempt_token is null then nextval('revision_number') else revision end
       where desired = 'absent' and (state in ('ready', 'failed', 'rejected') or attempt_token is not null) returning 1)
     select count(*) as n from held`,
    [toJsonb(REASON)],
  );
  return row?.n ?? 0;
}
