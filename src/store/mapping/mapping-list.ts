// Streams mappings for lists and exports.
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

/** One mapping as listed and exported. */
export interface MappingRow {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly site: SiteName;
  readonly siteJobId: SiteJobId;
  readonly url: string | undefined;
  readonly since: Date;
}

const READ_AT_ONCE = 1_000;

/** Ordered by feed and key. Keeps nothing open between chunks, so concurrent changes may or may not be included. */
export async function* listMappings(
  db: Queryable,
  feed: FeedName | undefined,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<MappingRow> {
  // A separate condition, so that the index scan ends where the feed ends.
  const ofFeed = feed === undefined ? '' : 'and feed = $1';
  let last = { feed: feed ?? '', key: '' };
  for (let left = limit; left > 0; left -= READ_AT_ONCE) {
    const wantedCount = Math.min(READ_AT_ONCE, left);
    const rows = await db.query(
      `select feed, key, site, site_job_id, site_job_url, mapped_at from mapping
       where (feed, key) > ($1, $2) ${ofFeed} order by feed, key limit $3`,
      [last.feed, last.key, wantedCount],
    );
    for (const row of rows) {
      yield {
        feed: row.feed,
        key: row.key,
        site: row.site,
        siteJobId: row.site_job_id,
        url: row.site_job_url ?? undefined,
        since: row.mapped_at,
      };
    }
    if (rows.length < wantedCount) return;
    last = rows.at(-1) as { feed: string; key: string };
  }
}

export async function countMappings(db: Queryable, feed: FeedName | undefined): Promise<number> {
  const [row] = await db.query<{ n: number }>('select count(*) as n from mapping where $1::text is null or feed = $1', [
    feed ?? null,
  ]);
  return row?.n ?? 0;
}
