// Reads what is known about postings that a site refused without saying what is wrong with them.
import type { PostingRef, SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { isAsked } from './open-counts.ts';

/** The kind of reason of a change that waits because the site may refuse every posting alike. */
const SET_UP = 'set_up';

export interface SetUpSuspects {
  /**
   * Since the first request for them or this posting was refused so, the site accepted a posting; or since that request was sent, it said
   * what is wrong with one. Several answers are recorded at once, and a change that is sent again no longer tells when it was refused first.
   */
  readonly isDisproved: boolean;
  /** The messages of the other postings that wait, at most as many as asked for. */
  readonly others: readonly string[];
  /** Other creates or updates are about to be sent that were not refused so. */
  readonly othersLeft: boolean;
  readonly hasJobs: boolean;
  /** A person has resumed the site since the first of these refusals, or since the pull that planned the change. */
  readonly isResumed: boolean;
}

/** A change that waits longer than this is not about to be sent. */
const SOON = `interval '1 minute'`;

export async function readSetUpSuspects(
  db: Queryable,
  site: SiteName,
  { feed, key, pull }: PostingRef & { readonly pull: number | undefined },
  mostOthers: number,
): Promise<SetUpSuspects> {
  const [row] = await db.query<{
    disproved: boolean;
    others: readonly string[];
    othersLeft: boolean;
    hasJobs: boolean;
    resumed: boolean;
  }>(
    `with suspect as materialized (
       select c.feed, c.key, c.reason->>'message' as message, c.since from change c
       where c.site = $1 and c.reason->>'kind' = '${SET_UP}' and c.state in ('ready', 'sending') and (c.feed, c.key) <> ($2, $3)),
     refused as (
       select min(f.at) as at, min(f.at - make_interval(secs => coalesce(q.duration_ms, 0) / 1000.0)) as sent
       from (select $2 as feed, $3 as key union all (select feed, key from suspect limit $4)) r
         cross join lateral (
           select min(x.at) as at from failure x where x.feed = r.feed and x.key = r.key and x.kind = '${SET_UP}'
             and x.id > coalesce((select max(y.id) from failure y where y.feed = r.feed and y.key = r.key and y.kind <> '${SET_UP}'), 0)
             and x.at > coalesce((select max(y.at) from request y where y.feed = r.feed and y.key = r.key
               and y.outcome in ('created', 'accepted')), '-infinity')) f
         left join lateral (
           select duration_ms from request where feed = r.feed and key = r.key and at = f.at order by id desc limit 1) q on true),
     own as (
       select least(refused.at, waiting.since) as since, least(refused.sent, waiting.since) as sent
       from refused, (select min(since) as since from suspect) waiting)
     select
       exists (select from request q join feed_state f on f.feed = q.feed
         where f.site = $1 and q.at > own.since and q.at - make_interval(secs => q.duration_ms / 1000.0) > own.since
           and q.operation <> 'delete' and q.outcome in ('created', 'accepted'))
       or exists (select from failure x join feed_state f on f.feed = x.feed
         where f.site = $1 and x.at >= own.sent and x.operation <> 'delete' and x.kind = 'rejected') as disproved,
       array(select message from suspect limit $4) as others,
       exists (select from feed_state f join change c on c.feed = f.feed
         where f.site = $1 and f.retired_at is null and c.state in ('ready', 'sending') and not c.gone and c.operation <> 'delete'
           and (c.feed, c.key) <> ($2, $3) and c.not_before <= now() + ${SOON} and c.reason->>'kind' is distinct from '${SET_UP}'
           and (c.operation <> 'create' or f.site_checked_at is not null and not ${isAsked('c', 'f')})) as "othersLeft",
       exists (select from mapping m where m.site = $1) as "hasJobs",
       exists (select from site_state s where s.site = $1 and (s.resumed_at > own.since
         or s.resumed_at >= (select committed_at from pull p where p.id = $5))) as resumed
     from own`,
    [site, feed, key, mostOthers, pull ?? null],
  );
  return {
    isDisproved: row?.disproved === true,
    others: row?.others ?? [],
    othersLeft: row?.othersLeft === true,
    hasJobs: row?.hasJobs === true,
    isResumed: row?.resumed === true,
  };
}
