// Samples site jobs of every age that should exist, to check whether the site is still the one they were created on.
import { type FeedName, type PostingKey, type SiteJobId, type SiteName, siteJobId } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import type { Queryable } from '../postgres/database.ts';

// Excludes jobs that are being deleted, and those known to be gone.
const EXPECTED = `m.site = $1 and m.site_job_id <> $2
  and not exists (select from change c where c.feed = m.feed and c.key = m.key
                  and (c.operation = 'delete' or c.reason->>'kind' = 'gone'))`;

const RECENT = 3;
const YOUNGEST = 2;
const ANY = 4;

/** Jobs that the site accepted most recently: expiry is least likely to have removed them. */
export const recentlyAccepted = (db: Queryable, site: SiteName, not?: SiteJobId): Promise<SiteJobId[]> =>
  recent(db, site, ['created', 'accepted'], not);

/** Jobs that the site made most recently. That it shows an older one, which was updated since, says nothing about new ones. */
export const recentlyCreated = (db: Queryable, site: SiteName): Promise<SiteJobId[]> => recent(db, site, ['created']);

async function recent(
  db: Queryable,
  site: SiteName,
  outcomes: readonly string[],
  not?: SiteJobId,
): Promise<SiteJobId[]> {
  const rows = await db.query<{ site_job_id: string }>(
    `select m.site_job_id from request r join mapping m on m.feed = r.feed and m.key = r.key
     where r.at > now() - interval '1 day' and r.outcome = any($4::text[]) and r.operation <> 'delete' and ${EXPECTED}
     order by r.at desc limit $3`,
    [site, not ?? '', RECENT, outcomes],
  );
  return uniqueIds(rows);
}

/** The youngest jobs, and some of any age. Reads all mappings of the site. */
export async function sampleOfAges(db: Queryable, site: SiteName, not?: SiteJobId): Promise<SiteJobId[]> {
  const rows = await db.query<{ site_job_id: string }>(
    `with expected as materialized (select m.site_job_id, m.mapped_at from mapping m where ${EXPECTED})
     (select site_job_id from expected order by mapped_at desc limit $3)
     union all (select site_job_id from expected order by random() limit $4)`,
    [site, not ?? '', YOUNGEST, ANY],
  );
  return uniqueIds(rows);
}

/** A job with what the site last accepted for it. */
export interface KnownJob {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  readonly fields: Fields;
}

/**
 * Jobs of any age, most recently accepted first, as expiry is least likely to have removed those. Excludes jobs with an
 * attempt in flight or an uncertain write.
 */
export async function jobsToCompare(db: Queryable, site: SiteName, most: number): Promise<KnownJob[]> {
  const rows = await db.query<KnownJob & Record<string, unknown>>(
    `with expected as materialized (select m.feed, m.key, m.site_job_id, m.mapped_at from mapping m where ${EXPECTED}
         and not exists (select from change c where c.feed = m.feed and c.key = m.key and c.attempt_token is not null)
         and not exists (select from uncertain_write u where u.feed = m.feed and u.key = m.key)
         and exists (select from document d where d.feed = m.feed and d.key = m.key)),
       youngest as (select * from expected order by mapped_at desc limit $3 / 4),
       others as (select * from expected e where not exists (select from youngest y where (y.feed, y.key) = (e.feed, e.key))
         order by random() limit $3 - $3 / 4)
     select x.feed, x.key, x.site_job_id as "siteJobId", d.fields
     from (select 0 as rank, * from youngest union all select 1, * from others) x
     join document d on d.feed = x.feed and d.key = x.key order by x.rank, random()`,
    [site, '', most],
  );
  return rows;
}

/** This few jobs may all have expired; if the site is believed wrongly, no more than these are created twice. */
export const FEW_JOBS = 5;

/** Whether the site has at most `most` jobs of ours, all older than a day. */
export async function areFewAndOld(db: Queryable, site: SiteName, most: number): Promise<boolean> {
  const [row] = await db.query<{ few_and_old: boolean }>(
    `select count(*) <= $2 and coalesce(bool_and(mapped_at < now() - interval '1 day'), true) as few_and_old
     from (select mapped_at from mapping where site = $1 limit $2 + 1) m`,
    [site, most],
  );
  return row?.few_and_old === true;
}

const uniqueIds = (rows: readonly { site_job_id: string }[]): SiteJobId[] => [
  ...new Set(rows.map((row) => siteJobId(row.site_job_id))),
];

/** The youngest jobs that we made with a reference. */
export async function jobsWithReference(
  db: Queryable,
  site: SiteName,
  referenceField: string,
  most: number,
): Promise<readonly { readonly siteJobId: SiteJobId; readonly fields: Fields }[]> {
  const rows = await db.query<{ id: string; fields: Fields }>(
    `select m.site_job_id as id, d.fields from mapping m join document d on d.feed = m.feed and d.key = m.key
     where ${EXPECTED} and not m.adopted and m.created_by is not null and btrim(coalesce(d.fields->>$3, '')) <> ''
     order by m.mapped_at desc limit $4`,
    [site, '', referenceField, most],
  );
  return rows.map(({ id, fields }) => ({ siteJobId: siteJobId(id), fields }));
}
