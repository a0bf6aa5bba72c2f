// Keeps site jobs that were made twice after all: ours, mapped by nothing, to be deleted by their ID.
import { type SiteJobId, type SiteName, siteJobId } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

/** Strays of a site that are due and that no mapping has come to own. */
export async function dueOrphans(db: Queryable, site: SiteName, limit: number): Promise<SiteJobId[]> {
  const rows = await db.query<{ site_job_id: string }>(
    `select s.site_job_id from orphan_site_job s where s.site = $1 and s.not_before <= now()
       and not exists (select from mapping m where m.site = s.site and m.site_job_id = s.site_job_id)
     order by s.noted_at limit $2`,
    [site, limit],
  );
  return rows.map((row) => siteJobId(row.site_job_id));
}

export async function countOrphans(db: Queryable, site: SiteName): Promise<number> {
  const [row] = await db.query<{ n: number }>('select count(*) as n from orphan_site_job where site = $1', [site]);
  return row?.n ?? 0;
}

/** Takes one in hand for `delayMs`; `false`: it is an orphan no more, or somebody else has it in hand. */
export async function takeOrphan(db: Queryable, site: SiteName, id: SiteJobId, delayMs: number): Promise<boolean> {
  const rows = await db.query(
    `update orphan_site_job set attempts = attempts + 1, not_before = now() + make_interval(secs => $3)
     where site = $1 and site_job_id = $2 and not_before <= now() returning site`,
    [site, id, delayMs / 1000],
  );
  return rows.length > 0;
}

export async function forgetOrphan(db: Queryable, site: SiteName, id: SiteJobId): Promise<void> {
  await db.query('delete from orphan_site_job where site = $1 and site_job_id = $2', [site, id]);
}
