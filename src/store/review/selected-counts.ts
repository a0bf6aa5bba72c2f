// Counts what a person selects in review, so that an action is bound to exactly these entries.
import type { FeedName } from '../../posting/identifiers.ts';
import type { EntryKind } from '../backlog/entry-kind.ts';
import type { Queryable } from '../postgres/database.ts';
import {
  COUNTED_VALUES,
  type EntryQuery,
  isByAge,
  isCounted,
  MATCHES,
  MATCHES_AGE,
  MOST_FOUND,
  NO_TEXT_OR_IDS,
  valuesOf,
} from './entry-query.ts';
import { inParts, PARTS } from './review-totals.ts';

/** The selected entries of one feed and kind. */
export interface SelectedCount {
  readonly feed: FeedName;
  readonly kind: EntryKind;
  readonly n: number;
  /** Another one if other entries are selected, or one of them has changed. */
  readonly mark: string;
}

/** The entries, with the revisions by which later changes are noticed. With a text, it may be cut: see `isCut`. */
export const selectedBy = ({ text }: EntryQuery): string =>
  `select e.id, e.group_id, e.feed, e.kind, e.revision from review_entry e where ${MATCHES}
   ${text === undefined ? '' : `limit ${MOST_FOUND + 1}`}`;

/** Counts the rows of {@link selectedBy}. */
export const COUNTED = `select feed, kind, count(*) as n, sum(hashint8extended(id, revision))::text as mark
  from selected group by feed, kind order by feed, kind`;

/** By feed and kind, in their order. With a text, it may be cut: see `isCut`. */
export async function countSelected(db: Queryable, query: EntryQuery): Promise<SelectedCount[]> {
  if (isCounted(query)) {
    return db.query<SelectedCount>(
      `with ${PARTS} select feed, kind, sum(n)::bigint as n, sum(mark)::text as mark from part group by feed, kind order by feed, kind`,
      valuesOf(query).slice(0, COUNTED_VALUES),
    );
  }
  if (isByAge(query)) {
    return db.query<SelectedCount>(
      `with ${PARTS} select p.feed, p.kind, sum(s.n)::bigint as n, sum(s.mark)::text as mark from part p cross join lateral (
         select count(*) as n, sum(hashint8extended(e.id, e.revision)) as mark from review_entry e
         where e.part = p.part and ${MATCHES_AGE} and ${NO_TEXT_OR_IDS}) s
       where s.n > 0 group by p.feed, p.kind order by p.feed, p.kind`,
      valuesOf(query),
    );
  }
  return db.query<SelectedCount>(
    `with selected as materialized (${selectedBy(query)}) ${COUNTED}`,
    valuesOf(await inParts(db, query)),
  );
}

/** One entry as somebody saw it. */
export interface SeenEntry {
  readonly id: number;
  /** Another number after each change; null: an entry without one. */
  readonly revision: number | null;
}

/** Of these entries, those that exist, in the order of their IDs, with the value that their message is about. */
export const readSeen = (
  db: Queryable,
  ids: readonly number[],
): Promise<(SeenEntry & { readonly value: string | null })[]> =>
  db.query(`select e.id, e.revision, e.value from review_entry e where e.id = any($1::bigint[]) order by e.id`, [ids]);
