// Gives the job of a missing posting to a new posting that is the same under another key, with everything that belongs to it. If that
// job has ended, the new posting gets none. If the new posting has got a second job, the old key gets that one, and its delete is approved.

import type { HoldKind } from '../../../plan/delete-guard.ts';
import { type FeedPolicy, updatesJobs } from '../../../plan/policy.ts';
import { contentHash } from '../../../posting/hash.ts';
import type { FeedName, PostingKey, SiteJobId } from '../../../posting/identifiers.ts';
import type { Fields } from '../../../posting/posting.ts';
import { auditAction, auditActions } from '../../access/audit.ts';
import { KEYS_CHANGED } from '../../feed/feed-state.ts';
import { lockOutcomes, lockOutcomesShared } from '../../locks/advisory-locks.ts';
import type { Database, Queryable, Statements, Transaction } from '../../postgres/database.ts';
import { addOutcomeCount } from '../../pull/pull-history.ts';
import { unreadHashSql } from '../../pull/record-hashes.ts';
import { type EditRow, editsOfPostings, renewPostings } from '../edit.ts';
import { dropChanges } from '../imported-jobs.ts';
import { ENDS_ATTEMPT, targetReason } from '../life-cycle.ts';
import { endRekey } from './collect-rekey.ts';

/** A missing posting and the new one that it is. */
export interface RekeyPair {
  readonly oldKey: PostingKey;
  readonly key: PostingKey;
}

export interface RefusedRekey extends RekeyPair {
  readonly message: string;
}

/**
 * Binds all pairs in one transaction, except those that cannot be bound any more; returns these. Nothing is sent: what differs is
 * an update afterwards, if the feed's policy updates jobs. The caller holds the feed's pull lock, so that no pull changes what is missing or new meanwhile.
 */
export function rekeyPostings(
  db: Statements,
  { feed, actor, policy }: { readonly feed: FeedName; readonly actor: string; readonly policy: FeedPolicy | undefined },
  pairs: readonly RekeyPair[],
): Promise<RefusedRekey[]> {
  return db.transaction(async (tx) => {
    tx.leave(lockOutcomesShared(tx, [feed]));
    tx.leave(tx.query('create temporary table rekeyed (old_key text, key text, second text) on commit drop'));
    later(
      tx,
      feed,
      `insert into rekeyed select w.old_key, w.key, r.second_job from unnest($2::text[], $3::text[]) w(old_key, key)
         left join rekey_posting r on r.feed = $1 and r.is_new and r.key = w.key`,
      pairs.map(({ oldKey }) => oldKey),
      pairs.map(({ key }) => key),
    );
    tx.leave(tx.query('analyze rekeyed'));
    // Locked in the order that all code uses: no attempt begins, and none ends, until the new keys are committed.
    later(
      tx,
      feed,
      `select from change c where c.feed = $1 and c.key in (select old_key from rekeyed union all select key from rekeyed)
       order by c.feed, c.key for update`,
    );
    later(
      tx,
      feed,
      `select from mapping m where m.feed = $1 and m.key in (select old_key from rekeyed union all select key from rekeyed)
       order by m.key for update`,
    );
    const refused = removeRefused(tx, feed);
    await moveJobs(tx, feed, actor, updatesJobs(policy));
    return refused;
  });
}

/** Sends a statement that need not be awaited; $1 is the feed. */
const later = (tx: Transaction, feed: FeedName, statement: string, ...values: readonly unknown[]): void =>
  tx.leave(tx.query(statement, [feed, ...values]));

/** An undo, of which no pull has seen the posting since, has ended its grace. */
const IS_UNDONE = `coalesce(b.record_hash, o.record_hash) = ${unreadHashSql('undone', 'w.old_key')}`;

const removeRefused = (tx: Queryable, feed: FeedName): Promise<RefusedRekey[]> =>
  tx.query<RefusedRekey>(
    `with refused as (
       select w.old_key, w.key, case
         when count(*) over (partition by w.old_key) > 1 or count(*) over (partition by w.key) > 1
           then 'one of the two postings is named twice'
         when o.key is null and e.key is null then 'posting ' || w.old_key || ' has no job any more'
         when w.second is not null and o.key is null then 'posting ' || w.old_key || ' has no job any more'
         when n.key is not null and n.site_job_id is distinct from w.second then 'posting ' || w.key || ' has a job of its own: ' || n.site_job_id
         when w.second is not null and (n.key is null or n.adopted or n.created_by is null)
           then 'whether job ' || w.second || ' of posting ' || w.key || ' may be deleted is not known; pull the feed again'
         when w.second is not null and not coalesce(r.proven, false) then 'no complete pull proves that posting ' || w.old_key || ' is gone'
         when c.key is null and w.second is null or c.desired = 'absent' then 'the feed has no new posting ' || w.key
         when c.attempt_token is not null and c.found_job_id is distinct from o.site_job_id
           then 'a create of posting ' || w.key || ' is in flight or in doubt; resolve that first: entry ' || c.id
         when b.attempt_token is not null
           then 'a request for posting ' || w.old_key || ' is in flight or in doubt; try again when it has ended: entry ' || b.id
         when b.desired = 'absent' and b.approved then 'a person has approved the delete of posting ' || w.old_key
         when r.key is null then 'posting ' || w.old_key || ' is not known to be missing'
         when r.proven and b.desired is distinct from 'absent' and o.missing_pulls = 0 and not ${IS_UNDONE}
           then 'the feed has posting ' || w.old_key || ' again'
       end as message
       from rekeyed w left join mapping o on o.feed = $1 and o.key = w.old_key left join mapping n on n.feed = $1 and n.key = w.key
         left join posting_expiry e on e.feed = $1 and e.key = w.old_key and e.expired_at is not null
         left join change b on b.feed = $1 and b.key = w.old_key left join change c on c.feed = $1 and c.key = w.key
         left join rekey_posting r on r.feed = $1 and r.key = w.old_key and not r.is_new),
     removed as (
       delete from rekeyed w using refused f where f.message is not null and w.old_key = f.old_key and w.key = f.key)
     select old_key as "oldKey", key, message from refused where message is not null order by key`,
    [feed],
  );

/** Tables with what belongs to a job, whatever the key of its posting is. */
const MOVED = [
  'document',
  'uncertain_write',
  'override',
  'refuted_job',
  'ended_claim',
  'former_document',
  'posting_expiry',
] as const;
/** Tables with what is known of a record under its old key. */
const DROPPED = ['posting_note', 'kept_record'] as const;

async function moveJobs(tx: Transaction, feed: FeedName, actor: string, mayUpdate: boolean): Promise<void> {
  setSecondJobsAside(tx, feed);
  const [moved, ended] = await Promise.all([
    tx.query<{ key: PostingKey; oldKey: PostingKey; siteJobId: SiteJobId; secondJobId: SiteJobId | null }>(
      // No record under the old key is taken for the posting.
      `update mapping m set key = w.key, missing_pulls = 0, record_hash = ${unreadHashSql('rekeyed', 'w.key')}
       from rekeyed w where m.feed = $1 and m.key = w.old_key
       returning m.key, w.old_key as "oldKey", m.site_job_id as "siteJobId", w.second as "secondJobId"`,
      [feed],
    ),
    tx.query<{ key: PostingKey; oldKey: PostingKey }>(
      `select w.key, w.old_key as "oldKey" from rekeyed w
       where not exists (select from mapping m where m.feed = $1 and m.key = w.key) order by w.key`,
      [feed],
    ),
  ]);
  if (moved.length + ended.length === 0) return;
  const [, dropped] = await Promise.all([
    // Nothing is to be sent for these new postings.
    dropChanges(tx, 'where c.feed = $1 and c.key = any($2::text[])', [
      feed,
      (mayUpdate ? ended : [...ended, ...moved]).map(({ key }) => key),
    ]),
    // A change of the old key belongs to no posting any more, and no longer counts towards the pull.
    tx.query<{ desired: string; state: string; key: PostingKey; counts: boolean }>(
      `delete from change c using rekeyed w where c.feed = $1 and c.key = w.old_key and not (c.desired = 'absent' and w.second is not null)
       returning c.desired, c.state, w.key, not c.gone and not c.unseen as counts`,
      [feed],
    ),
  ]);
  const deletes = dropped.filter(({ desired }) => desired === 'absent');
  // An incomplete pull, or an undo, may have seen the posting under its old key.
  const updates = dropped.filter(({ desired, counts }) => desired === 'present' && counts);
  tx.leave(
    addOutcomeCount(tx, [
      ...deletes.map(() => ({ feed, outcome: 'dropped' }) as const),
      ...updates.map(() => ({ feed, outcome: 'nothing' }) as const),
    ]),
  );
  moveRows(tx, feed);
  endSecondJobs(tx, feed);
  const kept = deletes.filter(({ state }) => state === 'discarded').map(({ key }) => key);
  if (kept.length > 0) await renewPostings(tx, feed, kept); // A person has decided to keep these jobs.
  // A worker that has already read "no mapping" holds the old revision, so it cannot claim the create. What the site refused was
  // a create, which says nothing about the update. Of the creates in doubt, a search has found this job for those that are here.
  later(
    tx,
    feed,
    `update change c set operation = 'update', revision = nextval('revision_number'), found_job_id = null, since = now(),
       state = case when ${IS_REFUSED} then 'ready' when c.state = 'in_doubt' then c.target_state else c.state end,
       reason = case when ${IS_REFUSED} then null when c.state = 'in_doubt' then ${targetReason('c')} else c.reason end,
       attempts = 0, not_before = '-infinity', list_checks = 0, ${ENDS_ATTEMPT}
     from rekeyed w where c.feed = $1 and c.key = w.key`,
  );
  // The next pull sees the record under the new key.
  later(
    tx,
    feed,
    'update posting_expiry set record_hash = null, missing_pulls = 0 where feed = $1 and key = any($2::text[])',
    ended.map(({ key }) => key),
  );
  await applyEdits(tx, feed, moved);
  tx.leave(
    auditActions(tx, actor, 'rekey', [
      ...moved.map(({ key, oldKey, siteJobId, secondJobId }) => ({
        feed,
        key,
        detail: { from: oldKey, siteJobId, ...(secondJobId === null ? {} : { deletes: secondJobId }) },
      })),
      ...ended.map(({ key, oldKey }) => ({ feed, key, detail: { from: oldKey } })),
    ]),
  );
  later(
    tx,
    feed,
    `delete from rekey_posting r using (select true as is_new, key from rekeyed union all select false, old_key from rekeyed) w
     where r.feed = $1 and r.is_new = w.is_new and r.key = w.key`,
  );
  // The next pull must read the feed, changed or not; others of its jobs may have keys that their postings had before.
  tx.leave(
    tx.query('update feed_state set source_version = null, key_rule = $2 where feed = $1', [feed, KEYS_CHANGED]),
  );
  await endIfNothingLeft(tx, feed);
}

/** The site has refused the create, not one of the rules that hold for an update, too. */
const IS_REFUSED = `(c.state = 'failed' or (c.state = 'rejected' and not c.invalid))`;

/** What belongs to a second job, until the key of the first one is free. */
const OF_SECOND = ['mapping', 'document', 'uncertain_write'] as const;
/** No posting of a feed has a key with a control character. */
const ASIDE = `chr(1) || w.key`;

function setSecondJobsAside(tx: Transaction, feed: FeedName): void {
  const statements = [
    ...OF_SECOND.map(
      (table) =>
        `update ${table} t set key = ${ASIDE} from rekeyed w where t.feed = $1 and t.key = w.key and w.second is not null`,
    ),
    ...['former_document', 'ended_claim'].map(
      (table) => `delete from ${table} t using rekeyed w where t.feed = $1 and t.key = w.key and w.second is not null`,
    ),
  ];
  for (const statement of statements) later(tx, feed, statement);
}

/** Deletes the second jobs like all others: they belong to the old keys, which the feed does not have. No pull that is undone has done so. */
function endSecondJobs(tx: Transaction, feed: FeedName): void {
  for (const table of OF_SECOND)
    tx.leave(
      tx.query(`update ${table} t set key = w.old_key from rekeyed w where t.feed = $1 and t.key = ${ASIDE}`, [feed]),
    );
  later(
    tx,
    feed,
    `with ended as (
       insert into change as c (feed, key, site, desired, operation, invalid, state, target_state, approved)
       select $1, w.old_key, m.site, 'absent', 'delete', false, 'ready', 'ready', true
       from rekeyed w join mapping m on m.feed = $1 and m.key = w.old_key where w.second is not null
       on conflict (feed, key) do update set state = 'ready', target_state = 'ready', approved = true, reason = null, pull = null,
         since = now(), attempts = 0, not_before = '-infinity', revision = nextval('revision_number')
       returning xmax = 0 as added)
     update pull p set gone = p.gone + (select count(*) from ended where added)
     from feed_state f where f.feed = $1 and p.id = f.current_pull and p.complete`,
  );
}

/** What belongs to the old keys belongs to the new ones, or to none. */
function moveRows(tx: Transaction, feed: FeedName): void {
  const statements = [
    // Edits of the new posting replace those of the old one.
    `delete from override o using rekeyed w, override n where o.feed = $1 and o.key = w.old_key
       and n.feed = $1 and n.key = w.key and n.field = o.field`,
    ...['refuted_job', 'ended_claim'].map(
      (table) => `delete from ${table} o using rekeyed w, ${table} n where o.feed = $1 and o.key = w.old_key
         and n.feed = $1 and n.key = w.key and (n.site, n.site_job_id) = (o.site, o.site_job_id)`,
    ),
    // What the new key had of another job belongs to no posting any more, if the same pull changed the job that the key gets now.
    `delete from former_document n using rekeyed w where n.feed = $1 and n.key = w.key
       and exists (select from former_document o where o.feed = $1 and o.key = w.old_key and o.pull = n.pull)`,
    // How long the job has been on the site counts on.
    'delete from posting_expiry n using rekeyed w where n.feed = $1 and n.key = w.key',
    ...MOVED.map((table) => `update ${table} t set key = w.key from rekeyed w where t.feed = $1 and t.key = w.old_key`),
    ...DROPPED.map((table) => `delete from ${table} t using rekeyed w where t.feed = $1 and t.key = w.old_key`),
  ];
  for (const statement of statements) later(tx, feed, statement);
}

/** The new postings were read without the edits that they have now. The next pull reads them again, with the edits. */
async function applyEdits(
  session: Queryable,
  feed: FeedName,
  moved: readonly { readonly key: PostingKey }[],
): Promise<void> {
  const edited = await session.query<{ key: PostingKey; fields: Fields }>(
    `select c.key, c.fields from change c where c.feed = $1 and c.key = any($2::text[]) and c.desired = 'present'
       and exists (select from override o where o.feed = c.feed and o.key = c.key) order by c.key`,
    [feed, moved.map(({ key }) => key)],
  );
  if (edited.length === 0) return;
  const edits = await editsOfPostings(
    session,
    edited.map(({ key }) => ({ feed, key })),
  );
  const contents = edited.map(({ fields }, at) => withEdits(fields, edits[at] ?? []));
  await session.query(
    `update change c set fields = e.fields, content_hash = e.hash, record_hash = ${unreadHashSql('edited', 'c.key')}
     from unnest($2::text[], $3::json[], $4::bytea[]) e(key, fields, hash) where c.feed = $1 and c.key = e.key`,
    [
      feed,
      edited.map(({ key }) => key),
      contents.map((fields) => JSON.stringify(fields)),
      contents.map((fields) => contentHash(fields)),
    ],
  );
}

/** An edit applies as long as the feed has the value that it replaces. */
export const withEdits = (fields: Fields, edits: readonly EditRow[]): Fields => ({
  ...fields,
  ...Object.fromEntries(
    edits.flatMap(({ field, sourceValue, value }) => ((fields[field] ?? null) === sourceValue ? [[field, value]] : [])),
  ),
});

/** With no missing posting left, the new ones are new; with no new one left, nothing waits. */
async function endIfNothingLeft(session: Queryable, feed: FeedName): Promise<void> {
  const [left] = await session.query<{ both: boolean }>(
    // Unlike `exists`, the first key is always read from the index.
    `select (select min(key) from rekey_posting where feed = $1 and is_new) is not null
       and (select min(key) from rekey_posting where feed = $1 and not is_new) is not null as both`,
    [feed],
  );
  if (left?.both !== true) await endRekey(session, feed);
}

export interface DeniedRekey {
  /** Creates and deletes that no longer wait. */
  readonly creates: number;
  readonly deletes: number;
  /** Deletes that the delete guard holds, or an unreadable record. */
  readonly held: number;
}

const OWN_HOLD: HoldKind = 'rekey';

/** `undefined`: no change of keys is suspected. The caller holds the feed's pull lock. */
export function denyRekey(db: Database, feed: FeedName, actor: string): Promise<DeniedRekey | undefined> {
  return db.transaction(async (tx) => {
    await lockOutcomes(tx, feed);
    const [denied] = await tx.query(
      `update feed_state set rekey_denied = (select coalesce(max(id), 0) from change where feed = $1), rekey_denied_at = now()
       where feed = $1 and rekey_since is not null returning feed`,
      [feed],
    );
    if (denied === undefined) return undefined;
    await endRekey(tx, feed);
    const released = await tx.query(
      `update change set state = 'ready', target_state = 'ready', since = now(), reason = null, attempts = 0,
         not_before = '-infinity', revision = nextval('revision_number')
       where feed = $1 and desired = 'absent' and state = 'held' and reason->>'kind' = '${OWN_HOLD}' returning key`,
      [feed],
    );
    const [counts] = await tx.query<{ creates: number; held: number }>(
      `select count(*) filter (where operation = 'create' and desired = 'present' and state = 'ready') as creates,
         count(*) filter (where desired = 'absent' and state = 'held') as held from change where feed = $1`,
      [feed],
    );
    const { creates = 0, held = 0 } = counts ?? {};
    const detail = { creates, deletes: released.length, held };
    await auditAction(tx, { actor, action: 'keys are new', feed, detail });
    return detail;
  });
}
