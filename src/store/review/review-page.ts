// Reads one page of review entries after another, each beginning where the former ended.
import type { Queryable } from '../postgres/database.ts';
import { ENTRY_KINDS, type EntryKind } from './entry-kind.ts';
import { type EntryQuery, MATCHES, QUERY_VALUES, valuesOf } from './entry-query.ts';
import { type ReviewEntry, readEntries } from './review-entries.ts';

/** The place of an entry in the list: by kind, then by age, then by number. */
export interface EntryPlace {
  readonly kind: EntryKind;
  /** In microseconds, which dates of the driver don't have. */
  readonly since: number;
  readonly id: number;
}

export interface EntryPage {
  readonly entries: readonly ReviewEntry[];
  /** The last entry's; `undefined`: nothing follows. */
  readonly next: EntryPlace | undefined;
}

/** Kind by kind, so that each statement reads the beginning of one index range. Entries that are resolved meanwhile are left out. */
export async function reviewPage(
  db: Queryable,
  query: EntryQuery,
  limit: number,
  after?: EntryPlace,
): Promise<EntryPage> {
  const { kinds = ENTRY_KINDS, feed, discarded } = query;
  const places: EntryPlace[] = [];
  const first = after === undefined ? 0 : ENTRY_KINDS.indexOf(after.kind);
  for (const kind of ENTRY_KINDS.slice(first)) {
    const left = limit + 1 - places.length;
    if (left <= 0 || !kinds.includes(kind)) continue;
    places.push(...(await placesOf(db, { ...query, kinds: [kind] }, after?.kind === kind ? after : undefined, left)));
  }
  const shown = places.slice(0, limit);
  const ids = shown.map(({ id }) => id);
  const filter = { feed, kinds, ...(discarded === undefined ? {} : { discarded }) };
  return { entries: await readEntries(db, ids, filter), next: places.length > limit ? shown.at(-1) : undefined };
}

/** @param query names one kind */
async function placesOf(
  db: Queryable,
  query: EntryQuery,
  after: EntryPlace | undefined,
  limit: number,
): Promise<EntryPlace[]> {
  const values = [...valuesOf(query), query.kinds?.[0], limit];
  // Equalities, unlike the general condition, let the database read an index in order.
  const feed = query.feed === undefined ? '' : 'and e.feed = $4';
  const from =
    after === undefined
      ? ''
      : `and (e.since, e.id) > (
          timestamptz 'epoch' + $${QUERY_VALUES + 3}::float8 * interval '1 microsecond', $${QUERY_VALUES + 4}::bigint)`;
  return db.query<EntryPlace & Record<string, unknown>>(
    `select e.id, e.kind, (extract(epoch from e.since) * 1000000)::bigint as since
     from review_entry e where e.kind = $${QUERY_VALUES + 1} ${feed} and ${MATCHES} ${from}
     order by e.since, e.id limit $${QUERY_VALUES + 2}`,
    after === undefined ? values : [...values, after.since, after.id],
  );
}
