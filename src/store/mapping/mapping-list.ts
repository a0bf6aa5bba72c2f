// Streams mappings for lists and exports.
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { inBatches } from '../postgres/cursor.ts';
import type { Database, Queryable } from '../postgres/database.ts';

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

/**
 * Ordered by the bytes of feed and key, in every database alike, so that exports of the same mappings are equal. All rows are as of
 * one moment.
 */
export async function* listMappings(
  db: Database,
  feed: FeedName | undefined,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<MappingRow> {
  const session = await db.session();
  try {
    await session.query('begin read only');
    const select = `select feed, key, site, site_job_id, site_job_url, mapped_at from mapping
       where $1::text is null or feed = $1 order by feed collate "C", key collate "C" limit $2`;
    const values = [feed ?? null, Number.isFinite(limit) ? limit : null];
    for await (const rows of inBatches(session, 'listed_mapping', select, READ_AT_ONCE, values)) {
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
    }
  } finally {
    await session.end();
  }
}

export async function countMappings(db: Queryable, feed: FeedName | undefined): Promise<number> {
  const [row] = await db.query<{ n: number }>('select count(*) as n from mapping where $1::text is null or feed = $1', [
    feed ?? null,
  ]);
  return row?.n ?? 0;
}
