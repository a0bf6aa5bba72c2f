// Reads the newest requests to a site in brief.
import type { FeedName, PostingKey, SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

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
