// Writes reviewers' edits: to the open change or, of a posting with a job, to a new one, and as overrides for later pulls.
import type { Reason } from '../../plan/desired-change.ts';
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Fields, Posting } from '../../posting/posting.ts';
import { lockKey, lockOutcomesShared } from '../locks/advisory-locks.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import { isLockTaken } from '../postgres/transient-error.ts';
import { unreadHashSql } from '../pull/unread-hash.ts';
import type { OpenChangeRow } from './open-change.ts';
import { dropEdits, noteEdits, type PostingName } from './override.ts';

/** A pull that plans postings without the edit would undo it, so an edit waits for it, at most this long. */
const WAIT_FOR_PULL_MS = 10_000;

/**
 * Keeps pulls of the feed from planning until the transaction ends. Returns false if one takes too long. A pull that requests
 * details is not planning yet.
 */
export async function keepPullsOut(tx: Queryable, feed: FeedName): Promise<boolean> {
  await markEdit(tx, feed);
  await tx.query(`set local lock_timeout = ${WAIT_FOR_PULL_MS}`);
  try {
    await tx.query('savepoint waiting');
    await tx.query('select pg_advisory_xact_lock($1)', [lockKey('pull', feed)]);
  } catch (error) {
    if (!isLockTaken(error)) throw error;
    await tx.query('rollback to savepoint waiting');
    return false;
  }
  await tx.query('set local lock_timeout = 0');
  await lockOutcomesShared(tx, [feed]);
  return true;
}

/**
 * The same also while a pull requests details: it has noted which records are known, and plans only the others. Returns false if
 * one does.
 */
export async function keepAllPullsOut(tx: Queryable, feed: FeedName): Promise<boolean> {
  return (await keepPullsOut(tx, feed)) && (await keepDetailsOut(tx, feed));
}

/** The same for a transaction that keeps pulls out already. Returns false if one requests details. */
export async function keepDetailsOut(tx: Queryable, feed: FeedName): Promise<boolean> {
  const [row] = await tx.query<{ got: boolean }>('select pg_try_advisory_xact_lock($1) as got', [
    lockKey('details', feed),
  ]);
  return row?.got === true;
}

/** The same as {@link keepPullsOut} without waiting for a running pull. */
export async function tryToKeepPullsOut(tx: Queryable, feed: FeedName): Promise<boolean> {
  await markEdit(tx, feed);
  const [row] = await tx.query<{ got: boolean }>('select pg_try_advisory_xact_lock($1) as got', [
    lockKey('pull', feed),
  ]);
  if (row?.got !== true) return false;
  await lockOutcomesShared(tx, [feed]);
  return true;
}

/** Shows pulls that their lock is held for this transaction only, so they wait for it; see `lockFeed`. */
const markEdit = (tx: Queryable, feed: FeedName) =>
  tx.query('select pg_advisory_xact_lock_shared($1)', [lockKey('edit', feed)]);

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

/** An edit of one change. */
export interface PlannedEdit {
  readonly change: Pick<OpenChangeRow, 'id' | 'feed' | 'key'>;
  readonly edited: Edited;
}

/** Writes edits to changes that the transaction has locked. */
export async function writeEdits(tx: Queryable, edits: readonly PlannedEdit[]): Promise<void> {
  await tx.query(
    `update change c set fields = e.fields, content_hash = e.content_hash, invalid = e.invalid, state = e.state,
       target_state = e.state, reason = e.reason, since = now(), attempts = 0, not_before = '-infinity',
       revision = nextval('revision_number')
     from unnest($1::bigint[], $2::json[], $3::bytea[], $4::boolean[], $5::text[], $6::jsonb[])
       e(id, fields, content_hash, invalid, state, reason)
     where c.id = e.id`,
    [
      edits.map(({ change }) => change.id),
      edits.map(({ edited }) => toJsonb(edited.posting.fields)),
      edits.map(({ edited }) => edited.posting.contentHash),
      edits.map(({ edited }) => edited.reason !== undefined),
      edits.map(({ edited }) => (edited.reason === undefined ? 'ready' : 'rejected')),
      edits.map(({ edited }) => (edited.reason === undefined ? null : toJsonb(edited.reason))),
    ],
  );
  await replaceEdits(
    tx,
    edits.map(({ change, edited }) => ({ ...change, edited })),
  );
}

/** Records what is edited now of these postings, in place of what was. */
async function replaceEdits(
  tx: Queryable,
  postings: readonly (PostingName & { readonly edited: Edited })[],
): Promise<void> {
  await dropEdits(tx, postings);
  await noteEdits(
    tx,
    postings.map(({ feed, key, edited: { source, edits } }) => ({ feed, key, source, edits })),
  );
  await haveReadAgain(tx, postings);
}

/**
 * An update may be withdrawn before it is sent, as by an undo, with the record that the site has accepted still in the feed: the next
 * pull then plans the edit anew. Once it is accepted, the mapping gets the hash of the record again.
 */
async function haveReadAgain(tx: Queryable, postings: readonly PostingName[]): Promise<void> {
  await tx.query(
    `update mapping m set record_hash = ${unreadHashSql('unsent edit', 'm.key')}
     from unnest($1::text[], $2::text[]) p(feed, key) join change c on c.feed = p.feed and c.key = p.key
     where m.feed = c.feed and m.key = c.key and m.record_hash = c.record_hash`,
    [postings.map(({ feed }) => feed), postings.map(({ key }) => key)],
  );
}

/** Locks the mapping of a posting until the transaction ends, so that what is read of its job afterwards stays. */
export async function lockJob(tx: Queryable, feed: FeedName, key: PostingKey): Promise<void> {
  await tx.query('select from mapping where feed = $1 and key = $2 for update', [feed, key]);
}

/**
 * Returns the number of the change; `undefined`: one is open, or the posting has no job. The caller keeps all pulls out. The change is of no
 * pull and counts towards none until one sees its posting: it is neither shown nor undone with what the last pull did.
 */
export async function openEditedUpdate(
  tx: Queryable,
  feed: FeedName,
  key: PostingKey,
  edited: Edited,
): Promise<number | undefined> {
  const { fields, contentHash } = edited.posting;
  const [change] = await tx.query<{ id: number }>(
    `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, unseen, state)
     select feed, key, site, 'present', 'update', $3, record_hash, $4, true, 'ready' from mapping where feed = $1 and key = $2
     on conflict do nothing returning id`,
    [feed, key, toJsonb(fields), contentHash],
  );
  if (change === undefined) return undefined;
  await tx.query(
    `insert into former_document (feed, key, pull, whole, edited)
     select feed, $2, current_pull, false, true from feed_state where feed = $1 and current_pull is not null`,
    [feed, key],
  );
  await replaceEdits(tx, [{ feed, key, edited }]);
  return change.id;
}

/**
 * The caller keeps all pulls out, also those that request details, and no attempt of the posting is open: its end would record the
 * hash of the record again. A worker that has already read the change holds its old revision, so it can't claim it.
 */
export async function planAgain(tx: Queryable, feed: FeedName, key: PostingKey): Promise<void> {
  const unread = unreadHashSql('planned again');
  await tx.query(`update mapping set record_hash = ${unread} where feed = $1 and key = $2`, [feed, key]);
  await tx.query(
    `update change set record_hash = case when desired = 'present' then ${unread} end, revision = nextval('revision_number')
     where feed = $1 and key = $2`,
    [feed, key],
  );
  // The next pull must read the feed, changed or not.
  await tx.query('update feed_state set source_version = null where feed = $1', [feed]);
}
