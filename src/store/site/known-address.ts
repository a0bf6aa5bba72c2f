// Keeps where the jobs of a site were made, so that another site under the same name is not taken for it.
import type { SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

/** A site whose configured address is not the one at which its jobs were made. */
export interface Move {
  readonly from: string;
  readonly to: string;
  /** Site jobs that are known by their IDs at the old address: live ones, and surplus ones still to be deleted. */
  readonly jobs: number;
  /** Creates whose outcome is unknown, so that they may have made jobs there. */
  readonly inDoubt: number;
}

/** The move; `undefined` where the address is the same, none is known yet, or nothing was made at the old one. */
export async function findMove(db: Queryable, site: SiteName, address: string): Promise<Move | undefined> {
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
 * Notes the address before anything is sent there, unless one is known: a create whose outcome stays unknown is at this
 * address, whatever is configured later. Gives the one that is known from now on.
 */
export async function claimAddress(db: Queryable, site: SiteName, address: string): Promise<string> {
  const [row] = await db.query<{ address: string }>(
    `insert into site_state as s (site, address) values ($1, $2)
     on conflict (site) do update set address = coalesce(s.address, excluded.address) returning s.address`,
    [site, address],
  );
  return row?.address ?? address;
}

/** Takes an address for the site's own: it is new, nothing was made elsewhere, or a person says that it is the same. */
export async function setAddress(db: Queryable, site: SiteName, address: string): Promise<void> {
  await db.query(
    `insert into site_state (site, address) values ($1, $2)
     on conflict (site) do update set address = excluded.address, moved_to = null`,
    [site, address],
  );
}

/** Pauses a site that moved until a person says what it is; whatever it was paused for before, this comes first. */
export async function pauseMovedSite(db: Queryable, site: SiteName, address: string, cause: string): Promise<void> {
  await db.query(
    `update site_state set paused_since = coalesce(paused_since, now()), pause_cause = $3, next_probe = null, moved_to = $2
     where site = $1`,
    [site, address, cause],
  );
}
