// Review entries are counted while they are written: each count is a total and what was written since it was last folded.
// Triggers of the database write the entries, bring their messages into the normal form and count them: changes enter review in ten places,
// some without their fields at hand. The normal form is 7 % of what an entry costs the server, 18 of 270 µs; counting cannot be measured.
import type { StoredCircumstance } from '../../plan/allowed.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { EntryKind } from '../backlog/entry-kind.ts';
import { IS_WRITABLE, type Queryable } from '../postgres/database.ts';
import { COUNTED_VALUES, type EntryQuery, MATCHES_COUNTED, valuesOf } from './entry-query.ts';

/** Rows `e` with the number of entries of a group, feed, site and their circumstances; several rows may be about the same ones. */
export const ENTRY_COUNTS = `(select discarded, group_id, kind, feed, site, circumstances, n, mark from review_total
  union all select discarded, group_id, kind, feed, site, circumstances, n, n * mark::numeric from review_tally) e`;

/** The same by value, of entries that have one. */
export const VALUE_COUNTS = `(select discarded, group_id, kind, feed, site, value, n from review_value_total
  union all select discarded, group_id, kind, feed, site, value, n from review_tally where value is not null) e`;

/** The parts of the selection as rows: everything that entries are counted by, with their number. Parameters as in `entry-query.ts`. */
export const PARTS = `part as materialized (
  select counted_part($1, e.group_id, e.kind, e.feed, e.site, e.circumstances) as part, e.group_id, e.kind, e.feed, e.site, e.circumstances,
    sum(e.n)::bigint as n, sum(e.mark) as mark
  from ${ENTRY_COUNTS} where ${MATCHES_COUNTED} group by e.group_id, e.kind, e.feed, e.site, e.circumstances having sum(e.n) > 0)`;

/** What all entries of a part have in common, besides their group. */
export interface PartFacts {
  readonly feed: FeedName;
  readonly kind: EntryKind;
  /** Null for records. */
  readonly site: SiteName | null;
  readonly circumstances: readonly StoredCircumstance[];
}

/** The parts of a selection that have entries, whatever its text, numbers and age. */
export const readParts = (db: Queryable, query: EntryQuery): Promise<(PartFacts & { readonly part: string })[]> =>
  db.query(
    `with ${PARTS} select part::text, feed, kind, site, circumstances from part`,
    valuesOf(query).slice(0, COUNTED_VALUES),
  );

/**
 * The same query for statements that also search a text. No index has the entries of a site, of which few may have the text; but one has
 * those of a part, and the server knows how many these are.
 */
export async function inParts(db: Queryable, query: EntryQuery): Promise<EntryQuery> {
  if (query.site === undefined || query.text === undefined || query.parts !== undefined) return query;
  return { ...query, parts: (await readParts(db, query)).map(({ part }) => part) };
}

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
