// Protects the jobs of postings whose records are unreadable: these postings are still in the feed.
import { type HeldByGuard, type HoldKind, lastingReason } from '../../../plan/delete-guard.ts';
import type { Reason } from '../../../plan/desired-change.ts';
import { deletesMissing } from '../../../plan/policy.ts';
import { toJsonb } from '../../postgres/copy-rows.ts';
import { readColumn, readNumber } from '../../postgres/database.ts';
import { keysByHash } from '../../postgres/stream-rows.ts';
import type { PullTransaction } from '../../pull/pull-transaction.ts';
import { retargetedReason } from '../life-cycle.ts';
import { DISCARDED_REFUSAL } from '../restored-database.ts';

const BATCH = 10_000;

/** The revision for which the request in flight was sent. */
const SENT_REVISION = 'case when c.attempt_token is not null then coalesce(c.sent_revision, c.revision) end';

/** An update to what the site last accepted, from the mapping `m` and its document `d`. */
const RESTORED = `desired = 'present', operation = 'update', fields = d.fields, record_hash = m.record_hash,
  content_hash = m.content_hash, sent_revision = ${SENT_REVISION}, revision = nextval('revision_number'),
  state = case when c.attempt_token is null then 'ready' else c.state end, since = now(), not_before = '-infinity',
  target_state = 'ready', approved = false, gone = false, attempts = 0, reason = null`;

/** The version that was sent for the request in flight or in doubt. */
const AS_SENT = `desired = 'present', operation = c.attempt_operation, fields = c.sent_fields,
  record_hash = c.sent_record_hash, content_hash = c.sent_content_hash, revision = c.sent_revision,
  pull = coalesce(c.sent_pull, c.pull), target_state = 'ready', approved = false, gone = false,
  sent_fields = null, sent_record_hash = null, sent_content_hash = null, sent_revision = null, sent_pull = null`;

const UNCERTAIN =
  'exists (select from uncertain_write u where u.feed = c.feed and u.key = c.key and u.fields is not null)';

/** A person has decided to keep the job of an expired posting: its posting has been in the feed all the time. */
const KEPT = `c.state = 'discarded' and exists (select from posting_expiry e where e.feed = c.feed and e.key = c.key and e.expired_at is not null)`;

/** A record with places that can't be read may be any posting whose key begins with its own. */
const UNREADABLE_PLACES = `(select k.key from unreadable_key r
  join (select key from mapping where feed = $1 union select key from change where feed = $1) k
    on r.key = regexp_replace(k.key, '[^|]*$', ''))`;

/**
 * Removes these postings from the missing ones and collects them in the temporary table `protected`. Skips postings that
 * also have a readable record in this pull. What the open change of each other one becomes:
 *
 * | desired | request in flight or in doubt | its outcome uncertain | content | the change                                     |
 * | ------- | ----------------------------- | --------------------- | ------- | ---------------------------------------------- |
 * | present | any                           | any                   | any     | is kept, and counts towards no pull            |
 * | absent  | create, update                | any                   | any     | becomes the version that was sent              |
 * | absent  | none                          | no                    | any     | is dropped: the job stays                      |
 * | absent  | none                          | yes                   | known   | becomes an update to what was accepted last    |
 * | absent  | none                          | yes                   | unknown | is held: a person must approve the delete      |
 * | absent  | delete                        | any                   | known   | becomes an update to what was accepted last    |
 * | absent  | delete                        | any                   | unknown | is held: a person must approve the delete      |
 *
 * The content of an adopted job is unknown: it could not be created again if its delete succeeds.
 *
 * @param hasSeenChange whether the pull saw the open change with this record hash.
 */
export async function protectUnreadable(
  pullTx: PullTransaction,
  hasSeenChange: (recordHash: Buffer) => boolean,
): Promise<void> {
  if (!pullTx.unreadableKeys.exists) return;
  const { session, subject } = pullTx;
  const { feed, pull } = subject;
  await pullTx.protectedPostings.create();
  await session.query(
    `insert into protected select distinct u.key from ${subject.hasPlaces ? UNREADABLE_PLACES : 'unreadable_key'} u
     where not exists (select from change c where c.feed = $1 and c.key = u.key and c.pull = $2)
       and not exists (select from ${pullTx.pendingSame.rows} r where r.key = u.key)`,
    [feed, pull],
  );
  await removeSeen(pullTx, hasSeenChange);
  await session.query('analyze protected');

  const these = 'from protected p where c.feed = $1 and c.key = p.key';
  await session.query(
    `update change c set gone = false, missing_pulls = 0, unseen = true ${these} and c.desired = 'present'`,
    [feed],
  );
  await session.query(
    `delete from change c using protected p
     where c.feed = $1 and c.key = p.key and c.desired = 'absent' and c.attempt_token is null
       and not ${UNCERTAIN} and not (${KEPT})`,
    [feed],
  );
  await session.query(
    `update change c set ${AS_SENT}, unseen = true
     ${these} and c.desired = 'absent' and c.attempt_token is not null and c.sent_fields is not null`,
    [feed],
  );
  await session.query(
    `update change c set ${RESTORED}, unseen = true
     from protected p join mapping m on m.feed = $1 and m.key = p.key join document d on d.feed = $1 and d.key = p.key
     where c.feed = $1 and c.key = p.key and c.desired = 'absent' and not (${KEPT})`,
    [feed],
  );
  await session.query(
    `update change c set target_state = 'held', approved = false, sent_revision = ${SENT_REVISION},
       state = case when c.attempt_token is null then 'held' else c.state end,
       revision = nextval('revision_number') ${these} and c.desired = 'absent' and not (${KEPT})`,
    [feed],
  );
  await session.query(
    `delete from protected p using change c where c.feed = $1 and c.key = p.key and c.desired = 'absent'`,
    [feed],
  );
  await session.query(
    'update mapping m set missing_pulls = 0 from protected p where m.feed = $1 and m.key = p.key and m.missing_pulls > 0',
    [feed],
  );
}

async function removeSeen(
  { session, subject }: PullTransaction,
  hasSeenChange: (recordHash: Buffer) => boolean,
): Promise<void> {
  const select = `select c.key, c.record_hash as hash from protected p join change c on c.key = p.key
    where c.desired = 'present' and c.feed = $1`;
  for await (const seen of keysByHash(session, 'protected_change', select, BATCH, hasSeenChange, [subject.feed]))
    await session.query('delete from protected where key = any($1::text[])', [seen]);
}

/** Removes the protected postings from those that {@link collectMissing} found. */
export async function keepProtected({ session, protectedPostings }: PullTransaction): Promise<void> {
  if (protectedPostings.exists) await session.query('delete from missing x using protected p where x.key = p.key');
}

/**
 * Holds the deletes that wait, or that were refused and may be sent again: a record without a key may be any of their postings.
 * One whose request is in flight or in doubt, whatever it requests, is held once that ends, and a refused one that a person has discarded
 * once it is reopened. Approved deletes stay approved. One that is held for keys that seem to have changed is held for such a record too:
 * that the keys have not changed does not release it. Returns how many are held now, or once their requests end.
 */
export async function holdWaitingDeletes({ session, subject }: PullTransaction, reason: Reason): Promise<number> {
  // The candidates of a doubt stay with it.
  return readNumber(
    session,
    `with held as (
       update change c set target_state = 'held', attempts = 0, sent_revision = ${SENT_REVISION}, revision = nextval('revision_number'),
         state = case when c.attempt_token is null and c.state <> 'discarded' then 'held' else c.state end,
         discarded_from = case when c.state = 'discarded' then 'held' else c.discarded_from end,
         since = case when c.attempt_token is null and c.state <> 'discarded' then now() else c.since end,
         not_before = case when c.attempt_token is null then '-infinity' else c.not_before end,
         reason = case when c.state = 'in_doubt' then ${retargetedReason('c', '$2::jsonb')}
           when c.state = 'held' then $2::jsonb || jsonb_build_object('message', concat_ws('; ', $2::jsonb->>'message', c.reason->>'message'),
             'next', coalesce($2::jsonb->'next', '[]') || coalesce(c.reason->'next', '[]'))
           else $2::jsonb end
       where feed = $1 and desired = 'absent' and not approved
         and (state in ('ready', 'failed', 'rejected') or ${DISCARDED_REFUSAL} or attempt_token is not null and target_state = 'ready'
           or state = 'held' and reason->>'kind' = 'rekey' and $2::jsonb->>'kind' = 'unreadable') returning c.state)
     select count(*) as n from held where state <> 'discarded'`,
    [subject.feed, toJsonb(reason)],
  );
}

/** The kinds of holds that end by themselves. */
type ReleasedKind = Exclude<HoldKind, 'guard'>;

/** A person has undone a pull: that is done under each policy. */
const OF_UNDO = 'exists (select from pull p where p.id = c.pull and p.undoes is not null)';

const OF_GUARD = `c.feed = $1 and c.state = 'held' and c.desired = 'absent' and c.reason->>'kind' = 'guard' and not ${OF_UNDO}`;

/** How many deletes the guard has held, apart from those of an undo. */
export async function countHeldByGuard({ session, subject: { feed } }: PullTransaction): Promise<HeldByGuard> {
  const [row] = await session.query<HeldByGuard>(
    `select count(*) as held, count(*) filter (where exists (
       select from posting_expiry e where e.feed = c.feed and e.key = c.key and e.expired_at is not null)) as expired
     from change c where ${OF_GUARD}`,
    [feed],
  );
  return row as HeldByGuard;
}

/** Gives these deletes the present reason: that of the pull which has held them may be about another state of the feed. */
export async function rewordHolds({ session, subject: { feed } }: PullTransaction, reason: Reason): Promise<void> {
  const stored = await session.query<{ reason: Reason }>(`select distinct c.reason from change c where ${OF_GUARD}`, [
    feed,
  ]);
  if (stored.length === 1 && stored.every((row) => lastingReason(row.reason) === lastingReason(reason))) return;
  await session.query(`update change c set reason = $2 where ${OF_GUARD} and c.reason is distinct from $2::jsonb`, [
    feed,
    toJsonb(reason),
  ]);
}

/**
 * Removes deletes that were held only because of a record without a key, or of keys that seemed to have changed; the pull decides
 * again about what is still missing. If the pull keeps a job whose state is uncertain, the job must be set again, so these
 * deletes become updates. Those of adopted jobs whose content is unknown stay held. Of a feed that deletes nothing, no pull would decide
 * about those of an undo, whose posting may have another job by now: they are left to a person.
 * @param emptySources what keeps deletes that are held because of one of them
 */
export async function releaseHolds(
  pullTx: PullTransaction,
  kinds: readonly ReleasedKind[],
  emptySources: readonly string[] = [],
): Promise<void> {
  const held = `c.state = 'held' and c.reason->>'kind' in (${kinds.map((kind) => `'${kind}'`).join(', ')})
    and (c.reason->>'kind' <> 'empty_source' or not coalesce(c.reason->'sources' ?| $2, false))`;
  return keepJobs(pullTx, deletesMissing(pullTx.subject.policy) ? held : `${held} and not ${OF_UNDO}`, [emptySources]);
}

/** The sources that were empty when deletes were held for that alone. */
export const sourcesOfHolds = ({ session, subject: { feed } }: PullTransaction): Promise<string[]> =>
  readColumn<string>(
    session,
    `select distinct jsonb_array_elements_text(c.reason->'sources') from change c
     where c.feed = $1 and c.state = 'held' and c.desired = 'absent' and c.reason->>'kind' = 'empty_source'`,
    [feed],
  );

/** Whether a delete of the feed is held for a person, or will be once its request ends. @param kind only for this */
export const anyHeldDelete = async (
  { session, subject: { feed } }: PullTransaction,
  kind?: HoldKind,
): Promise<boolean> =>
  (
    await session.query(
      `select from change c where c.feed = $1 and c.desired = 'absent' and not ${OF_UNDO}
         and (c.state = 'held' or c.attempt_token is not null and c.target_state = 'held')
         and ($2::text is null or c.reason->>'kind' = $2) limit 1`,
      [feed, kind ?? null],
    )
  ).length > 0;

/**
 * Removes all deletes that wait, of a feed that deletes nothing any more, in the same way, apart from those that a person approved and those of an
 * undo. One that waits for a create or update in flight or in doubt becomes what was sent: a job that is made or found for it stays.
 */
export async function withdrawDeletes(pullTx: PullTransaction): Promise<void> {
  await keepJobs(pullTx, `c.state in ('ready', 'held') and not c.approved and not ${OF_UNDO}`);
  await keepMaybeMade(pullTx);
}

/** Those without a job yet count as missing from now on. */
async function keepMaybeMade({ session, subject: { feed }, missingChanges }: PullTransaction): Promise<void> {
  const kept = await session.query<{ key: string; mapped: boolean }>(
    `update change c set ${AS_SENT}, unseen = true
     where c.feed = $1 and c.desired = 'absent' and c.attempt_token is not null and c.sent_fields is not null and not ${OF_UNDO}
     returning c.key, exists (select from mapping m where m.feed = c.feed and m.key = c.key) as mapped`,
    [feed],
  );
  await missingChanges.copy(kept.flatMap(({ key, mapped }) => (mapped ? [] : [[key]])));
}

async function keepJobs(
  { session, subject }: PullTransaction,
  which: string,
  values: readonly unknown[] = [],
): Promise<void> {
  const held = `c.feed = $1 and c.desired = 'absent' and ${which}`;
  await session.query(
    `update change c set ${RESTORED}, unseen = false
     from mapping m join document d on d.feed = m.feed and d.key = m.key
     where ${held} and ${UNCERTAIN} and m.feed = c.feed and m.key = c.key`,
    [subject.feed, ...values],
  );
  await session.query(`delete from change c where ${held} and not ${UNCERTAIN}`, [subject.feed, ...values]);
}
