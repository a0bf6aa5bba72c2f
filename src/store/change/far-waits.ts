// Ends waits that nobody asked for: they were begun while the clock of the database was ahead, which has been set back since.
import type { SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

/**
 * Nothing of the site waits for longer than this, counted from now. A request whose outcome is unknown was sent by now, so it arrives
 * within `mayLandMs` at the latest. When an orphan site job was noted is not known then: each create in doubt may be later.
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
     orphans as (
       update orphan_site_job set not_before = now(), noted_at = case when noted_at > now() then '-infinity' else noted_at end
       where site = $1 and not_before > ${far} and not_before < 'infinity'),
     writes as (
       update uncertain_write u set until = now() + make_interval(secs => $3::float8)
       from feed_state f where f.site = $1 and f.feed = u.feed and u.until > ${far})
     update change c set not_before = '-infinity'
     from feed_state f where f.site = $1 and f.feed = c.feed and c.site = f.site and c.state = 'ready' and c.not_before > '-infinity'
       and c.not_before > ${far} and c.not_before < 'infinity'`,
    [site, longestMs / 1000, mayLandMs / 1000],
  );
  await db.query(
    `update change c set not_before = '-infinity', attempt_started = least(attempt_started, now()), since = least(since, now())
     where site = $1 and state = 'in_doubt' and not_before < 'infinity'
       and (not_before > ${far} or attempt_started > ${far})`,
    [site, longestMs / 1000],
  );
}
