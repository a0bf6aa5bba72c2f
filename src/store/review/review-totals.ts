// Review entries are counted while they are written: each count is a total and what was written since it was last folded.

import type { Queryable } from '../postgres/database.ts';
import { IS_WRITABLE } from '../postgres/is-writable.ts';

/** Rows `e` with the number of entries of a group, feed and site; several rows may be about the same ones. */
export const ENTRY_COUNTS = `(select discarded, group_id, kind, feed, site, n, mark from review_total
  union all select discarded, group_id, kind, feed, site, n, n * mark::numeric from review_tally) e`;

/** The same by value, of entries that have one. */
export const VALUE_COUNTS = `(select discarded, group_id, kind, feed, site, value, n from review_value_total
  union all select discarded, group_id, kind, feed, site, value, n from review_tally where value is not null) e`;

/** Reading so many rows takes a few milliseconds. */
const MOST_UNFOLDED = 2_000;

/**
 * Folds the counts if many entries were written since they were last folded, unless the server is read-only. They are exact before
 * and afterwards.
 */
export async function foldReviewCounts(db: Queryable): Promise<void> {
  const [row] = await db.query<{ many: boolean }>(
    `select ${IS_WRITABLE} and exists (select from review_tally offset ${MOST_UNFOLDED}) as many`,
  );
  if (row?.many === true) await db.query('select fold_review_tally()');
}
