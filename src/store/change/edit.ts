// Writes reviewers' edits: to the open change or, of a posting with a job, to a new one, and as overrides for later pulls.
import type { Reason } from '../../plan/desired-change.ts';
import type { FeedName, PostingKey, PostingRef } from '../../posting/identifiers.ts';
import type { Fields, Posting } from '../../posting/posting.ts';
import { forgetVersions } from '../feed/feed-state.ts';
import { lockKey, lockOutcomesShared } from '../locks/advisory-locks.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { columnsOf, type Queryable, readColumn, readFlag, readMap } from '../postgres/database.ts';
import { isLockTaken } from '../postgres/transient-error.ts';
import { addOutcomeCount } from '../pull/pull-history.ts';
import { unreadHashSql } from '../pull/record-hashes.ts';
import type { OpenChangeRow } from './open-change.ts';

/** A pull that plans postings without the edit would undo it, so an edit waits for it, at most this long. */
const WAIT_FOR_PULL_MS = 10_000;

/**
 * Keeps pulls of the feed from planning until the transaction ends. Returns false if one takes too long. A pull that requests
 * details is not planning yet.
 */
export async function blockPulls(tx: Queryable, feed: FeedName): Promise<boolean> {
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
export async function blockPullsAndDetails(tx: Queryable, feed: FeedName): Promise<boolean> {
  return (await blockPulls(tx, feed)) && (await blockDetails(tx, feed));
}

/** The same for a transaction that keeps pulls out already. Returns false if one requests details. */
export const blockDetails = (tx: Queryable, feed: FeedName): Promise<boolean> =>
  readFlag(tx, 'select pg_try_advisory_xact_lock($1) as got', [lockKey('details', feed)]);

/** The same as {@link blockPulls} without waiting for a running pull. */
export async function blockPullsIfIdle(tx: Queryable, feed: FeedName): Promise<boolean> {
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
  postings: readonly (PostingRef & { readonly edited: Edited })[],
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
async function haveReadAgain(tx: Queryable, postings: readonly PostingRef[]): Promise<void> {
  await tx.query(
    `update mapping m set record_hash = ${unreadHashSql('unsent edit', 'm.key')}
     from unnest($1::text[], $2::text[]) p(feed, key) join change c on c.feed = p.feed and c.key = p.key
     where m.feed = c.feed and m.key = c.key and m.record_hash = c.record_hash`,
    namesOf(postings),
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
 * The caller keeps all pulls out, also those that request details, and no attempt of these postings is open: its end would record the
 * hash of the record again. A worker that has already read the change holds its old revision, so it can't claim it.
 */
export async function planAgain(tx: Queryable, feed: FeedName, keys: readonly PostingKey[]): Promise<void> {
  if (keys.length === 0) return;
  const unread = unreadHashSql('planned again');
  await tx.query(`update mapping set record_hash = ${unread} where feed = $1 and key = any($2::text[])`, [feed, keys]);
  await tx.query(
    `update change set record_hash = case when desired = 'present' then ${unread} end, revision = nextval('revision_number')
     where feed = $1 and key = any($2::text[])`,
    [feed, keys],
  );
  await forgetVersions(tx, [feed]);
}

// Stores a reviewer's edits of single fields, and returns those that still apply to a posting.

export interface Edits {
  /** The feed has no edits. */
  readonly none: boolean;
  /** The fields to override in a posting as the feed has it; `undefined` if none. An edit ends when the feed's value does. */
  for(posting: Posting): Fields | undefined;
}

export const NO_EDITS: Edits = { none: true, for: () => undefined };

export async function editsOf(db: Queryable, feed: FeedName): Promise<Edits> {
  const byKey = await readMap<PostingKey, EditRow[]>(
    db,
    `select key, json_agg(json_build_object('field', field, 'sourceValue', source_value, 'value', value)) from override
     where feed = $1 group by key`,
    [feed],
  );
  return {
    none: byKey.size === 0,
    for(posting) {
      const edits =
        byKey.get(posting.key)?.filter((edit) => (posting.fields[edit.field] ?? null) === edit.sourceValue) ?? [];
      return edits.length === 0 ? undefined : Object.fromEntries(edits.map((edit) => [edit.field, edit.value]));
    },
  };
}

/** One edit as stored. */
export interface EditRow {
  readonly field: string;
  /** The feed's value at the time of the edit; null if there was none. */
  readonly sourceValue: string | null;
  readonly value: string;
}

export async function editsOfPosting(db: Queryable, feed: FeedName, key: PostingKey): Promise<EditRow[]> {
  return db.query<EditRow>(
    'select field, source_value as "sourceValue", value from override where feed = $1 and key = $2 order by field',
    [feed, key],
  );
}

const COLUMNS_OF_NAMES = 'unnest($1::text[], $2::text[])';
const namesOf = (postings: readonly PostingRef[]) => columnsOf(postings, 'feed', 'key');

/** The edits of several postings, in their order. */
export async function editsOfPostings(db: Queryable, postings: readonly PostingRef[]): Promise<EditRow[][]> {
  const rows = await db.query<{ edits: EditRow[] | null }>(
    `select (select jsonb_agg(jsonb_build_object('field', o.field, 'sourceValue', o.source_value, 'value', o.value)
         order by o.field) from override o where o.feed = p.feed and o.key = p.key) as edits
     from ${COLUMNS_OF_NAMES} with ordinality p(feed, key, place) order by p.place`,
    namesOf(postings),
  );
  return rows.map(({ edits }) => edits ?? []);
}

/** Edits of a posting, with the fields as the feed has them. */
export interface NotedEdits extends PostingRef {
  readonly source: Fields;
  readonly edits: Fields;
}

/** Records edits. A second edit of a field replaces the first. */
async function noteEdits(db: Queryable, postings: readonly NotedEdits[]): Promise<void> {
  const rows = postings.flatMap(({ feed, key, source, edits }) =>
    Object.entries(edits).map(([field, value]) => [feed, key, field, source[field] ?? null, value] as const),
  );
  const column = (at: 0 | 1 | 2 | 3 | 4) => rows.map((row) => row[at]);
  await db.query(
    `insert into override as o (feed, key, field, source_value, value)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
     on conflict (feed, key, field) do update set value = excluded.value, edited_at = now()`,
    [column(0), column(1), column(2), column(3), column(4)],
  );
}

async function dropEdits(db: Queryable, postings: readonly PostingRef[]): Promise<void> {
  await db.query(
    `delete from override o using ${COLUMNS_OF_NAMES} p(feed, key) where o.feed = p.feed and o.key = p.key`,
    namesOf(postings),
  );
}

export async function removeEdits(db: Queryable, { feed, key }: PostingRef, fields: readonly string[]): Promise<void> {
  await db.query('delete from override where feed = $1 and key = $2 and field = any($3::text[])', [feed, key, fields]);
}

// Starts the time of postings anew, and withdraws the deletes of those that had expired: ready, held, rejected or failed → none.

/**
 * Starts the time of postings anew: those that have expired get a job again, those with a job keep it for longer, and its delete is not
 * sent. Returns the keys of which neither is known. The caller holds the feed's lock.
 */
export async function renewPostings(
  tx: Queryable,
  feed: FeedName,
  keys: readonly PostingKey[],
): Promise<readonly PostingKey[]> {
  await withdrawExpired(tx, feed, keys);
  const known = await readColumn<PostingKey>(
    tx,
    `insert into posting_expiry as e (feed, key, renewed_at)
     select $1, k.key, now() from (select distinct unnest($2::text[]) as key) k
     where exists (select from mapping m where m.feed = $1 and m.key = k.key)
       or exists (select from posting_expiry x where x.feed = $1 and x.key = k.key)
     on conflict (feed, key) do update set expired_at = null, renewed_at = now() returning key`,
    [feed, keys],
  );
  await forgetVersions(tx, [feed]);
  const renewed = new Set(known);
  return keys.filter((key) => !renewed.has(key));
}

/**
 * Call it while the postings are still noted as expired. A delete that is being sent is not called back, and one whose outcome is
 * unknown is left to the next pull. What a person discarded stays discarded.
 */
async function withdrawExpired(tx: Queryable, feed: FeedName, keys: readonly PostingKey[]): Promise<void> {
  await lockOutcomesShared(tx, [feed]);
  const withdrawn = await tx.query(
    `with chosen as (
       select c.id from change c join posting_expiry e on e.feed = c.feed and e.key = c.key
       where c.feed = $1 and c.key = any($2::text[]) and e.expired_at is not null and c.desired = 'absent'
         and c.state in ('ready', 'held', 'rejected', 'failed')
         and not exists (select from uncertain_write u where u.feed = c.feed and u.key = c.key and u.fields is not null)
       order by c.key for update of c)
     delete from change c using chosen where c.id = chosen.id returning c.id`,
    [feed, keys],
  );
  // They no longer count towards the pull.
  await addOutcomeCount(
    tx,
    withdrawn.map(() => ({ feed, outcome: 'dropped' }) as const),
  );
}
