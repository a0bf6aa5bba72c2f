// Writes what undoing a pull does: withdraws its unsent changes, and deletes the jobs that it created. Like a pull's changes,
// those that may replace an open change wait in the table `superseding_change` for the merge.
import type { Reason } from '../../plan/desired-change.ts';
import type { UndoLeftOut } from '../../plan/undo-posting.ts';
import type { PostingKey } from '../../posting/identifiers.ts';
import { inBatches } from '../postgres/cursor.ts';
import type { Session } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import type { PullTransaction } from '../pull/pull-transaction.ts';

const BATCH = 10_000;

/** Creates the tables that collect the postings. Locks the pull's changes, so that none of them is sent meanwhile. */
export async function openUndo({ session, subject: { feed } }: PullTransaction, undone: number): Promise<void> {
  await session.query('create temporary table undo_withdrawal (key text primary key) on commit drop');
  await session.query('create temporary table undo_delete (key text primary key) on commit drop');
  await session.query('create temporary table undo_left_out (key text primary key, why text not null) on commit drop');
  await session.query('select from change where feed = $1 and pull = $2 order by key for update', [feed, undone]);
}

export async function collectLeftOut(
  { session }: PullTransaction,
  postings: readonly { readonly key: PostingKey; readonly why: UndoLeftOut }[],
): Promise<void> {
  if (postings.length === 0) return;
  await session.query('insert into undo_left_out select * from unnest($1::text[], $2::text[])', [
    postings.map(({ key }) => key),
    postings.map(({ why }) => why),
  ]);
}

export async function collectUndone(
  { session }: PullTransaction,
  table: 'undo_withdrawal' | 'undo_delete',
  keys: readonly PostingKey[],
): Promise<void> {
  if (keys.length > 0) await session.query(`insert into ${table} select unnest($1::text[])`, [keys]);
}

/** Streams what {@link collectLeftOut} collected, in the order of the keys. */
export const readLeftOut = (session: Session): AsyncGenerator<{ key: string; why: UndoLeftOut }[]> =>
  inBatches<{ key: string; why: UndoLeftOut }>(
    session,
    'left_out',
    'select key, why from undo_left_out order by key',
    BATCH,
  );

/**
 * Withdraws the collected changes that wait or were refused. What a person has discarded is not sent anyway, and stays discarded.
 * Returns how many were withdrawn.
 */
export async function withdrawUndone({ session, subject: { feed } }: PullTransaction): Promise<number> {
  const [row] = await session.query<{ n: number }>(
    `with gone as (
       delete from change c using undo_withdrawal w
       where c.feed = $1 and c.key = w.key and c.attempt_token is null and c.state <> 'discarded' returning 1)
     select count(*) as n from gone`,
    [feed],
  );
  return row?.n ?? 0;
}

export async function countUndoDeletes({ session }: PullTransaction): Promise<number> {
  const [row] = await session.query<{ n: number }>('select count(*) as n from undo_delete');
  return row?.n ?? 0;
}

/** Sets the collected postings to absent, for the merge. @param reason why all of them are held; `undefined`: they are not. */
export async function deleteUndone(
  { session, subject, supersedingChanges }: PullTransaction,
  reason: Reason | undefined,
): Promise<void> {
  await supersedingChanges.create();
  const target = reason === undefined ? 'ready' : 'held';
  await session.query(
    `insert into superseding_change (feed, key, site, desired, operation, invalid, pull, state, target_state, reason)
     select $1, key, $2, 'absent', 'delete', false, $3, $4, $4, $5 from undo_delete`,
    [subject.feed, subject.site, subject.pull, target, reason === undefined ? null : toJsonb(reason)],
  );
}

/** The changes that the undo leaves open count towards no pull until one sees their postings. */
export async function leaveOthersUncounted({ session, subject: { feed, pull } }: PullTransaction): Promise<void> {
  await session.query(
    `update change set unseen = true
     where feed = $1 and desired = 'present' and pull is distinct from $2 and not unseen and not gone`,
    [feed, pull],
  );
}
