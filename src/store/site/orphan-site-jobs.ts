// Stores orphan site jobs: jobs that we created, that no mapping owns, to be deleted by their ID.
import { type FeedName, type SiteJobId, type SiteName, siteJobId } from '../../posting/identifiers.ts';
import { isPaused, mayBeSent } from '../locks/pauses.ts';
import { type Queryable, readMap, readNumber, returnsRow } from '../postgres/database.ts';
import { areOfOneJob } from './kept-values.ts';

/**
 * A first delete whose outcome is unknown may have freed the ID, and the site may have given it to the job of a later create
 * that is in doubt: the second delete waits until none is.
 */
const MAY_BE_ANOTHERS = `s.attempts > 0 and exists (select from change c
  where c.site = s.site and c.state = 'in_doubt' and c.attempt_started > s.noted_at)`;

/** Orphans of a site that are due and still belong to no mapping. */
export async function dueOrphans(db: Queryable, site: SiteName, limit: number): Promise<SiteJobId[]> {
  const rows = await db.query<{ site_job_id: string }>(
    `select s.site_job_id from orphan_site_job s where s.site = $1 and s.not_before <= now() and not (${MAY_BE_ANOTHERS})
       and not ${isPaused('s.feed', 's.site')} and not exists (select from mapping m where m.site = s.site and ${areOfOneJob('m.site_job_id', 's.site_job_id')})
     order by s.noted_at limit $2`,
    [site, limit],
  );
  return rows.map((row) => siteJobId(row.site_job_id));
}

export const countOrphans = (db: Queryable, site: SiteName): Promise<number> =>
  readNumber(db, 'select count(*) as n from orphan_site_job where site = $1', [site]);

/** A delete that fails is tried again after a minute. */
const TOO_OFTEN = 5;

/** How many the site has not deleted in several minutes, by feed. */
export const undeletedOrphans = (db: Queryable): Promise<ReadonlyMap<FeedName, number>> =>
  readMap<FeedName, number>(
    db,
    `select feed, count(*) as n from orphan_site_job where attempts >= ${TOO_OFTEN} group by feed`,
  );

/**
 * Reserves one for `delayMs`; `false` if it is no longer an orphan, another worker has reserved it, a person has paused its feed or site,
 * or the site's jobs are no longer at this address.
 */
export const takeOrphan = (
  db: Queryable,
  { site, address }: { readonly site: SiteName; readonly address: string },
  id: SiteJobId,
  delayMs: number,
): Promise<boolean> =>
  returnsRow(
    db,
    `update orphan_site_job o set attempts = attempts + 1, not_before = now() + make_interval(secs => $3)
     where site = $1 and site_job_id = $2 and not_before <= now() and ${mayBeSent('o.feed', 'o.site')}
       and not exists (select from site_state s where s.site = $1 and s.address <> $4) returning site`,
    [site, id, delayMs / 1000, address],
  );

/** A delete that had no effect says nothing about the job. */
export const uncountOrphanDelete = (db: Queryable, site: SiteName, id: SiteJobId): Promise<unknown> =>
  db.query('update orphan_site_job set attempts = attempts - 1 where site = $1 and site_job_id = $2 and attempts > 0', [
    site,
    id,
  ]);

/** How the site answered the delete. */
export interface OrphanDeleted {
  readonly outcome: 'accepted' | 'gone';
  readonly status: number | undefined;
  readonly durationMs: number;
}

/** Records the delete with the requests: a list that was read before it still shows the job. */
export async function forgetOrphan(
  db: Queryable,
  site: SiteName,
  id: SiteJobId,
  { outcome, status, durationMs }: OrphanDeleted,
): Promise<void> {
  await db.query(
    `with deleted as (delete from orphan_site_job where site = $1 and site_job_id = $2 returning feed, key)
     insert into request (feed, key, operation, site_job_id, status, outcome, duration_ms, cause)
     select feed, key, 'delete', $2, $3, $4, $5, 'surplus' from deleted`,
    [site, id, status ?? null, outcome, Math.round(durationMs)],
  );
}
