// Reads one page of review entries after another, each beginning where the former ended.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import { ENTRY_KINDS, type EntryKind } from '../backlog/open-counts.ts';
import type { Database, Queryable } from '../postgres/database.ts';
import {
  ENTRY_MATCHES_AGE,
  type EntryQuery,
  isByAge,
  MATCHES,
  NO_TEXT_OR_IDS,
  QUERY_VALUES,
  valuesOf,
} from './found-entries.ts';
import { type ReviewEntry, readEntries } from './review-entries.ts';
import { readParts, SELECTION_PARTS } from './review-totals.ts';

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

/** Kind by kind, so that most statements read the beginning of one index range. Entries that are resolved meanwhile are left out. */
export async function reviewPage(
  db: Database,
  query: EntryQuery,
  limit: number,
  after?: EntryPlace,
): Promise<EntryPage> {
  const { kinds = ENTRY_KINDS, site, text, discarded } = query;
  // Each kind takes several statements if its entries are in no index.
  const parts = text === undefined && site === undefined ? undefined : await readParts(db, query);
  const places: EntryPlace[] = [];
  const first = after === undefined ? 0 : ENTRY_KINDS.indexOf(after.kind);
  for (const kind of ENTRY_KINDS.slice(first)) {
    const left = limit + 1 - places.length;
    const ofKind = parts?.filter((part) => part.kind === kind).map(({ part }) => part);
    if (left <= 0 || !kinds.includes(kind) || ofKind?.length === 0) continue;
    const within = text === undefined || site === undefined ? {} : { parts: ofKind };
    const from = after?.kind === kind ? after : undefined;
    places.push(...(await placesOf(db, { ...query, ...within, kinds: [kind] }, from, left)));
  }
  const shown = places.slice(0, limit);
  const ids = shown.map(({ id }) => id);
  const entries = (await readEntries(db, ids, discarded === true)).filter(({ kind }) => kinds.includes(kind));
  return { entries, next: places.length > limit ? shown.at(-1) : undefined };
}

/** A page with a text takes the longer the more entries match, so that few large pages take less than many. */
const READ_AT_ONCE = 5_000;

/** Streams entries, doubts first and held deletes last, within a kind the oldest first; no cursor stays open for a slow reader. */
export async function* reviewEntries(
  db: Database,
  query: EntryQuery,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<ReviewEntry> {
  for (let left = limit, after: EntryPlace | undefined; left > 0; ) {
    const { entries, next } = await reviewPage(db, query, Math.min(left, READ_AT_ONCE), after);
    yield* entries;
    if (next === undefined) return;
    left -= entries.length;
    after = next;
  }
}

/** Reading so many entries in the order of the list takes a few milliseconds. */
const MOST_READ = 2_000;
const [AT_KIND, AT_LIMIT, AT_SINCE, AT_ID] = [
  `$${QUERY_VALUES + 1}`,
  `$${QUERY_VALUES + 2}`,
  `$${QUERY_VALUES + 3}::float8`,
  `$${QUERY_VALUES + 4}::bigint`,
];
/** Times of all that match would take longer to convert than to sort. */
const selectPlaces = (from: string): string =>
  `select e.id, ${AT_KIND}::text as kind, (extract(epoch from e.since) * 1000000)::bigint as since
   from (select e.id, e.since from ${from} order by e.since, e.id limit ${AT_LIMIT}) e order by e.since, e.id`;

/** @param query names one kind */
async function placesOf(
  db: Database,
  query: EntryQuery,
  after: EntryPlace | undefined,
  limit: number,
): Promise<EntryPlace[]> {
  const values = [...valuesOf(query), query.kinds?.[0], limit, ...(after === undefined ? [] : [after.since, after.id])];
  const read = <Place extends EntryPlace>(of: Queryable, sql: string) => of.query<Place>(sql, values);
  const follows = `(e.since, e.id) > (timestamptz 'epoch' + ${AT_SINCE} * interval '1 microsecond', ${AT_ID})`;
  const from = after === undefined ? '' : `and ${follows}`;
  // Equalities, unlike the general condition, let the database read an index in order.
  const ordered = `e.kind = ${AT_KIND} ${query.feed === undefined ? '' : 'and e.feed = $4'} ${from}`;
  const isOfSite = query.site !== undefined && isByAge(query);
  if (query.text === undefined && !isOfSite)
    return read(db, selectPlaces(`review_entry e where ${ordered} and ${MATCHES}`));

  const first = `select e.* from review_entry e where ${ordered} and e.discarded = $1 and ${ENTRY_MATCHES_AGE} order by e.since, e.id`;
  const found = await read(db, selectPlaces(`(${first} limit ${MOST_READ}) e where ${MATCHES}`));
  // The condition is only for the types of its parameters.
  const [more] =
    found.length === limit
      ? []
      : await read(db, selectPlaces(`(${first} offset ${MOST_READ} limit 1) e where true or (${MATCHES})`));
  if (more === undefined) return found;
  return isOfSite ? read(db, ofParts(from)) : db.transaction((tx) => byWords(tx, (sql) => read(tx, sql), ordered));
}

/** Entries of a site, which no index has in the order of the list: the first ones of everything that entries are counted by. */
const ofParts = (from: string): string =>
  `with ${SELECTION_PARTS} ${selectPlaces(`part p cross join lateral (
    select e.id, e.since from review_entry e where e.part = p.part and ${ENTRY_MATCHES_AGE} and ${NO_TEXT_OR_IDS} ${from}
    order by e.since, e.id limit ${AT_LIMIT}) e`)}`;

/** Sorting so many takes a few milliseconds. */
const MOST_MATCHING = 5_000;

/**
 * The index of words has no order, so all that match are read, if they are few. The first ones of many are soon found in the order of
 * the list.
 */
async function byWords(
  tx: Queryable,
  read: <Place extends EntryPlace>(sql: string) => Promise<Place[]>,
  ordered: string,
): Promise<EntryPlace[]> {
  const matching = `select e.id, e.since from review_entry e where ${ordered} and ${MATCHES}`;
  // The server expects to find enough of words that are frequent, but never together, at the beginning of the list.
  await tx.query(`select set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true)`);
  const found = await read<EntryPlace & { readonly matching: number }>(
    `with found as materialized (${matching} limit ${MOST_MATCHING + 1})
     select p.*, (select count(*) from found) as matching from (${selectPlaces('found e')}) p order by since, id`,
  );
  if ((found[0]?.matching ?? 0) <= MOST_MATCHING) return found.map(({ id, kind, since }) => ({ id, kind, since }));
  await tx.query(`select set_config('enable_indexscan', 'on', true)`);
  return read(selectPlaces(`review_entry e where ${ordered} and ${MATCHES}`));
}

// Reads the entries of a group that come before and after a posting, in the order of their keys.

/** An entry as a link leads to it. */
export interface NeighbouringEntry {
  readonly id: number;
  readonly feed: FeedName;
  readonly key: PostingKey | null;
  readonly kind: EntryKind;
}

/** Where one is in a group. */
export interface PlaceInGroup {
  readonly group: string;
  readonly discarded: boolean;
  readonly key: string;
  /** `undefined`: the entry is resolved, and no longer in the group. */
  readonly entry: number | undefined;
}

export interface Neighbours {
  readonly before: NeighbouringEntry | undefined;
  readonly after: NeighbouringEntry | undefined;
}

/** The group of an entry, and whether the entry is discarded. */
export async function groupOfEntry(
  db: Queryable,
  id: number,
): Promise<{ readonly group: string; readonly discarded: boolean } | undefined> {
  const [row] = await db.query<{ group: string; discarded: boolean }>(
    'select group_id as "group", discarded from review_entry where id = $1',
    [id],
  );
  return row;
}

export async function neighboursOf(db: Queryable, place: PlaceInGroup): Promise<Neighbours> {
  const next = async (than: '<' | '>', order: 'asc' | 'desc'): Promise<NeighbouringEntry | undefined> => {
    const [row] = await db.query<NeighbouringEntry>(
      `select id, feed, key, kind from review_entry
       where group_id = $1 and discarded = $2 and (coalesce(key, '') collate "C", id) ${than} ($3 collate "C", $4::bigint)
       order by coalesce(key, '') collate "C" ${order}, id ${order} limit 1`,
      [place.group, place.discarded, place.key, place.entry ?? 0],
    );
    return row;
  };
  return { before: await next('<', 'desc'), after: await next('>', 'asc') };
}
