// Reads the newest requests to a site in brief.
import type { FeedName, PostingKey, PostingRef, SiteName } from '../../posting/identifiers.ts';
import { type Queryable, readColumn, readFlag, returnsRow } from '../postgres/database.ts';

export interface SentRequest {
  readonly id: number;
  readonly at: Date;
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly operation: string;
  readonly status: number | null;
  readonly outcome: string;
  readonly durationMs: number;
}

/** Requests do not name their site: so many of the newest to all sites are read to find its own. */
const READ = 2_000;

/** Newest first, of the newest {@link READ} requests to all sites. */
export function recentRequestsTo(db: Queryable, site: SiteName, limit: number): Promise<SentRequest[]> {
  return db.query<SentRequest>(
    `select r.id, r.at, r.feed, r.key, r.operation, r.status, r.outcome, r.duration_ms as "durationMs"
     from (select * from request order by id desc limit ${READ}) r join feed_state f on f.feed = r.feed
     where f.site = $1 order by r.id desc limit $2`,
    [site, limit],
  );
}

/** So many of the newest requests for a posting are read. */
const OF_POSTING = 20;

/** The fields that the last requests for a posting have set: its job may have them still, although the posting has them no more. */
export const fieldsSentFor = (db: Queryable, { feed, key }: PostingRef): Promise<string[]> =>
  readColumn<string>(
    db,
    `select distinct unnest(fields) from (select fields from request where feed = $1 and key = $2 and operation <> 'delete'
       order by id desc limit ${OF_POSTING}) r`,
    [feed, key],
  );

/** A change that the site accepted may be recorded so long after the site has begun to refuse the token. */
const IN_FLIGHT = `interval '30 seconds'`;

/** Whether the site has answered the last requests for this posting with 401, and has accepted other changes since the first of these. */
export const wasRefusedAlone = (db: Queryable, site: SiteName, { feed, key }: PostingRef): Promise<boolean> =>
  returnsRow(
    db,
    `with own as (select id, at, status from request where feed = $2 and key = $3 order by id desc limit ${OF_POSTING}),
       refused as (select min(at) as since from own
         where id > coalesce((select max(id) from own where status is distinct from 401), 0))
     select from refused where exists (select from request q join feed_state f on f.feed = q.feed
       where f.site = $1 and q.at > refused.since + ${IN_FLIGHT} and q.outcome in ('created', 'accepted'))`,
    [site, feed, key],
  );

/** The longest wait that a site may ask for: see `readRetryAfter`. */
const LONGEST_WAIT = `interval '1 hour'`;

/** How far back requests are read: enough for two that are the longest wait apart. */
const RECENT = `3 * ${LONGEST_WAIT}`;

/** SQL: what became of the requests to the site `s`, of feeds that are not retired. */
const OUTCOMES = `from request r join feed_state f on f.feed = r.feed where f.site = s.site and f.retired_at is null`;

/** Whether changes wait for the site, and for an hour or more it has answered every request by asking to wait. */
export const onlyAsksToWait = (db: Queryable, site: SiteName): Promise<boolean> =>
  readFlag(
    db, // The first condition is cheap, and mostly decides. It takes two requests an hour apart: one request proves nothing, however long its wait.
    `select case
         when not exists (select from feed_state f join change c on c.feed = f.feed
           where f.site = s.site and f.retired_at is null and c.state = 'ready' and not c.gone) then false
         else (select max(r.at) - min(r.at) >= ${LONGEST_WAIT} - interval '1 minute' ${OUTCOMES} and r.outcome = 'throttled' and r.at > coalesce(
             (select max(r.at) ${OUTCOMES} and r.outcome <> 'throttled' and r.at > now() - ${RECENT}), now() - ${RECENT})) end as only
     from site_state s where s.site = $1 and s.throttled_at > now() - ${RECENT}`,
    [site],
  );
