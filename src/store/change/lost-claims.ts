// Releases changes that a broken commit may have claimed: nothing was sent for them, so none of them is in doubt.

import type { Queryable } from '../postgres/database.ts';
import { isPassing } from '../postgres/transient-error.ts';
import type { PostingRef } from './attempt.ts';
import { targetState } from './target-state.ts';

/** A claim whose statement got no response, so it may or may not be committed. */
export interface LostClaim extends PostingRef {
  readonly token: string;
  readonly revision: number;
}

const AGAIN_MS = 500;

/**
 * Undoes these claims as soon as the database responds again. If the process ends first, they count as those of a dead
 * worker, and a create becomes a doubt.
 */
export async function giveBackClaims(db: Queryable, lost: readonly LostClaim[]): Promise<void> {
  for (;;) {
    try {
      await db.query(
        // Another process may already have recovered them as those of a dead worker.
        `update change c set state = case when c.revision = a.revision then 'ready' else ${targetState('c')} end, since = now(),
           attempts = greatest(0, c.attempts - 1), not_before = '-infinity', reason = null,
           attempt_token = null, attempt_operation = null, attempt_started = null
         from unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[]) a(feed, key, token, revision)
         where c.feed = a.feed and c.key = a.key and c.attempt_token = a.token`,
        [
          lost.map((claim) => claim.feed),
          lost.map((claim) => claim.key),
          lost.map((claim) => claim.token),
          lost.map((claim) => claim.revision),
        ],
      );
      return;
    } catch (error) {
      if (!isPassing(error)) return;
      await new Promise((resolve) => {
        setTimeout(resolve, AGAIN_MS).unref();
      });
    }
  }
}
