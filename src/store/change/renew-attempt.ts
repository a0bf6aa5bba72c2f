// Begins the time of an attempt anew: its request was not sent yet, and will be sent later than the claim allowed for.
import type { Queryable } from '../postgres/database.ts';
import type { Attempt } from './attempt.ts';

/** Returns whether the attempt is still open. */
export async function renewAttempt(db: Queryable, { feed, key, token }: Attempt): Promise<boolean> {
  const rows = await db.query(
    `update change set attempt_started = clock_timestamp()
     where feed = $1 and key = $2 and attempt_token = $3 and state = 'sending' returning 1`,
    [feed, key, token],
  );
  return rows.length > 0;
}
