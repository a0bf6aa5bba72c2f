// Counts what a person selects in review, so that an action is bound to exactly these entries.
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import type { EntryKind } from './entry-kind.ts';
import { COUNTED_VALUES, type EntryQuery, isCounted, MATCHES, MATCHES_COUNTED, valuesOf } from './entry-query.ts';
import { ENTRY_COUNTS } from './review-totals.ts';

/** The selected entries of one feed and kind. */
export interface SelectedCount {
  readonly feed: FeedName;
  readonly kind: EntryKind;
  readonly n: number;
  /** Another one if other entries are selected, or one of them has changed. */
  readonly mark: string;
}

/** The entries, with the revisions by which later changes are noticed. */
export const SELECTED = `select e.id, e.group_id, e.feed, e.kind, e.revision from review_entry e where ${MATCHES}`;

/** Counts the rows of {@link SELECTED}. */
export const COUNTED = `select feed, kind, count(*) as n, sum(hashint8extended(id, revision))::text as mark
  from selected group by feed, kind order by feed, kind`;

/** By feed and kind, in their order. */
export const countSelected = (db: Queryable, query: EntryQuery): Promise<SelectedCount[]> =>
  isCounted(query)
    ? db.query<SelectedCount & Record<string, unknown>>(
        `select feed, kind, sum(n)::bigint as n, sum(mark)::text as mark from ${ENTRY_COUNTS}
         where ${MATCHES_COUNTED} group by feed, kind having sum(n) > 0 order by feed, kind`,
        valuesOf(query).slice(0, COUNTED_VALUES),
      )
    : db.query<SelectedCount & Record<string, unknown>>(
        `with selected as materialized (${SELECTED}) ${COUNTED}`,
        valuesOf(query),
      );

/** One entry as somebody saw it. */
export interface SeenEntry {
  readonly id: number;
  /** Another number after each change; null: an entry without one. */
  readonly revision: number | null;
}

/** Of these entries, those that exist, with the value that their message is about. */
export const readSeen = (
  db: Queryable,
  ids: readonly number[],
): Promise<(SeenEntry & { readonly value: string | null })[]> =>
  db.query(`select e.id, e.revision, e.value from review_entry e where e.id = any($1::bigint[])`, [ids]);
