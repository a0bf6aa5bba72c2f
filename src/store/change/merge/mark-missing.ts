// Finds mapped postings that a complete pull did not see, counts for the delete guard, and marks them absent; works in tables, as they may
// be a million.
import { type DeleteLoad, GUARD_WINDOW_HOURS } from '../../../plan/delete-guard.ts';
import type { Reason } from '../../../plan/desired-change.ts';
import { NEVER_DUE } from '../../../plan/policy.ts';
import type { PostingKey } from '../../../posting/identifiers.ts';
import { LazyTable, toJsonb } from '../../postgres/copy-rows.ts';
import { readColumn, readNumber } from '../../postgres/database.ts';
import { chunksOf, keysByHash } from '../../postgres/stream-rows.ts';
import type { PullTransaction } from '../../pull/pull-transaction.ts';
import { type ComparedFields, digests, digestValues, UNEDITED_FIELDS } from '../../pull/record-hashes.ts';
import { keepProtected } from './protect-unreadable.ts';

export interface MissingCounts {
  /** All of them, including those whose desired state is already absent. */
  readonly missing: number;
  /** Still within their grace. */
  readonly inGrace: number;
  /** How many are to be deleted now. */
  readonly due: number;
}

const NONE_MISSING: MissingCounts = { missing: 0, inGrace: 0, due: 0 };

/** An object, so that a test can lower the limit. */
export const MISSING_LIMITS = {
  /** Hashes that are copied, and rows that are read, at a time. */
  batch: 10_000,
};

/**
 * Collects the missing postings in the temporary table `missing`.
 * @param missing record hashes of mappings and open changes that the pull did not see. @param hasSeen whether it saw the
 * record with this hash. @param pullsBeforeDue see `pullsBeforeDue` in src/plan/policy.ts.
 */
export async function collectMissing(
  pullTx: PullTransaction,
  missing: Iterable<Buffer>,
  hasSeen: (recordHash: Buffer) => boolean,
  pullsBeforeDue: number,
): Promise<MissingCounts> {
  const { session, subject } = pullTx;
  const records = new LazyTable(session, 'missing_record', { record_hash: 'bytea' });
  for (const batch of chunksOf(missing, MISSING_LIMITS.batch)) await records.copy(batch.map((hash) => [hash]));
  if (!records.exists) return NONE_MISSING;
  await pullTx.missing.create();
  await session.query('analyze missing_record');
  await session.query(
    `insert into missing
     select m.key, m.missing_pulls, coalesce(c.desired = 'absent', false), case when c.desired = 'present' then c.record_hash end
     from mapping m join missing_record u on u.record_hash = m.record_hash left join change c on c.feed = m.feed and c.key = m.key
     where m.feed = $1 and not coalesce(c.desired = 'present' and c.pull = $2, false)
     on conflict do nothing`,
    [subject.feed, subject.pull],
  );
  await collectFoundMeanwhile(pullTx);
  await removeSeen(pullTx, hasSeen);
  await keepProtected(pullTx);
  await session.query('analyze missing');
  return countMissing(pullTx, pullsBeforeDue);
}

async function countMissing({ session }: PullTransaction, pullsBeforeDue: number): Promise<MissingCounts> {
  const [counts] = await session.query<MissingCounts>(
    `select count(*) as missing, count(*) filter (where ${IN_GRACE}) as "inGrace", count(*) filter (where ${DUE}) as due
     from missing`,
    [pullsBeforeDue],
  );
  return counts as MissingCounts;
}

/** The same, once deletes of collected postings were released: they are due again. */
export async function countMissingAgain(pullTx: PullTransaction, pullsBeforeDue: number): Promise<MissingCounts> {
  const { session, subject, missing } = pullTx;
  if (!missing.exists) return NONE_MISSING;
  await session.query(
    `update missing x set absent_already = false where absent_already
       and not exists (select from change c where c.feed = $1 and c.key = x.key and c.desired = 'absent')`,
    [subject.feed],
  );
  return countMissing(pullTx, pullsBeforeDue);
}

/** A job found for a doubt while the feed streamed has a synthetic record hash: its change shows that it is missing. */
async function collectFoundMeanwhile({ session, subject, nothingKnown }: PullTransaction): Promise<void> {
  if (nothingKnown) return;
  const known = `from change c join mapping m on m.feed = c.feed and m.key = c.key`;
  await session.query(
    `insert into missing
     select c.key, m.missing_pulls, false, c.record_hash ${known} join missing_record u on u.record_hash = c.record_hash
     where c.feed = $1 and c.desired = 'present' and c.pull is distinct from $2
     on conflict do nothing`,
    [subject.feed, subject.pull],
  );
  await session.query(
    `insert into missing
     select c.key, m.missing_pulls, true, null ${known} where c.feed = $1 and c.desired = 'absent'
     on conflict do nothing`,
    [subject.feed],
  );
}

// $1: see `pullsBeforeDue`.
const IN_GRACE = 'not absent_already and missing_pulls < $1';
const DUE = 'not absent_already and missing_pulls >= $1';

/** A posting whose mapped record was not seen may have been seen with the record of its open change. */
async function removeSeen({ session }: PullTransaction, hasSeen: (recordHash: Buffer) => boolean): Promise<void> {
  const select = 'select key, open_record_hash as hash from missing where open_record_hash is not null';
  for await (const seen of keysByHash(session, 'missing_open', select, MISSING_LIMITS.batch, hasSeen))
    await session.query('delete from missing where key = any($1::text[])', [seen]);
}

/** Counts a missing pull for postings within their grace, if it counts; their open changes wait. */
export async function extendGrace(
  { session, subject }: PullTransaction,
  pullsBeforeDue: number,
  counts = true,
): Promise<void> {
  const values = [pullsBeforeDue, subject.feed];
  if (counts)
    await session.query(
      `update mapping m set missing_pulls = least(m.missing_pulls + 1, ${NEVER_DUE - 1})
     from (select key from missing where ${IN_GRACE}) x where m.feed = $2 and m.key = x.key`,
      values,
    );
  await session.query(
    `update change c set gone = true
     from (select key from missing where ${IN_GRACE}) x where c.feed = $2 and c.key = x.key and c.desired = 'present'`,
    values,
  );
}

/** Sets due postings to absent, for the merge. @param reason why all of them are held; `undefined`: they are not. */
export async function markAbsent(
  { session, subject, supersedingChanges }: PullTransaction,
  pullsBeforeDue: number,
  reason: Reason | undefined,
): Promise<void> {
  await supersedingChanges.create();
  await session.query(
    `insert into superseding_change (feed, key, site, desired, operation, invalid, pull, state, target_state, reason)
     select $2, key, $3, 'absent', 'delete', false, $4, $5, $5, $6 from missing where ${DUE}`,
    [
      pullsBeforeDue,
      subject.feed,
      subject.site,
      subject.pull,
      reason === undefined ? 'ready' : 'held',
      reason === undefined ? null : toJsonb(reason),
    ],
  );
}

/** The open changes that {@link collectMissingChanges} checks. */
export type GoneScope =
  /** Changes of postings without a mapping, except those whose records are unreadable. */
  | 'unmapped'
  /** All except those within their grace. */
  | 'all';

const SCOPES: Readonly<Record<GoneScope, string>> = {
  unmapped: 'and not c.unseen and not exists (select from mapping m where m.feed = c.feed and m.key = c.key)',
  all: 'and not c.gone',
};

/**
 * Collects, in the temporary table `missing_change`, the postings with a change from an earlier pull that this pull did not
 * see; none if the feed was unknown before. @param hasSeen whether the pull saw the record with this hash.
 */
export async function collectMissingChanges(
  { session, subject: { feed, pull }, nothingKnown, pendingSame, missingChanges }: PullTransaction,
  scope: GoneScope,
  hasSeen: (recordHash: Buffer) => boolean,
): Promise<void> {
  if (nothingKnown) return;
  const select = `select c.key, c.record_hash as hash from change c
    where c.feed = $1 and c.desired = 'present' and c.pull is distinct from $2
      and not exists (select from ${pendingSame.rows} r where r.key = c.key) ${SCOPES[scope]}`;
  const isMissing = (hash: Buffer) => !hasSeen(hash);
  for await (const missing of keysByHash(session, 'earlier_change', select, MISSING_LIMITS.batch, isMissing, [
    feed,
    pull,
  ]))
    await missingChanges.copy(missing.map((key) => [key]));
  // Without statistics the planner assumes a large table and scans the whole backlog for a small one.
  if (missingChanges.exists) await session.query('analyze missing_change');
}

/** Marks exactly the changes that an incomplete pull did not see: they are sent, but do not count towards it. */
export async function markUnseen({ session, subject, missingChanges }: PullTransaction): Promise<void> {
  await session.query(
    `update change c set unseen = false
     where c.feed = $1 and c.unseen and not exists (select from ${missingChanges.rows} w where w.key = c.key)`,
    [subject.feed],
  );
  if (!missingChanges.exists) return;
  await session.query(
    'update change c set unseen = true from missing_change w where c.feed = $1 and c.key = w.key and not c.unseen',
    [subject.feed],
  );
}

/** Marks the collected postings in addition to those already marked. */
export async function markUnseenToo({ session, subject, missingChanges }: PullTransaction): Promise<void> {
  if (!missingChanges.exists) return;
  await session.query('update change c set unseen = true from missing_change w where c.feed = $1 and c.key = w.key', [
    subject.feed,
  ]);
}

/** A complete pull has seen every posting that it leaves open, or knows it to be gone. */
export async function clearUnseen({ session, subject }: PullTransaction): Promise<void> {
  await session.query('update change set unseen = false where feed = $1 and unseen', [subject.feed]);
}

/**
 * Of a key that occurs more than once, the job has one version, which an incomplete pull may not have read: another version is no newer one.
 * Withdraws the updates to these, and returns how many there were. @param read how many further records the pull has read of each key:
 * where these are all that are known, it has read all versions, and none of them is the job's
 */
export async function keepOtherVersions(
  { session, subject: { feed, pull } }: PullTransaction,
  read: ReadonlyMap<PostingKey, number>,
): Promise<number> {
  const kept = await session.query(
    `delete from change c where c.feed = $1 and c.pull = $2 and c.operation = 'update' and c.desired = 'present' and c.attempt_token is null
       and exists (select from mapping m where m.feed = $1 and m.key = c.key)
       and (select count(*) from record_problem p where p.feed = $1 and p.kind = 'duplicate' and p.key = c.key)
         > coalesce((select r.n from unnest($3::text[], $4::int[]) r(key, n) where r.key = c.key), 0)
     returning key`,
    [feed, pull, [...read.keys()], [...read.values()]],
  );
  return kept.length;
}

/** Removes updates that this pull has planned: a later record of the key has the content of the job. Returns how many there were. */
export async function withdrawUpdates(pullTx: PullTransaction, keys: readonly PostingKey[]): Promise<number> {
  if (keys.length === 0) return 0;
  await pullTx.flush();
  const { feed, pull } = pullTx.subject;
  const withdrawn = await pullTx.session.query(
    `delete from change where feed = $1 and key = any($2::text[]) and pull = $3 and operation = 'update' and attempt_token is null
     returning key`,
    [feed, keys, pull],
  );
  return withdrawn.length;
}

/** The delete guard's input apart from this pull's own deletes. A job that may have been made counts as made; one that was found does not. */
export async function deleteLoad(pullTx: PullTransaction): Promise<Pick<DeleteLoad, 'recent' | 'live' | 'done'>> {
  const [row] = await pullTx.session.query<{ live: number; done: number; waiting: number }>(
    `select (select count(*) from mapping where feed = $1)
         + (select count(*) from change c where c.feed = $1 and c.attempt_operation = 'create' and c.attempt_token is not null
             and c.found_job_id is null and not exists (select from mapping m where m.feed = c.feed and m.key = c.key)) as live,
       (select count(*) from deletion where feed = $1 and deleted_at > now() - make_interval(hours => $2)) as done,
       (select count(*) from change where feed = $1 and desired = 'absent' and not approved
          and state <> 'discarded') as waiting`,
    [pullTx.subject.feed, GUARD_WINDOW_HOURS],
  );
  const { live = 0, done = 0, waiting = 0 } = row ?? {};
  return { live, done, recent: done + waiting };
}

/** How many of the postings that are due have one of these keys. */
export async function countDueAmong(
  { session }: PullTransaction,
  pullsBeforeDue: number,
  keys: readonly PostingKey[],
): Promise<number> {
  if (keys.length === 0) return 0;
  return readNumber(session, `select count(*) from missing where ${DUE} and key = any($2::text[])`, [
    pullsBeforeDue,
    keys,
  ]);
}

/** How many records the last complete pulls had, of so many before this one. */
export const recordsBefore = ({ session, subject }: PullTransaction, pulls: number): Promise<number[]> =>
  readColumn<number>(
    session,
    `select seen from pull where feed = $1 and complete and undoes is null and status <> 'not_modified' order by id desc limit $2`,
    [subject.feed, pulls],
  );

/** Of records that the feed has no more: those whose postings are gone, as far as they have a job. */
export async function recordsOfGone(
  { session, subject: { feed, pull } }: PullTransaction,
  hashes: readonly Buffer[],
): Promise<readonly Buffer[]> {
  return readColumn<Buffer>(
    session,
    `select m.record_hash from mapping m where m.feed = $1 and m.record_hash = any($2::bytea[])
       and not exists (select from change c where c.feed = m.feed and c.key = m.key and c.desired = 'present' and c.pull = $3)`,
    [feed, hashes, pull],
  );
}

// What a pull does about the expired postings that it saw, in its tables: their jobs are due, and what is recorded of them.

const BATCH = 10_000;

/** Takes the expired postings out of the missing ones: they are in the feed. */
export async function leaveOutExpired({ session, missing, expiredSeen }: PullTransaction): Promise<void> {
  if (!missing.exists || !expiredSeen.exists) return;
  await session.query('delete from missing x using expired_seen s where x.key = s.key');
}

/** Adds the expired postings that have a job to the missing ones, as due. Returns how many jobs were not to be deleted before. */
export async function addExpired({
  session,
  subject: { feed },
  missing,
  expiredSeen,
}: PullTransaction): Promise<number> {
  if (!expiredSeen.exists) return 0;
  await missing.create();
  const rows = await session.query<{ added: boolean }>(
    `insert into missing
     select m.key, ${NEVER_DUE}, coalesce(c.desired = 'absent', false), null
     from expired_seen s join mapping m on m.feed = $1 and m.key = s.key left join change c on c.feed = m.feed and c.key = m.key
     on conflict (key) do update set missing_pulls = ${NEVER_DUE} returning not absent_already as added`,
    [feed],
  );
  return rows.filter(({ added }) => added).length;
}

/**
 * Records which postings have expired, and by what they are recognised under other keys. Their jobs are being deleted, so this needs a
 * complete pull.
 */
export async function noteExpired(
  { session, subject: { feed }, expiredSeen }: PullTransaction,
  compared: ComparedFields,
): Promise<void> {
  if (!expiredSeen.exists) return;
  await session.query(
    `insert into posting_expiry as e (feed, key, expired_at, site_job_id, record_hash, content, likeness, bare)
     select $1, x.key, now(), m.site_job_id, x.record_hash, digest.content, digest.likeness, digest.bare
     from expired_seen x left join mapping m on m.feed = $1 and m.key = x.key
       left join document d on d.feed = $1 and d.key = x.key left join ${digests(UNEDITED_FIELDS, 'x.key')} on true
     on conflict (feed, key) do update set
       expired_at = case when e.site_job_id is distinct from coalesce(excluded.site_job_id, e.site_job_id) then now()
         else coalesce(e.expired_at, now()) end,
       renewed_at = null, site_job_id = coalesce(excluded.site_job_id, e.site_job_id), record_hash = excluded.record_hash,
       content = case when excluded.site_job_id is null then e.content else excluded.content end,
       likeness = case when excluded.site_job_id is null then e.likeness else excluded.likeness end,
       bare = case when excluded.site_job_id is null then e.bare else excluded.bare end,
       missing_pulls = 0`,
    digestValues(feed, compared),
  );
}

/** Records with which records known expired postings were seen. */
export async function refreshExpired({ session, subject: { feed }, expiredSeen }: PullTransaction): Promise<void> {
  if (!expiredSeen.exists) return;
  await session.query(
    `update posting_expiry e set record_hash = s.record_hash, missing_pulls = 0
     from expired_seen s where e.feed = $1 and e.key = s.key and e.expired_at is not null`,
    [feed],
  );
}

/**
 * Collects the expired postings that this pull did not see.
 * @param hasSeen whether the pull saw the record with this hash.
 */
export async function collectExpiredGone(
  pullTx: PullTransaction,
  hasSeen: (recordHash: Buffer) => boolean,
): Promise<void> {
  const { session, subject, expiredSeen, unreadableKeys } = pullTx;
  const others = expiredSeen.exists ? 'and not exists (select from expired_seen s where s.key = e.key)' : '';
  const protects = unreadableKeys.exists
    ? `and not exists (select from unreadable_key r where r.key in (e.key, regexp_replace(e.key, '[^|]*$', '')))`
    : '';
  const select = `select e.key, e.record_hash as hash from posting_expiry e
    where e.feed = $1 and e.expired_at is not null ${others} ${protects}`;
  const isGone = (hash: Buffer | null) => hash === null || !hasSeen(hash);
  await pullTx.addExpiredGone(
    keysByHash<PostingKey, Buffer | null>(session, 'expired_row', select, BATCH, isGone, [subject.feed]),
  );
}

/**
 * Forgets the expired postings that a complete pull no longer saw, once their grace is over: one that comes back is a new posting. Not
 * while they may be in the feed under other keys.
 */
export async function forgetGone(
  { session, subject: { feed }, expiredGone }: PullTransaction,
  pullsBeforeDue: number,
): Promise<void> {
  if (expiredGone.exists)
    await session.query(
      `with gone as (select g.key from expired_gone g where not exists (
           select from rekey_posting r where r.feed = $1 and not r.is_new and r.key = g.key)),
       counted as (update posting_expiry e set missing_pulls = e.missing_pulls + 1 from gone g
         where e.feed = $1 and e.key = g.key and e.missing_pulls < $2)
       delete from posting_expiry e using gone g where e.feed = $1 and e.key = g.key and e.missing_pulls >= $2`,
      [feed, pullsBeforeDue],
    );
  await session.query(
    `delete from posting_expiry e where e.feed = $1 and e.renewed_at is not null
       and not exists (select from mapping m where m.feed = e.feed and m.key = e.key)
       and not exists (select from change c where c.feed = e.feed and c.key = e.key)`,
    [feed],
  );
}

/** Forgets all of them: postings of the feed do not expire any more. */
export async function forgetExpiry({ session, subject: { feed } }: PullTransaction): Promise<void> {
  await session.query('delete from posting_expiry where feed = $1', [feed]);
}

/** Starts the time of postings anew that an undo sets back, creates again, or no longer deletes. Before the changes are merged. */
export async function renewUndone({ session, subject: { feed }, supersedingChanges }: PullTransaction): Promise<void> {
  await session.query(
    `update posting_expiry e set expired_at = null, renewed_at = now()
     where e.feed = $1 and (exists (select from ${supersedingChanges.rows} w where w.key = e.key and w.desired = 'present')
       or exists (select from undo_withdrawal w where w.key = e.key))`,
    [feed],
  );
}
