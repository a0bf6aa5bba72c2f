// What follows from a restored database: deletes that were decided about another state of the site are held until the next complete pull
// decides again, and a posting whose job is gone gets the one that shows its reference.
import { heldBecause } from '../../plan/delete-guard.ts';
import type { ShownForms } from '../../plan/shown-forms.ts';
import { contentHash } from '../../posting/hash.ts';
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { auditAction } from '../access/audit.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import type { Queryable, Session } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import { unreadHashSql } from '../pull/unread-hash.ts';
import { namesOfSite } from '../site/known-address.ts';
import { retargetedReason } from './target-state.ts';

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
  const [row] = await tx.query<{ n: number }>(
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
  return row?.n ?? 0;
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
  /** Those fields of the posting that the job shows: the next update sends whatever differs. */
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
  await session.query('begin');
  try {
    await lockOutcomesShared(session, [feed]);
    // Locked in the order that all code uses, so that nothing is sent to the former job meanwhile.
    await session.query('select from change where feed = $1 and key = $2 for update', [feed, key]);
    await session.query('select from mapping where feed = $1 and key = $2 for update', [feed, key]);
    const refused = await whyNot(session, { feed, site, since }, replacement);
    if (refused === undefined) {
      await write(session, feed, site, replacement);
      await auditAction(session, { actor, action: 'replace job', feed, key, detail: { from, siteJobId: to } });
    }
    await session.query('commit');
    return refused;
  } catch (error) {
    await session.query('rollback').catch(() => undefined);
    throw error;
  }
}

async function whyNot(
  session: Queryable,
  { feed, site, since }: { readonly feed: FeedName; readonly site: SiteName; readonly since: Date },
  { key, from, to }: JobReplacement,
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
  // The next pull must read the feed, changed or not.
  await session.query('update feed_state set source_version = null where feed = $1', [feed]);
}
