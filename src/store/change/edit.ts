// Writes a reviewer's edit of one posting: to the open change, and as overrides for later pulls.
import type { Reason } from '../../plan/desired-change.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { Fields, Posting } from '../../posting/posting.ts';
import type { OpenChangeRow } from '../backlog/open-change.ts';
import { lockKey, lockOutcomesShared } from '../locks/advisory-locks.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import { dropEdits, noteEdits } from '../review/override.ts';

/** A running pull reads postings without the edit and would undo it, so an edit waits for it, at most this long. */
const WAIT_FOR_PULL_MS = 10_000;
const LOCK_NOT_AVAILABLE = '55P03';

/** Keeps pulls of the feed from starting until the transaction ends. Returns false if a running one takes too long. */
export async function keepPullsOut(tx: Queryable, feed: FeedName): Promise<boolean> {
  await tx.query(`set local lock_timeout = ${WAIT_FOR_PULL_MS}`);
  try {
    await tx.query('savepoint waiting');
    await tx.query('select pg_advisory_xact_lock($1)', [lockKey('pull', feed)]);
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
    await tx.query('rollback to savepoint waiting');
    return false;
  }
  await tx.query('set local lock_timeout = 0');
  await lockOutcomesShared(tx, [feed]);
  return true;
}

/** An edited posting. */
export interface Edited {
  /** The posting with all edits. */
  readonly posting: Posting;
  /** Why it cannot be sent as it is now; `undefined` if it can. */
  readonly reason: Reason | undefined;
  /** The fields as the feed has them. */
  readonly source: Fields;
  /** All edits that apply now; any others are removed. */
  readonly edits: Fields;
}

/** Writes the edit to a change that the transaction has locked. */
export async function writeEdit(tx: Queryable, change: OpenChangeRow, edited: Edited): Promise<void> {
  const { posting, reason, source, edits } = edited;
  const state = reason === undefined ? 'ready' : 'rejected';
  await tx.query(
    `update change set fields = $2, content_hash = $3, invalid = $4, state = $5, target_state = $5, reason = $6, since = now(),
       attempts = 0, not_before = '-infinity', revision = nextval('revision_number')
     where id = $1`,
    [
      change.id,
      toJsonb(posting.fields),
      posting.contentHash,
      reason !== undefined,
      state,
      reason === undefined ? null : toJsonb(reason),
    ],
  );
  await dropEdits(tx, change.feed, change.key);
  await noteEdits(tx, change.feed, change.key, source, edits);
}
