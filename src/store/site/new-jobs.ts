// Stores which jobs of ours a site has shown, and whether it shows new ones at once: some hide jobs until somebody has looked at them.
import { type SiteJobId, type SiteName, siteJobId } from '../../posting/identifiers.ts';
import { numberOfTitled } from '../mapping/titled-id.ts';
import type { Queryable } from '../postgres/database.ts';

/** The site shows these jobs. Those that no posting has are ignored. */
export async function noteShownJobs(db: Queryable, site: SiteName, ids: readonly SiteJobId[]): Promise<void> {
  if (ids.length === 0) return;
  await db.query(
    `update mapping set never_shown = false where site = $1 and never_shown
       and (site_job_id = any($2::text[]) or ${numberOfTitled('site_job_id')} = any($2::text[]))`,
    [site, ids],
  );
}

/** SQL: whether a delete of ours, meant for an older job with this ID, may have deleted the new one: sites use IDs again. */
const mayBeDeletedByUs = (
  id: string,
): string => `exists (select from request q where q.at > now() - interval '10 minutes'
  and q.operation = 'delete' and q.outcome in ('accepted', 'gone') and q.site_job_id = ${id})`;

/** What samples told about the new jobs of a site. */
export interface NewJobs {
  /** Whether one was shown. */
  readonly areShown: boolean;
  /** One that was not; `undefined`: there was none. */
  readonly hidden: SiteJobId | undefined;
  /** Whether the site is known to show other jobs of ours. */
  readonly isCertain: boolean;
}

export async function readNewJobs(db: Queryable, site: SiteName): Promise<NewJobs> {
  const [row] = await db.query<{ shown: boolean; hidden: string | null; certain: boolean }>(
    `select new_shown_at is not null as shown, new_hidden_job as hidden, hides_new_since is not null as certain
     from site_state where site = $1`,
    [site],
  );
  return {
    areShown: row?.shown === true,
    hidden: row?.hidden == null ? undefined : siteJobId(row.hidden),
    isCertain: row?.certain === true,
  };
}

/**
 * The site shows, or does not show, a job that it has just created. The first one that it did not show is kept, unless it shows that one
 * a moment later.
 */
export async function noteNewJob(db: Queryable, site: SiteName, id: SiteJobId, isShown: boolean): Promise<void> {
  await db.query(
    `insert into site_state as s (site, new_shown_at, new_hidden_job)
     select $1, case when $3 then now() end, case when not $3 then $2::text end
     where $3 or not ${mayBeDeletedByUs('$2::text')}
     on conflict (site) do update set new_shown_at = coalesce(excluded.new_shown_at, s.new_shown_at),
       new_hidden_job = case when $3 then nullif(s.new_hidden_job, $2) else coalesce(s.new_hidden_job, $2) end`,
    [site, id, isShown],
  );
}

/** The site shows jobs of ours, but one of its new ones it did not show. */
export const noteHidesNew = (db: Queryable, site: SiteName): Promise<unknown> =>
  db.query('update site_state set hides_new_since = now() where site = $1 and hides_new_since is null', [site]);

/**
 * Whether a job that the site denies may only be hidden: it has never shown it since it created it, and is not known to show each new job
 * at once. A person who says that the site was emptied is believed.
 */
export async function mayBeHidden(db: Queryable, site: SiteName, id: SiteJobId): Promise<boolean> {
  const [row] = await db.query<{ hidden: boolean }>(
    `select (s.new_shown_at is null or s.new_hidden_job is not null) and not coalesce(s.trust_gone_until > now(), false) as hidden
     from mapping m left join site_state s on s.site = m.site where m.site = $1 and m.site_job_id = $2 and m.never_shown
       and not ${mayBeDeletedByUs('m.site_job_id')}`,
    [site, id],
  );
  return row?.hidden === true;
}
