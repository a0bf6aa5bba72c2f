// Counts what a person selects in review, so that an action is bound to exactly these entries.
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import type { EntryKind } from './entry-kind.ts';
import { type EntryQuery, MATCHES, valuesOf } from './entry-query.ts';

/** The selected entries of one feed and kind. */
export interface SelectedCount {
  readonly feed: FeedName;
  readonly kind: EntryKind;
  readonly n: number;
  /** Another one if other entries are selected, or one of them has changed. */
  readonly mark: string;
}

/** The entries, with the revisions by which later changes are noticed. */
export const SELECTED = `select e.id, e.group_id, e.feed, e.kind, coalesce(c.revision, p.revision) as revision
  from review_entry e left join change c on c.id = e.id left join record_problem p on p.id = e.id where ${MATCHES}`;

/** Counts the rows of {@link SELECTED}. */
export const COUNTED = `select feed, kind, count(*) as n, sum(hashint8extended(id, coalesce(revision, 0)))::text as mark
  from selected group by feed, kind order by feed, kind`;

/** By feed and kind, in their order. */
export const countSelected = (db: Queryable, query: EntryQuery): Promise<SelectedCount[]> =>
  db.query<SelectedCount & Record<string, unknown>>(
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
  db.query(
    `select e.id, coalesce(c.revision, p.revision) as revision, e.value
     from review_entry e left join change c on c.id = e.id left join record_problem p on p.id = e.id
     where e.id = any($1::bigint[])`,
    [ids],
  );
