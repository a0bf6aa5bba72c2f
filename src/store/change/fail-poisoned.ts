// Moves a change that no worker could process into review.

import type { PostingRef } from '../../posting/identifiers.ts';
import type { Database } from '../postgres/database.ts';
import { isPassing } from '../postgres/transient-error.ts';
import { changeReason } from './change-reason.ts';

/**
 * Fails a ready change so that no worker claims it again. A change in flight is left to its attempt, or to the recovery of
 * lost attempts. A transient database error does not count against a change.
 */
export async function failPoisoned(db: Database, posting: PostingRef, error: Error): Promise<void> {
  if (isPassing(error)) return;
  await db.query(
    `update change set state = 'failed', since = now(), reason = $3
     where feed = $1 and key = $2 and state = 'ready'`,
    [posting.feed, posting.key, changeReason('poisoned', `it could not be processed: ${error.message}`)],
  );
}
