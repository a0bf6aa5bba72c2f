// What follows from a restored database: deletes that were decided about another state of the site are held until the next complete pull
// decides again, and a posting whose job is gone gets the one that shows its reference.
import { type EndedAttempt, stateAfterLostWorker } from '../../plan/after-attempt.ts';
import type { ShownForms } from '../../plan/compare-shown.ts';
import { heldBecause } from '../../plan/delete-guard.ts';
import type { Reason } from '../../plan/desired-change.ts';
import { contentHash } from '../../posting/hash.ts';
import type { FeedName, PostingKey, PostingRef, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { auditAction } from '../access/audit.ts';
import { forgetVersions } from '../feed/feed-state.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import { WORKER_LEASE_LOCK } from '../locks/processes.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import {
  columnsOf,
  type Database,
  type Queryable,
  readColumn,
  readNumber,
  returnsRow,
  type Session,
  type Statements,
  transactionOn,
} from '../postgres/database.ts';
import { isPassing } from '../postgres/transient-error.ts';
import { unreadHashSql } from '../pull/record-hashes.ts';
import { namesOfSite } from '../site/known-address.ts';
import { insertUncertainAbandoned, markUncertain } from './attempt.ts';
import {
  changeReason,
  doubtReason,
  keepsAttempt,
  operationWithoutJob,
  retargetedReason,
  targetState,
} from './life-cycle.ts';

const REASON = heldBecause(
  'restored',
  'the database was restored from a backup, and the posting may be back: the next complete pull of the feed decides again',
);

/** Deletes that the site has refused and a person has discarded: reopened, they could be sent again. */
export const DISCARDED_REFUSAL = `state = 'discarded' and discarded_from in ('failed', 'rejected')`;

/**
 * Holds all deletes that were not done, approved or not, also those that the site has refused: a person who sends one again knows as
 * little. Discarded ones are held once they are reopened. Those under way when the backup was made are held once they end. Those that were held get a new revision: no action on many
 * entries that a person began before goes on with them. Returns how many were not held before.
 */
export async function holdRestoredDeletes(tx: Queryable): Promise<number> {
  await tx.query(`update change set revision = nextval('revision_number') where desired = 'absent' and state = 'held'`);
  return readNumber(
    tx,
    `with held as (
       update change set target_state = 'held', approved = false, attempts = 0, not_before = '-infinity',
         reason = case when state = 'in_doubt' then ${retargetedReason('change', '$1::jsonb')} else $1 end,
         state = case when attempt_token is null and state <> 'discarded' then 'held' else state end,
         discarded_from = case when state = 'discarded' then 'held' else discarded_from end,
         since = case when attempt_token is null and state <> 'discarded' then now() else since end,
         revision = case when attempt_token is null then nextval('revision_number') else revision end
       where desired = 'absent' and (state in ('ready', 'failed', 'rejected') or ${DISCARDED_REFUSAL} or attempt_token is not null)
       returning state)
     select count(*) as n from held where state <> 'discarded'`,
    [toJsonb(REASON)],
  );
}

/** The same for the delete of a posting that has another job now: nobody has decided about that one. No request for it is in flight. */
export async function holdDeleteOfReplaced(
  tx: Queryable,
  { feed, key, from, to }: { feed: FeedName; key: PostingKey; from: SiteJobId; to: SiteJobId },
): Promise<void> {
  const why = `the posting got job ${to} in place of job ${from}, which was to be deleted: the next complete pull of the feed decides again`;
  await tx.query(
    `update change set target_state = 'held', reason = $3, approved = false, attempts = 0, not_before = '-infinity',
       state = case when state = 'discarded' then state else 'held' end,
       discarded_from = case when state = 'discarded' then 'held' else discarded_from end,
       since = case when state = 'discarded' then since else now() end
     where feed = $1 and key = $2 and desired = 'absent' and (state in ('ready', 'failed', 'rejected') or ${DISCARDED_REFUSAL})`,
    [feed, key, toJsonb(heldBecause('restored', why))],
  );
}

export interface JobReplacement {
  readonly key: PostingKey;
  readonly from: SiteJobId;
  readonly to: SiteJobId;
  readonly url: string | undefined;
  /** The fields of the posting that the job shows: the next update sends whatever differs. */
  readonly shown: Fields;
  readonly forms?: ShownForms;
}

/**
 * Sends nothing. The caller holds the feed's pull lock. @param since when the site was read: a job that was deleted since then is
 * refused. Returns why nothing was written; `undefined`: it was.
 */
export async function replaceJob(
  session: Session,
  {
    feed,
    site,
    actor,
    since,
  }: { readonly feed: FeedName; readonly site: SiteName; readonly actor: string; readonly since: Date },
  replacement: JobReplacement,
): Promise<string | undefined> {
  const { key, from, to } = replacement;
  return transactionOn(session, async () => {
    await lockOutcomesShared(session, [feed]);
    // Locked in the order that all code uses, so that nothing is sent to the former job meanwhile.
    await session.query('select from change where feed = $1 and key = $2 for update', [feed, key]);
    await session.query('select from mapping where feed = $1 and key = $2 for update', [feed, key]);
    const refused = await whyNot(session, { feed, site, since }, replacement);
    if (refused === undefined) {
      await write(session, feed, site, replacement);
      await auditAction(session, { actor, action: 'replace job', feed, key, detail: { from, siteJobId: to } });
    }
    return refused;
  });
}

/**
 * The site has given the job of a change that waits another address: the change is sent there. What the job has is not certain. Parameters and
 * result are those of {@link replaceJob}.
 */
export const moveJob = (
  db: Database,
  {
    feed,
    site,
    since,
    revision,
  }: { readonly feed: FeedName; readonly site: SiteName; readonly since: Date; readonly revision: number },
  { key, from, to, url }: Omit<JobReplacement, 'shown' | 'forms'>,
): Promise<string | undefined> =>
  db.transaction(async (tx) => {
    const own = [feed, key, revision];
    if (!(await returnsRow(tx, 'select from change where feed = $1 and key = $2 and revision = $3 for update', own)))
      return 'the posting has changed meanwhile';
    await tx.query('select from mapping where feed = $1 and key = $2 for update', [feed, key]);
    const refused = await whyNot(tx, { feed, site, since }, { key, from, to });
    if (refused !== undefined) return refused;
    await tx.query(
      'update mapping set site_job_id = $3, site_job_url = $4, never_shown = false where feed = $1 and key = $2',
      [feed, key, to, url ?? null],
    );
    const names = await readColumn<string>(
      tx,
      'select json_object_keys(fields) as name from document where feed = $1 and key = $2',
      [feed, key],
    );
    await markUncertain(tx, { feed, key }, names, 0);
    await tx.query(
      `update change set not_before = '-infinity', attempts = 0, reason = reason - 'denied' where feed = $1 and key = $2`,
      [feed, key],
    );
    await tx.query('delete from site_reference where site = $1 and site_job_id = $2', [site, to]);
    return undefined;
  });

async function whyNot(
  session: Queryable,
  { feed, site, since }: { readonly feed: FeedName; readonly site: SiteName; readonly since: Date },
  { key, from, to }: Pick<JobReplacement, 'key' | 'from' | 'to'>,
): Promise<string | undefined> {
  const [row] = await session.query<{ message: string | null }>(
    `select case
       when m.key is null then 'the posting does not have job ' || $3 || ' any more'
       when c.attempt_token is not null then 'a request for it is in flight'
       when o.key is not null then 'job ' || $4 || ' belongs to posting ' || o.key || ' of feed ' || o.feed
       when s.key is not null then 'job ' || $4 || ' is an orphan of posting ' || s.key || ', about to be deleted'
       when exists (select from refuted_job x where x.feed = $1 and x.key = $2 and x.site = any($5::text[]) and x.site_job_id = $4)
         then 'a person said that job ' || $4 || ' is not the posting''s'
       when exists (select from request q where q.at >= $6 and q.operation = 'delete' and q.site_job_id = $4)
         then 'job ' || $4 || ' has been deleted meanwhile' end as message
     from (select) one left join mapping m on m.feed = $1 and m.key = $2 and m.site_job_id = $3
       left join change c on c.feed = $1 and c.key = $2
       left join mapping o on o.site = any($5::text[]) and o.site_job_id = $4
       left join orphan_site_job s on s.site = any($5::text[]) and s.site_job_id = $4 limit 1`,
    [feed, key, from, to, await namesOfSite(session, site), since],
  );
  return row?.message ?? undefined;
}

/** The record hash matches nothing, so that the next pull compares the posting; it is unique, as pulls take equal ones for one posting. */
async function write(
  session: Queryable,
  feed: FeedName,
  site: SiteName,
  { key, from, to, url, shown, forms }: JobReplacement,
): Promise<void> {
  await session.query(
    `update mapping set site_job_id = $3, site_job_url = $4, content_hash = $5, adopted = true, created_by = null, never_shown = false,
       mapped_at = now(), record_hash = ${unreadHashSql('recovered')} where feed = $1 and key = $2`,
    [feed, key, to, url ?? null, contentHash(shown)],
  );
  await session.query(
    `insert into document (feed, key, fields, shown) values ($1, $2, $3, $4)
     on conflict (feed, key) do update set fields = excluded.fields, shown = excluded.shown`,
    [feed, key, JSON.stringify(shown), forms ?? null],
  );
  // It was about the former job.
  await session.query('delete from uncertain_write where feed = $1 and key = $2', [feed, key]);
  await holdDeleteOfReplaced(session, { feed, key, from, to });
  // A worker that has already read the former job holds the old revision.
  await session.query(
    `update change set revision = nextval('revision_number') where feed = $1 and key = $2 and attempt_token is null`,
    [feed, key],
  );
  await session.query('delete from site_reference where site = $1 and site_job_id = $2', [site, to]);
  await forgetVersions(session, [feed]);
}

// Recovers changes that nothing else moves on: attempts of dead processes (sending → in_doubt for a create, → the target state or failed
// for the others), changes that no worker could process, and waits that began under a wrong clock.

const ABANDONED: Reason = {
  kind: 'orphaned',
  message: 'the worker that sent this request ended before it recorded the outcome',
  problems: [],
};

/** Time limits of attempts and their requests, and how often one version may be tried. */
export interface AttemptLimits {
  /** The longest time that an attempt may take. */
  readonly deadlineMs: number;
  /** How long a sent request may still arrive. */
  readonly mayLandMs: number;
  readonly mostTries: number;
}

/**
 * Recovers attempts whose worker is dead, or that are older than any request can be. A create becomes a doubt. Updates and
 * deletes are released and may be repeated, with their fields uncertain; those tried too often fail.
 * @returns how many were recovered.
 */
export function recoverAbandoned(
  db: Statements,
  site: SiteName,
  { deadlineMs, mayLandMs, mostTries }: AttemptLimits,
): Promise<number> {
  return db.transaction(async (tx) => {
    const abandoned = await lockAbandoned(tx, site, deadlineMs);
    if (abandoned.length === 0) return 0;
    const states = abandoned.map((change) => stateAfterLostWorker(change.operation, change, mostTries));
    const poisoned = `tried more than ${mostTries} times, and the worker ended again before it recorded the outcome`;
    await tx.query(
      `with abandoned as (
         select c.*, a.next from unnest($1::text[], $2::text[], $3::text[]) a(feed, key, next)
         join change c on c.feed = a.feed and c.key = a.key),
       noted as (${insertUncertainAbandoned('abandoned', '$4')})
       update change c set state = case when a.next = 'target' then ${targetState('c')} else a.next end, since = now(),
         operation = ${operationWithoutJob('c')},
         reason = case when a.next = 'failed' then $5::jsonb
           when a.next = 'target' and c.target_state in ('held', 'rejected') then coalesce(c.reason, $6::jsonb)
           when a.next = 'in_doubt' then ${doubtReason('c', '$6::jsonb')} else $6::jsonb end, not_before = '-infinity',
         ${keepsAttempt('c', `a.next = 'in_doubt'`)}
       from abandoned a where c.feed = a.feed and c.key = a.key`,
      [
        ...columnsOf(abandoned, 'feed', 'key'),
        states,
        mayLandMs / 1000,
        changeReason('poisoned', poisoned),
        toJsonb(ABANDONED),
      ],
    );
    return abandoned.length;
  });
}

interface AbandonedChange extends PostingRef, EndedAttempt {
  readonly operation: 'create' | 'update' | 'delete';
}

/** The changes of abandoned attempts, locked in the order that all code uses. */
async function lockAbandoned(tx: Queryable, site: SiteName, deadlineMs: number): Promise<AbandonedChange[]> {
  return tx.query<AbandonedChange>(
    `select c.feed, c.key, c.attempt_operation as operation, c.attempts, c.sent_revision is not null as superseded
     from change c
     where c.site = $1 and c.state = 'sending' and (c.attempt_started < clock_timestamp() - make_interval(secs => $2)
       or not exists (select from pg_locks l where l.locktype = 'advisory' and l.classid = ${WORKER_LEASE_LOCK}
                        and l.objid = c.attempt_worker and l.granted
                        and l.database = (select oid from pg_database where datname = current_database())))
     order by c.feed, c.key for update of c`,
    [site, deadlineMs / 1000],
  );
}

/**
 * Fails a ready change so that no worker claims it again. A change in flight is left to its attempt, or to the recovery of
 * lost attempts. A transient database error does not count against a change.
 */
export async function failPoisoned(db: Database, posting: PostingRef, error: Error): Promise<void> {
  if (isPassing(error)) return;
  await db.query(
    `update change set state = 'failed', since = now(), reason = $3
     where feed = $1 and key = $2 and state = 'ready'`,
    [posting.feed, posting.key, changeReason('poisoned', `it could not be processed: ${error.message}`)],
  );
}

/**
 * Ends each wait for the site, or for a change to be sent again, that lasts longer than `longestMs` from now, and each pause between two
 * readings of the list or two deletes of an orphan. A request that may still reach the site was sent by now, whichever of the times is wrong:
 * from now on it is waited for as long as after any. A create in doubt that began in the future stays as it is: if the clock is behind now,
 * instead of having been ahead, to end its wait could duplicate a job. An orphan that was noted in the future waits for all doubts
 * of the site (`dueOrphans`).
 */
export async function endFarWaits(
  db: Queryable,
  site: SiteName,
  { longestMs, mayLandMs }: { readonly longestMs: number; readonly mayLandMs: number },
): Promise<void> {
  const far = 'now() + make_interval(secs => $2::float8)';
  await db.query(
    `with state as (
       update site_state set not_before = case when not_before > ${far} then '-infinity' else not_before end,
         next_probe = case when next_probe > ${far} then now() else next_probe end
       where site = $1 and (not_before > ${far} or next_probe > ${far})),
     tokens as (update refused_token set next_probe = now() where site = $1 and next_probe > ${far}),
     doubts as (update change set not_before = '-infinity' where site = $1 and state = 'in_doubt' and attempt_started <= now()
       and not_before > ${far} and not_before < 'infinity'),
     orphans as (update orphan_site_job set not_before = now() + make_interval(secs => $3::float8),
         noted_at = case when noted_at > now() then '-infinity' else noted_at end
       where site = $1 and not_before > ${far}),
     writes as (update uncertain_write u set until = now() + make_interval(secs => $3::float8)
       from mapping m where m.site = $1 and m.feed = u.feed and m.key = u.key and u.until > ${far})
     update change c set not_before = '-infinity'
     from feed_state f where f.site = $1 and f.feed = c.feed and c.site = f.site and c.state = 'ready' and c.not_before > '-infinity'
       and c.not_before > ${far} and c.not_before < 'infinity'`,
    [site, longestMs / 1000, mayLandMs / 1000],
  );
}
