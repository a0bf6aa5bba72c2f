// Releases changes that a broken commit may have claimed: nothing was sent for them, so none of them is in doubt.

import { type RetryPolicy, retry } from '../../flow/retry.ts';
import type { PostingRef } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { isPassing } from '../postgres/transient-error.ts';
import { operationWithoutJob, targetState } from './target-state.ts';

/** A claim whose statement got no response, so it may or may not be committed. */
export interface LostClaim extends PostingRef {
  readonly token: string;
  readonly revision: number;
}

/** As long as the process lives; waiting does not keep it alive. */
const EVERY_HALF_SECOND: RetryPolicy = { firstDelayMs: 500, maxDelayMs: 500 };

/**
 * Undoes these claims as soon as the database responds again. If the process ends first, they count as those of a dead
 * worker, and a create becomes a doubt.
 */
export async function giveBackClaims(db: Queryable, lost: readonly LostClaim[]): Promise<void> {
  const giveBack = () =>
    db.query(
      // Another process may already have recovered them as those of a dead worker.
      `update change c set state = case when c.revision = a.revision then 'ready' else ${targetState('c')} end, since = now(),
         operation = ${operationWithoutJob('c')},
         attempts = greatest(0, c.attempts - 1), not_before = '-infinity',
         reason = case when c.target_state in ('held', 'rejected') then c.reason end,
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
  await retry(giveBack, EVERY_HALF_SECOND, { worthAgain: isPassing, keepsAlive: false }).catch(() => undefined);
}
