// Ends waits that are too long because they began while the clock of the database was ahead, before it was set back.
import type { SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

/**
 * Ends each wait for the site, or for a change to be sent again, that lasts longer than `longestMs` from now. Waits for requests that may still
 * reach the site stay as they are: if the clock is behind now, instead of having been ahead, to end one could duplicate a job.
 */
export async function endFarWaits(db: Queryable, site: SiteName, longestMs: number): Promise<void> {
  const far = 'now() + make_interval(secs => $2::float8)';
  await db.query(
    `with state as (
       update site_state set not_before = case when not_before > ${far} then '-infinity' else not_before end,
         next_probe = case when next_probe > ${far} then now() else next_probe end
       where site = $1 and (not_before > ${far} or next_probe > ${far})),
     tokens as (update refused_token set next_probe = now() where site = $1 and next_probe > ${far})
     update change c set not_before = '-infinity'
     from feed_state f where f.site = $1 and f.feed = c.feed and c.site = f.site and c.state = 'ready' and c.not_before > '-infinity'
       and c.not_before > ${far} and c.not_before < 'infinity'`,
    [site, longestMs / 1000],
  );
}
