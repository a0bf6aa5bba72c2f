// Which posting owns a site job, and how that ends when the site has returned its ID for a later create: the older job is gone.
import { SHARED_JOB_WINDOW_HOURS } from '../../plan/whose-job.ts';
import {
  type FeedName,
  type PostingKey,
  type PostingRef,
  type SiteJobId,
  type SiteName,
  siteJobId,
} from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { auditAction } from '../access/audit.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import type { Queryable } from '../postgres/database.ts';
import { noteSign } from '../site/ahead-signs.ts';
import { areOfOneJob } from '../site/titled-id.ts';

/** The posting that owns the job so far. */
export interface JobOwner extends PostingRef {
  readonly site: SiteName;
  /** As its mapping has it. */
  readonly siteJobId: SiteJobId;
  /** What the site last accepted; `undefined` if unknown. */
  readonly fields: Fields | undefined;
}

/** The posting that owns the job under one of these names of a site, perhaps by another form of its ID, locked until the transaction ends. */
export async function lockOwner(
  tx: Queryable,
  sites: readonly SiteName[],
  id: SiteJobId,
): Promise<JobOwner | undefined> {
  const [row] = await tx.query<{ id: string; site: SiteName; feed: FeedName; key: PostingKey; fields: Fields | null }>(
    `select m.site_job_id as id, m.site, m.feed, m.key, d.fields
     from mapping m left join document d on d.feed = m.feed and d.key = m.key
     where m.site = any($1::text[]) and ${areOfOneJob('m.site_job_id', '$2::text')}
     order by m.site_job_id <> $2 limit 1 for update of m`,
    [sites, id],
  );
  return row === undefined
    ? undefined
    : { site: row.site, siteJobId: siteJobId(row.id), feed: row.feed, key: row.key, fields: row.fields ?? undefined };
}

/** Whether the posting recently lost the job of this ID: then the site passes one job between two postings. */
export async function hasLostOwnership(tx: Queryable, posting: PostingRef, site: SiteName, id: SiteJobId) {
  const rows = await tx.query(
    `select from ended_claim where site = $1 and ${areOfOneJob('site_job_id', '$2::text')} and feed = $3 and key = $4
       and ended_at > now() - make_interval(hours => $5)`,
    [site, id, posting.feed, posting.key, SHARED_JOB_WINDOW_HOURS],
  );
  return rows.length > 0;
}

/**
 * Ends the ownership. A pending delete has nothing left to delete; a posting still in its feed is created again by its open
 * change or by the next pull. A request in flight for it continues and may still reach the job.
 * @returns whether a request for it is in flight, or may still arrive.
 */
export async function endOwnership(tx: Queryable, older: JobOwner, taker: PostingRef): Promise<boolean> {
  const { site, siteJobId: id, feed, key } = older;
  await lockOutcomesShared(tx, [feed]);
  await tx.query('delete from mapping where feed = $1 and key = $2 and site_job_id = $3', [feed, key, id]);
  await tx.query('delete from document where feed = $1 and key = $2', [feed, key]);
  const uncertain = await tx.query<{ may_land: boolean }>(
    'delete from uncertain_write where feed = $1 and key = $2 returning until > now() as may_land',
    [feed, key],
  );
  // A worker that has already read the mapping holds the old revision, so it cannot claim anything for the job.
  await tx.query(
    `update change set revision = nextval('revision_number'),
       operation = case when desired = 'present' then 'create' else 'delete' end,
       state = case when desired = 'absent' then 'ready' else state end,
       since = case when desired = 'absent' then now() else since end,
       not_before = case when desired = 'absent' then '-infinity' else not_before end
     where feed = $1 and key = $2 and attempt_token is null`,
    [feed, key],
  );
  const sending = await tx.query('select from change where feed = $1 and key = $2 and attempt_token is not null', [
    feed,
    key,
  ]);
  await tx.query('delete from ended_claim where ended_at < now() - make_interval(hours => $1)', [
    SHARED_JOB_WINDOW_HOURS,
  ]);
  await tx.query(
    `insert into ended_claim (site, site_job_id, feed, key) values ($1, $2, $3, $4)
     on conflict (site, site_job_id, feed, key) do update set ended_at = now()`,
    [site, id, feed, key],
  );
  await noteSign(tx, site, id);
  // The next pull must read the feed, changed or not.
  await tx.query('update feed_state set source_version = null where feed = $1', [feed]);
  const detail = { site, siteJobId: id, takenBy: taker };
  const actor = 'jobmirror';
  const given = `the site gave it to posting ${taker.key} of feed ${taker.feed}`;
  await auditAction(tx, { actor, action: `end the claim to job ${id}: ${given}`, feed, key, detail });
  const before = `posting ${key} of feed ${feed} had it before`;
  await auditAction(tx, {
    actor,
    action: `take job ${id}: ${before}`,
    feed: taker.feed,
    key: taker.key,
    detail: { ...detail, from: { feed, key } },
  });
  return sending.length > 0 || uncertain.some(({ may_land }) => may_land);
}
