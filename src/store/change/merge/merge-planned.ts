// Merges the changes of a pull with those still open, under the feed's lock: SQL for the end of a pull's transaction.
import pg from 'pg';
import type { Reason } from '../../../plan/desired-change.ts';
import { NEVER_DUE } from '../../../plan/policy.ts';
import { HASH_BYTES } from '../../../posting/hash.ts';
import type { PostingKey } from '../../../posting/identifiers.ts';
import { SENDING_RANK } from '../../backlog/backlog.ts';
import { toJsonb } from '../../postgres/copy-rows.ts';
import { readNumber } from '../../postgres/database.ts';
import { streamHashes } from '../../postgres/stream-rows.ts';
import type { PullTransaction } from '../../pull/pull-transaction.ts';
import { type ComparedFields, digests, digestValues, unreadHashSql } from '../../pull/record-hashes.ts';
import { keepsAttempt, retargetedReason } from '../life-cycle.ts';

// How a newer change replaces an open one in its row. An attempt in flight or in doubt continues: what it sent moves to the
// sent_ columns, the row keeps its state, and the newer version waits for the attempt to end. What only a person decides (`disown`) is left
// to a person, unless the posting is to be absent: then nothing is left to delete (`afterDisowning`).
const DISOWNED = `change.state = 'in_doubt' and change.not_before = 'infinity'`;
const ENDS_DOUBT = `${DISOWNED} and excluded.desired = 'absent'`;
const KEEPS_SENT = ['fields', 'record_hash', 'content_hash', 'revision', 'pull']
  .map(
    (column) => `sent_${column} = case when change.attempt_token is null or change.sent_revision is not null
    then change.sent_${column} else change.${column} end,`,
  )
  .join('\n  ');
const REPLACE_DESIRED = `
  ${KEEPS_SENT}
  desired = excluded.desired, operation = excluded.operation, fields = excluded.fields,
  record_hash = excluded.record_hash, content_hash = excluded.content_hash, invalid = excluded.invalid, gone = false, missing_pulls = 0,
  unseen = false,
  pull = excluded.pull, revision = nextval('revision_number'), target_state = case when ${ENDS_DOUBT} then 'ready' else excluded.target_state end, approved = false,
  state = case when ${ENDS_DOUBT} then 'ready' when change.attempt_token is null then excluded.target_state else change.state end,
  since = case when ${ENDS_DOUBT} or change.attempt_token is null then now() else change.since end,
  attempts = 0, not_before = case when ${DISOWNED} and excluded.desired = 'present' then 'infinity' else '-infinity' end::timestamptz,
  ${keepsAttempt('change', `not (${ENDS_DOUBT})`)},
  reason = case when ${ENDS_DOUBT} then null when change.state = 'in_doubt' then ${retargetedReason('change', 'excluded.reason')}
    else coalesce(excluded.reason, case when change.attempt_token is not null then change.reason end) end`;

/** Replaces open changes with the superseding ones (law 5: the latest wins). */
export async function mergeChanges(pullTx: PullTransaction): Promise<void> {
  if (!pullTx.supersedingChanges.exists) return;
  await pullTx.session.query('analyze superseding_change');
  await pullTx.session.query(
    `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, invalid, pull, state, target_state, reason)
     select feed, key, site, desired, operation, fields, record_hash, content_hash, invalid, pull, state, target_state, reason
     from superseding_change order by key
     on conflict (feed, key) do update set ${REPLACE_DESIRED}`,
  );
  if (pullTx.superseding > 0) await endGrace(pullTx, `superseding_change w where w.desired = 'present'`);
  await pullTx.session.query('truncate superseding_change');
}

/**
 * Leaves the jobs of a feed that updates none as they are where postings are back whose deletes were still open: nothing is to be sent for
 * them, unless what their jobs show is uncertain. Returns how many.
 */
export async function leaveReturned(pullTx: PullTransaction): Promise<number> {
  return pullTx.superseding === 0 ? 0 : takeBackUpdates(pullTx, 't.record_hash');
}

/**
 * Removes the updates that this pull has planned, unless what a job shows is uncertain. Returns how many there were. Their postings are read anew by
 * the next pull, as this one may have replaced what is kept of their newer records, such as details, or planned what newer ones have too.
 */
export const leaveOutUpdates = (pullTx: PullTransaction): Promise<number> =>
  takeBackUpdates(
    pullTx,
    `case when is_source_unknown(m.record_hash, m.key) then m.record_hash else ${unreadHashSql('left out', 'm.key')} end`,
  );

/** @param recordHash SQL: what the mappings `m` note as the records that were read last; `t` are the updates */
const takeBackUpdates = ({ session, subject: { feed, pull } }: PullTransaction, recordHash: string): Promise<number> =>
  readNumber(
    session,
    `with taken_back as (
       delete from change c using mapping m
       where c.feed = $1 and c.pull = $2 and c.desired = 'present' and c.operation = 'update' and c.attempt_token is null
         and m.feed = c.feed and m.key = c.key
         and not exists (select from uncertain_write u where u.feed = c.feed and u.key = c.key and u.fields is not null)
       returning c.key, c.record_hash),
     noted as (
       update mapping m set record_hash = ${recordHash} from taken_back t where m.feed = $1 and m.key = t.key)
     select count(*) as n from taken_back`,
    [feed, pull],
  );

/**
 * Postings whose job has ended since the pull looked them up are created: their creates wait for what creates wait for, such as a search of
 * the site, which is made for creates only.
 */
export async function createLost({ session, subject: { feed }, nothingKnown }: PullTransaction): Promise<void> {
  if (nothingKnown) return;
  // As in the indexes of the backlog and of the counts.
  for (const waiting of [`state = 'ready' and ${SENDING_RANK} = 2`, `state = 'rejected' and operation = 'update'`]) {
    await session.query(
      `update change c set operation = 'create' where c.feed = $1 and ${waiting}
         and not exists (select from mapping m where m.feed = c.feed and m.key = c.key)`,
      [feed],
    );
  }
}

/** Records the newest record hashes of changes that stay as they are. Returns how many of them are still open. */
export async function mergePendingSame(pullTx: PullTransaction): Promise<number> {
  if (!pullTx.pendingSame.exists) return 0;
  const [row] = await pullTx.session.query<{ n: number }>(
    `with still as (
       update change c set record_hash = r.record_hash, gone = false, missing_pulls = 0
       from pending_same r where c.feed = $1 and c.key = r.key and c.desired = 'present' returning c.key)
     select count(*) as n from still`,
    [pullTx.subject.feed],
  );
  await endGrace(pullTx, 'pending_same w where true');
  return row?.n ?? 0;
}

/** Ends the grace of postings that were seen, whenever their changes are sent. */
async function endGrace({ session, subject: { feed } }: PullTransaction, seen: string): Promise<void> {
  await session.query(
    `update mapping m set missing_pulls = 0 from ${seen} and m.feed = $1 and m.key = w.key and m.missing_pulls > 0`,
    [feed],
  );
}

/**
 * Drops the collected changes of postings that went away before anything was sent for them.
 * @param keeps newer postings may have pushed them out of the feed: creates that only wait are kept, except those of which the feed may have
 * the posting under another key, and of postings that are `skipped` or have expired. Absent: they are gone
 */
export async function dropUnsent(
  { session, subject: { feed, pull }, missingChanges, expiredSeen }: PullTransaction,
  keeps: (ComparedFields & { readonly skipped: readonly PostingKey[] }) | undefined,
): Promise<void> {
  if (!missingChanges.exists) return;
  if (keeps !== undefined)
    await session.query(
      `with alike as (select digest.likeness from change c, ${digests('c.fields::jsonb', 'c.key')}
         where c.feed = $1 and c.operation = 'create' and c.pull = $5)
       update change u set unseen = true
       from missing_change w join change c on c.feed = $1 and c.key = w.key, ${digests('c.fields::jsonb', 'c.key')}
       where u.feed = c.feed and u.key = c.key and c.attempt_token is null and c.state = 'ready' and c.operation = 'create'
         and digest.likeness not in (select likeness from alike)
         and c.key <> all($6::text[]) and not exists (select from ${expiredSeen.rows} s where s.key = c.key)`,
      [...digestValues(feed, keeps), pull, keeps.skipped],
    );
  await session.query(
    'delete from change c using missing_change w where c.feed = $1 and c.key = w.key and c.attempt_token is null and not c.unseen',
    [feed],
  );
}

/** Collected postings that may have a job, because their creates are in flight or in doubt. */
export interface MaybeMadeCounts {
  /** Still within their grace. */
  readonly inGrace: number;
  /** How many are to be deleted if their jobs were made. */
  readonly due: number;
}

export const NONE_MADE: MaybeMadeCounts = { inGrace: 0, due: 0 };

// A posting that this pull has set to absent is no longer within its grace.
const MAYBE_MADE = `c.feed = $1 and c.attempt_token is not null and c.desired = 'present'`;
const DUE = 'c.missing_pulls >= $2';

/** @param pullsBeforeDue see `pullsBeforeDue` in src/plan/policy.ts. */
export async function countMaybeMade(
  { session, subject: { feed }, missingChanges }: PullTransaction,
  pullsBeforeDue: number,
): Promise<MaybeMadeCounts> {
  if (!missingChanges.exists) return NONE_MADE;
  const [row] = await session.query<MaybeMadeCounts>(
    `select count(*) filter (where not (${DUE})) as "inGrace", count(*) filter (where ${DUE}) as due
     from change c join missing_change w on w.key = c.key where ${MAYBE_MADE}`,
    [feed, pullsBeforeDue],
  );
  return row as MaybeMadeCounts;
}

/**
 * Counts a missing pull for collected postings within their grace whose creates are in flight or in doubt. If the job was
 * made, its mapping inherits the count.
 */
export async function extendMaybeMadeGrace(
  { session, subject: { feed } }: PullTransaction,
  pullsBeforeDue: number,
  counts = true,
): Promise<void> {
  await session.query(
    `update change c set gone = true, missing_pulls = least(c.missing_pulls + $3::int, ${NEVER_DUE - 1})
     from missing_change w where w.key = c.key and ${MAYBE_MADE} and not (${DUE})`,
    [feed, pullsBeforeDue, counts ? 1 : 0],
  );
}

/**
 * Sets collected postings to absent whose creates are in flight or in doubt and whose grace is over; they wait for the
 * outcome. @param reason why the delete of a job that was made is held; `undefined`: it is not held.
 */
export async function withdrawMaybeMade(
  { session, subject: { feed, pull } }: PullTransaction,
  pullsBeforeDue: number,
  reason: Reason | undefined,
): Promise<void> {
  const target = reason === undefined ? 'ready' : 'held';
  await session.query(
    `insert into change (feed, key, site, desired, operation, pull, state, target_state, reason)
     select c.feed, c.key, c.site, 'absent', 'delete', $3, $4, $4, $5
     from change c join missing_change w on w.key = c.key where ${MAYBE_MADE} and ${DUE}
     on conflict (feed, key) do update set ${REPLACE_DESIRED}`,
    [feed, pullsBeforeDue, pull, target, reason === undefined ? null : toJsonb(reason)],
  );
}

/**
 * How many of the changes seen on the fast path are still open; the site accepted the others while the feed streamed.
 * @param hasSeenChange whether the pull saw the change with this record hash on the fast path.
 */
export async function countStillOpen(
  pullTx: PullTransaction,
  hasSeenChange: (recordHash: Buffer) => boolean,
): Promise<number> {
  let count = 0;
  await streamHashes(
    pullTx.session,
    `select record_hash, 0::int2 from change where feed = ${pg.escapeLiteral(pullTx.subject.feed)} and desired = 'present'`,
    (bytes, at) => {
      if (hasSeenChange(bytes.subarray(at, at + HASH_BYTES))) count++;
    },
  );
  return count;
}

/** How many absent postings have no mapping: their creates are in flight or in doubt. */
export const countUnmappedAbsent = (pullTx: PullTransaction): Promise<number> =>
  readNumber(
    pullTx.session,
    `select count(*) as n from change c left join mapping m on m.feed = c.feed and m.key = c.key
     where c.feed = $1 and c.desired = 'absent' and m.key is null`,
    [pullTx.subject.feed],
  );
