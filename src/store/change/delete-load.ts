// Counts what the delete guard compares the deletes of a pull with.
import { type DeleteLoad, GUARD_WINDOW_HOURS } from '../../plan/delete-guard.ts';
import type { PullTransaction } from '../pull/pull-transaction.ts';

/** The delete guard's input apart from this pull's own deletes. A job that may have been made counts as made. */
export async function deleteLoad(pullTx: PullTransaction): Promise<Pick<DeleteLoad, 'recent' | 'live' | 'done'>> {
  const [row] = await pullTx.session.query<{ live: number; done: number; waiting: number }>(
    `select (select count(*) from mapping where feed = $1)
         + (select count(*) from change c where c.feed = $1 and c.attempt_operation = 'create' and c.attempt_token is not null
             and not exists (select from mapping m where m.feed = c.feed and m.key = c.key)) as live,
       (select count(*) from deletion where feed = $1 and deleted_at > now() - make_interval(hours => $2)) as done,
       (select count(*) from change where feed = $1 and desired = 'absent' and not approved
          and state <> 'discarded') as waiting`,
    [pullTx.subject.feed, GUARD_WINDOW_HOURS],
  );
  const { live = 0, done = 0, waiting = 0 } = row ?? {};
  return { live, done, recent: done + waiting };
}
