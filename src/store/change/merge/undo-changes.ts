// Undoes a pull: reads what is to be set back or deleted, withdraws its unsent changes, and deletes the jobs that it created. Like a pull's
// changes, those that may replace an open change wait in the table `superseding_change` for the merge.
import type { Reason } from '../../../plan/desired-change.ts';
import { contentBefore, type FormerValues, type UndoLeftOut, type UndoneSubject } from '../../../plan/undo-posting.ts';
import { contentHash } from '../../../posting/hash.ts';
import type { FeedName, PostingKey } from '../../../posting/identifiers.ts';
import type { Fields } from '../../../posting/posting.ts';
import { toJsonb } from '../../postgres/copy-rows.ts';
import { columnsOf, readNumber, type Session, type Stored, withoutNulls } from '../../postgres/database.ts';
import { inBatches } from '../../postgres/stream-rows.ts';
import type { PullTransaction } from '../../pull/pull-transaction.ts';

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
  await session.query(
    'insert into undo_left_out select * from unnest($1::text[], $2::text[])',
    columnsOf(postings, 'key', 'why'),
  );
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
export const withdrawUndone = ({ session, subject: { feed } }: PullTransaction): Promise<number> =>
  readNumber(
    session,
    `with gone as (
       delete from change c using undo_withdrawal w
       where c.feed = $1 and c.key = w.key and c.attempt_token is null and c.state <> 'discarded' returning 1)
     select count(*) as n from gone`,
    [feed],
  );

export const countUndoDeletes = ({ session }: PullTransaction): Promise<number> =>
  readNumber(session, 'select count(*) as n from undo_delete');

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

/** What an undone pull did not see is no sign that a posting is gone: only the pulls since then count. */
export async function restartGrace(
  { session, subject: { feed, pull } }: PullTransaction,
  undone: number,
): Promise<void> {
  await session.query(
    `with since as (select count(*)::int as n from pull where feed = $1 and id > $2 and id < $3 and complete)
     update mapping m set missing_pulls = since.n from since where m.feed = $1 and m.missing_pulls > since.n`,
    [feed, undone, pull],
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

export interface UndoPosting extends UndoneSubject {
  readonly key: PostingKey;
}

/** Documents are a few kilobytes each. */
const READ_AT_ONCE = 500;

/**
 * Streams them in the order of their keys. Changed since: a later pull has sent something for the posting, a person has edited it
 * after the pull, or another one's change is open; or a job was mapped in place of one that the pull deleted.
 */
export async function* undoSubjects(session: Session, feed: FeedName, pull: number): AsyncGenerator<UndoPosting[]> {
  const select = `with touched as (
      select key from former_document where feed = $1 and pull = $2 and not edited
      union select key from mapping where feed = $1 and created_by = $2
      union select key from change where feed = $1 and pull = $2)
    select t.key, m.key is not null as "isMapped", m.content_hash as "contentHash", coalesce(m.created_by = $2, false) as "isOfPull",
      coalesce(m.adopted, false) as "isAdopted", d.fields as document, coalesce(f.requests, '[]') as requests,
      u.key is not null as "isUncertain", c.attempt_token is not null as attempting,
      l.key is not null or coalesce(m.created_by > $2, false) or coalesce(c.pull <> $2, c.key is not null) as changed
    from touched t
    left join mapping m on m.feed = $1 and m.key = t.key
    left join document d on d.feed = $1 and d.key = t.key
    left join change c on c.feed = $1 and c.key = t.key
    left join uncertain_write u on u.feed = $1 and u.key = t.key and (u.fields is not null or u.until > now())
    left join (select key, json_agg(json_build_object('fields', fields, 'whole', whole) order by id desc) as requests
      from former_document where feed = $1 and pull = $2 and not edited group by key) f on f.key = t.key
    left join (select distinct key from former_document where feed = $1 and (pull > $2 or pull = $2 and edited)) l on l.key = t.key
    order by t.key`;
  for await (const rows of inBatches<SubjectRow>(session, 'undo_subject', select, READ_AT_ONCE, [feed, pull]))
    yield rows.map(subjectOf);
}

interface SubjectRow {
  readonly key: PostingKey;
  readonly isMapped: boolean;
  /** Null without a job. */
  readonly contentHash: Buffer | null;
  readonly isOfPull: boolean;
  readonly isAdopted: boolean;
  readonly document: Fields | null;
  readonly requests: readonly Stored<FormerValues>[];
  readonly isUncertain: boolean;
  readonly attempting: boolean;
  readonly changed: boolean;
}

function subjectOf({
  key,
  isMapped,
  contentHash: hash,
  isOfPull,
  isAdopted,
  attempting,
  ...row
}: SubjectRow): UndoPosting {
  const requests = row.requests.map(withoutNulls<FormerValues>);
  const isOwnCreate = isOfPull && !isAdopted;
  const isReplaced = requests[0]?.whole === true && isMapped && !isOwnCreate;
  return {
    key,
    before: beforeOf(requests, isMapped, isOwnCreate, row.document ?? undefined),
    actual: isMapped ? { contentHash: hash as Buffer, uncertain: row.isUncertain } : undefined,
    accepted: requests.length > 0 || isOfPull,
    foundInDoubt: isOfPull && isAdopted && requests.length === 0,
    attempting,
    changedSince: row.changed || isReplaced,
  };
}

function beforeOf(
  requests: readonly FormerValues[],
  mapped: boolean,
  isOwnCreate: boolean,
  document: Fields | undefined,
): UndoneSubject['before'] {
  if (requests.length === 0 && (isOwnCreate || !mapped)) return { kind: 'absent' };
  const fields = contentBefore(requests, document);
  return fields === undefined ? { kind: 'unknown' } : { kind: 'present', fields, contentHash: contentHash(fields) };
}
