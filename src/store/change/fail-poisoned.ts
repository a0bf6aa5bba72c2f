// Puts a change into review that no worker could process.

import type { Database } from '../postgres/database.ts';
import { isPassing } from '../postgres/transient-error.ts';
import type { PostingRef } from './attempt.ts';
import { changeReason } from './change-reason.ts';

/**
 * Fails a change that is ready, so that it is not taken up again and again. One that is being sent is left alone: its
 * attempt decides, or is given back as an orphan. An error of the database that will pass says nothing against a change.
 */
export async function failPoisoned(db: Database, posting: PostingRef, error: Error): Promise<void> {
  if (isPassing(error)) return;
  await db.query(
    `update change set state = 'failed', since = now(), reason = $3
     where feed = $1 and key = $2 and state = 'ready'`,
    [posting.feed, posting.key, changeReason('poisoned', `it could not be processed: ${error.message}`)],
  );
}
