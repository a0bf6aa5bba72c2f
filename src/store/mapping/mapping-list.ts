// Streams mappings for lists and exports, and counts them.
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { type Database, IS_WRITABLE, type Queryable } from '../postgres/database.ts';
import { inBatches } from '../postgres/stream-rows.ts';
import { joinExpiry } from '../pull/posting-expiry.ts';

/** One mapping as listed and exported. */
export interface MappingRow {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly site: SiteName;
  readonly siteJobId: SiteJobId;
  readonly url: string | undefined;
  /** When the posting got the job, or when its days on the site were started anew. */
  readonly since: Date;
}

const READ_AT_ONCE = 1_000;

interface ListedRow extends Pick<MappingRow, 'feed' | 'key' | 'site'> {
  readonly site_job_id: SiteJobId;
  readonly site_job_url: string | null;
  readonly mapped_at: Date;
}

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
    const select = `select m.feed, m.key, m.site, m.site_job_id, m.site_job_url, greatest(m.mapped_at, e.renewed_at) as mapped_at
       from mapping m ${joinExpiry('m')}
       where $1::text is null or m.feed = $1 order by m.feed collate "C", m.key collate "C" limit $2`;
    const values = [feed ?? null, Number.isFinite(limit) ? limit : null];
    for await (const rows of inBatches<ListedRow>(session, 'listed_mapping', select, READ_AT_ONCE, values)) {
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

export async function hasJob(db: Queryable, feed: FeedName, key: PostingKey): Promise<boolean> {
  return (await db.query('select from mapping where feed = $1 and key = $2', [feed, key])).length > 0;
}

/** Reading so many rows takes less than a millisecond. */
const MOST_UNFOLDED = 1_000;

/** Feeds with live jobs, and how many: exact, but only for display. What decides about deletes counts the mappings themselves. */
export async function countLive(db: Queryable): Promise<ReadonlyMap<FeedName, number>> {
  const [row] = await db.query<{ many: boolean }>(
    `select ${IS_WRITABLE} and exists (select from mapping_tally offset ${MOST_UNFOLDED}) as many`,
  );
  if (row?.many === true) await db.query('select fold_mapping_tally()');
  const rows = await db.query<{ feed: FeedName; n: number }>(
    `select feed, sum(n)::bigint as n from (select feed, n from mapping_total union all select feed, n from mapping_tally) counts
     group by feed having sum(n) > 0`,
  );
  return new Map(rows.map(({ feed, n }) => [feed, n]));
}
