// Stores the address at which a site's jobs were created, so that another site under the same name is not taken for it.
import type { Message } from '../../plan/message.ts';
import { type SiteName, siteName } from '../../posting/identifiers.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { type Queryable, returnsRow } from '../postgres/database.ts';

/** A site whose configured address differs from the one at which its jobs were created. */
export interface SiteMove {
  readonly from: string;
  readonly to: string;
  /** Site jobs with known IDs at the old address: live ones, and orphans still to be deleted. */
  readonly jobs: number;
  /** Creates whose outcome is unknown, which may have made jobs there. */
  readonly inDoubt: number;
}

/** The move; `undefined` if the address is the same, none is known yet, or the old one has no jobs. */
export async function findMove(db: Queryable, site: SiteName, address: string): Promise<SiteMove | undefined> {
  const [row] = await db.query<{ from: string; jobs: number; in_doubt: number }>(
    `select s.address as from,
       (select count(*) from mapping where site = $1) + (select count(*) from orphan_site_job where site = $1) as jobs,
       (select count(*) from change where site = $1 and state in ('in_doubt', 'sending')) as in_doubt
     from site_state s where s.site = $1 and s.address <> $2`,
    [site, address],
  );
  if (row === undefined || row.jobs + row.in_doubt === 0) return undefined;
  return { from: row.from, to: address, jobs: row.jobs, inDoubt: row.in_doubt };
}

/**
 * Records the address before anything is sent there, unless one is known: a create whose outcome stays unknown belongs to
 * this address, whatever is configured later. Returns the address that now counts.
 */
export async function claimAddress(db: Queryable, site: SiteName, address: string): Promise<string> {
  const [row] = await db.query<{ address: string }>(
    `insert into site_state as s (site, address) values ($1, $2)
     on conflict (site) do update set address = coalesce(s.address, excluded.address) returning s.address`,
    [site, address],
  );
  return row?.address ?? address;
}

/** Sets the site's address: the site is new, nothing was created elsewhere, or a person says that it is the same site. */
export async function setAddress(db: Queryable, site: SiteName, address: string): Promise<void> {
  await db.query(
    `insert into site_state (site, address) values ($1, $2)
     on conflict (site) do update set address = excluded.address, moved_to = null,
       list_query_taken_at = null, list_query_refused_at = null`,
    [site, address],
  );
}

/**
 * Leads the links of jobs that were below the present address of the site to the new one, for people: nothing is requested by them.
 * @param collection the URL below which its jobs are at the new address
 */
export async function moveJobUrls(tx: Queryable, site: SiteName, collection: string): Promise<void> {
  await tx.query(
    `update mapping m set site_job_url = $2 || substr(m.site_job_url, length(former.url) + 1)
     from site_state s, regexp_replace(s.address || '/jobs', '\\.xml/jobs$', '') below, unnest(array['http://', 'https://']) scheme,
       lateral (select scheme || below as url) former
     where s.site = $1 and m.site = $1 and starts_with(m.site_job_url, former.url || '/')`,
    [site, collection],
  );
}

/** Whether the site's jobs are at another address: a person may have moved the site while this process still runs with the former one. */
export const isSiteElsewhere = (db: Queryable, site: SiteName, address: string): Promise<boolean> =>
  returnsRow(db, 'select from site_state where site = $1 and address <> $2', [site, address]);

/** Whether the site's jobs are still at this address. If so, no process can move the site until the transaction ends. */
export async function confirmSiteAt(tx: Queryable, site: SiteName, address: string): Promise<boolean> {
  const [row] = await tx.query<{ here: boolean | null }>(
    'select address = $2 as here from site_state where site = $1 for share',
    [site, address],
  );
  return row?.here !== false;
}

/** All names under which the database knows the site of this address: a job of one of them is a job of all. */
export async function namesOfSite(db: Queryable, site: SiteName): Promise<SiteName[]> {
  const rows = await db.query<{ site: string }>(
    `select $1 as site union select o.site from site_state s join site_state o on o.address = s.address where s.site = $1
     order by site`,
    [site],
  );
  return rows.map((row) => siteName(row.site));
}

/** Pauses a moved site until a person decides; replaces the cause of an earlier pause, which applies again if the address is set back. */
export async function pauseMovedSite(db: Queryable, site: SiteName, address: string, cause: Message): Promise<void> {
  await db.query(
    `update site_state set paused_since = coalesce(paused_since, now()), pause_cause = $3, next_probe = null, moved_to = $2,
       former_pause = case when moved_to is not null then former_pause
         when paused_since is not null and next_probe is null then pause_cause end
     where site = $1`,
    [site, address, toJsonb(cause)],
  );
}

/** The address was set back: returns whether the site stays paused, as a person has to decide about an earlier pause. */
export const returnToFormerPause = (db: Queryable, site: SiteName): Promise<boolean> =>
  returnsRow(
    db,
    `update site_state set pause_cause = former_pause, former_pause = null, moved_to = null
     where site = $1 and moved_to is not null and former_pause is not null returning 1`,
    [site],
  );
