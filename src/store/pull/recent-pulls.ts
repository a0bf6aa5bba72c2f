// Reads the newest pulls of many feeds in brief, for a picture of each.
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import type { PullStatus } from './pull-row.ts';

export interface BriefPull {
  readonly id: number;
  readonly status: PullStatus;
  readonly complete: boolean;
  readonly seen: number;
}

/** Oldest first. */
export async function recentPulls(
  db: Queryable,
  feeds: readonly FeedName[],
  limit: number,
): Promise<ReadonlyMap<FeedName, readonly BriefPull[]>> {
  const rows = await db.query<{ feed: FeedName; pulls: BriefPull[] | null }>(
    `select f.feed, (select json_agg(r order by r.id) from (
       select id, status, complete, seen from pull p where p.feed = f.feed order by id desc limit $2) r) as pulls
     from unnest($1::text[]) f(feed)`,
    [feeds, limit],
  );
  return new Map(rows.map(({ feed, pulls }) => [feed, pulls ?? []]));
}
