// Picks a few site jobs that should be there, to see whether the site is still the one they were made on.
import { type SiteJobId, type SiteName, siteJobId } from '../posting/identifiers.ts';
import type { Queryable } from './database.ts';

/** Up to `limit` job IDs of the site, other than the given one, of postings that are not to be deleted. */
export async function otherJobIds(db: Queryable, site: SiteName, not: SiteJobId, limit: number): Promise<SiteJobId[]> {
  const rows = await db.query<{ site_job_id: string }>(
    `select site_job_id from mapping m where site = $1 and site_job_id <> $2
       and not exists (select from change c where c.feed = m.feed and c.key = m.key and c.operation = 'delete')
     order by site_job_id limit $3`,
    [site, not, limit],
  );
  return rows.map((row) => siteJobId(row.site_job_id));
}
