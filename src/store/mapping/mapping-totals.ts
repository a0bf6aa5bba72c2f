// Live jobs are counted while mappings are written: each count is a total and what was written since it was last folded.
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { IS_WRITABLE } from '../postgres/is-writable.ts';

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
