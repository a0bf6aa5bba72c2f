// Lists the changes and records that need a person as review entries, streamed, with their counts.
import { messageOfReason, type Reason } from '../../plan/desired-change.ts';
import { type Message, reword } from '../../plan/message.ts';
import type { FeedName, PostingKey, SiteName } from '../../posting/identifiers.ts';
import { DISCARDED_KIND, ENTRY_KINDS, type EntryKind } from '../backlog/entry-kind.ts';
import type { Queryable } from '../postgres/database.ts';
import {
  COUNTED_VALUES,
  type EntryQuery,
  isByAge,
  MATCHES,
  MOST_FOUND,
  QUERY_VALUES,
  valuesOf,
} from './entry-query.ts';
import { inParts, PARTS } from './review-totals.ts';
import { countSelected } from './selected-counts.ts';

export { ENTRY_KINDS, type EntryKind };

/** One thing that needs a person, in brief. */
export interface ReviewEntry {
  /** Unique across changes and records. */
  readonly id: number;
  readonly feed: FeedName;
  /** Absent only for a record of a feed without a committed pull. */
  readonly site: SiteName | undefined;
  /** Absent for a record without a usable key. */
  readonly key: PostingKey | undefined;
  readonly kind: EntryKind;
  /** The operation to be sent, or in doubt; absent for records. */
  readonly operation: 'create' | 'update' | 'delete' | undefined;
  readonly since: Date;
  /** By the database clock. */
  readonly ageMs: number;
  /** One sentence. */
  readonly reason: Message;
}

export interface EntryFilter {
  readonly feed: FeedName | undefined;
  readonly kinds: readonly EntryKind[];
  /** Lists discarded entries, by their former kinds, instead of waiting ones. */
  readonly discarded?: boolean;
  /** Lists only entries that this selects; its kinds and `discarded` do not count. */
  readonly within?: EntryQuery;
}

// The literal list of states lets the database use the partial index of changes that are not ready.
const WAITING = {
  kind: 'c.state',
  changes: `change c where c.state in ('rejected', 'failed', 'held', 'in_doubt')
  and c.state = any($1::text[]) and ($2::text is null or c.feed = $2)`,
  records: `record_problem p where not p.discarded and p.kind = any($1::text[]) and ($2::text is null or p.feed = $2)`,
} as const;
const DISCARDED = {
  kind: DISCARDED_KIND,
  changes: `change c where c.state = 'discarded'
  and ${DISCARDED_KIND} = any($1::text[]) and ($2::text is null or c.feed = $2)`,
  records: `record_problem p where p.discarded and p.kind = any($1::text[]) and ($2::text is null or p.feed = $2)`,
} as const;
const sourcesOf = ({ discarded }: EntryFilter) => (discarded === true ? DISCARDED : WAITING);
const READ_AT_ONCE = 500;

/**
 * Streams entries by kind in the order of {@link ENTRY_KINDS}: doubts first, and held deletes, which may be very many, last.
 * Within a kind, oldest first. Entries that are resolved meanwhile are left out.
 */
export async function* reviewEntries(
  db: Queryable,
  filter: EntryFilter,
  limit: number | undefined,
): AsyncGenerator<ReviewEntry> {
  // Loading all IDs is cheap, and no cursor stays open while a slow reader continues.
  const ids = await (filter.within === undefined ? idsOf(db, filter, limit) : idsWithin(db, filter, limit));
  for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
    const page = ids.slice(at, at + READ_AT_ONCE).map((row) => row.id);
    yield* await readEntries(db, page, filter);
  }
}

const idsOf = (db: Queryable, filter: EntryFilter, limit: number | undefined): Promise<{ id: number }[]> => {
  const { kind, changes, records } = sourcesOf(filter);
  return db.query<{ id: number }>(
    `select id from (select c.id, ${kind} as kind, c.since from ${changes}
       union all select p.id, p.kind, p.since from ${records}) entry
     order by array_position($3::text[], kind), since, id limit $4`,
    [filter.kinds, filter.feed ?? null, ENTRY_KINDS, limit ?? null],
  );
};

const queryOf = ({ feed, kinds, discarded, within }: EntryFilter): EntryQuery => ({
  feed,
  ...within,
  kinds,
  discarded,
});

const idsWithin = (db: Queryable, filter: EntryFilter, limit: number | undefined): Promise<{ id: number }[]> =>
  db.query<{ id: number }>(
    `select e.id from review_entry e where ${MATCHES}
     order by array_position($${QUERY_VALUES + 1}::text[], e.kind), e.since, e.id limit $${QUERY_VALUES + 2}`,
    [...valuesOf(queryOf(filter)), ENTRY_KINDS, limit ?? null],
  );

interface EntryRow extends Pick<ReviewEntry, 'id' | 'feed' | 'kind' | 'since'> {
  readonly site: SiteName | null;
  readonly key: PostingKey | null;
  readonly operation: NonNullable<ReviewEntry['operation']> | null;
  readonly reason: Partial<Reason> | null;
  readonly age: number;
}

export async function readEntries(db: Queryable, ids: readonly number[], filter: EntryFilter): Promise<ReviewEntry[]> {
  const { kind, changes, records } = sourcesOf(filter);
  const rows = await db.query<EntryRow>(
    `select entry.*, (extract(epoch from clock_timestamp() - since) * 1000)::float8 as age
     from (select c.id, c.feed, c.site, c.key, ${kind} as kind, coalesce(c.attempt_operation, c.operation) as operation,
             c.since, c.reason
           from ${changes} and c.id = any($3::bigint[])
       union all
       select p.id, p.feed, (select f.site from feed_state f where f.feed = p.feed), p.key, p.kind, null, p.since,
             jsonb_build_object('message',
               case when p.records > 1 then p.records || ' records: ' else '' end || (p.problems->0->>'message'))
       from ${records} and p.id = any($3::bigint[])) entry
     order by array_position($3::bigint[], id)`,
    [filter.kinds, filter.feed ?? null, ids],
  );
  return rows.map((row) => ({
    id: row.id,
    feed: row.feed,
    site: row.site ?? undefined,
    key: row.key ?? undefined,
    kind: row.kind,
    operation: row.operation ?? undefined,
    since: row.since,
    ageMs: row.age,
    reason: reasonOf(row.reason),
  }));
}

/** With the result of the last check of a doubt, if there is one. */
function reasonOf(reason: Partial<Reason> | null): Message {
  const { message, next, note } = reason ?? {};
  if (message == null) return note ?? 'no reason recorded';
  return reword(messageOfReason({ message, next }), (text) => (note === undefined ? text : `${text}; ${note}`));
}

/** With a text or numbers, at most one more than {@link MOST_FOUND} are counted. */
async function countByKind(db: Queryable, query: EntryQuery): Promise<ReadonlyMap<EntryKind, number>> {
  const rows = isByAge(query)
    ? await countSelected(db, query)
    : await db.query<{ kind: EntryKind; n: number }>(
        `select kind, count(*) as n from (select e.kind from review_entry e where ${MATCHES} limit ${MOST_FOUND + 1}) found group by 1`,
        valuesOf(await inParts(db, query)),
      );
  const counts = new Map<EntryKind, number>();
  for (const { kind, n } of rows) counts.set(kind, (counts.get(kind) ?? 0) + n);
  return counts;
}

/** Counts the entries of each kind; kinds without entries are omitted. With a text, see {@link MOST_FOUND}. */
export async function countEntries(db: Queryable, filter: EntryFilter): Promise<ReadonlyMap<EntryKind, number>> {
  const { kind, changes, records } = sourcesOf(filter);
  if (filter.within !== undefined) return countByKind(db, queryOf(filter));
  const rows = await db.query<{ kind: EntryKind; n: number }>(
    `select ${kind} as kind, count(*) as n from ${changes} group by 1
     union all select p.kind, count(*) from ${records} group by 1`,
    [filter.kinds, filter.feed ?? null],
  );
  return new Map(rows.map((row) => [row.kind, row.n]));
}

/** Held changes of one feed. */
export interface HeldGroup {
  readonly feed: FeedName;
  readonly site: SiteName;
  readonly count: number;
  /** Start of the oldest. */
  readonly since: Date;
  readonly ageMs: number;
  /** The guard's reason for the newest: the counts and the limit. */
  readonly reason: Message;
}

export async function heldGroups(db: Queryable, feed: FeedName | undefined): Promise<HeldGroup[]> {
  const groups = await db.query<Omit<HeldGroup, 'reason'> & { readonly reason: Reason | null }>(
    `with ${PARTS}
     select p.feed, p.site, sum(p.n)::bigint as count, min(oldest.since) as since,
       (extract(epoch from clock_timestamp() - min(oldest.since)) * 1000)::float8 as "ageMs",
       (array_agg(c.reason order by newest.since desc, newest.id desc))[1] as reason
     from part p cross join lateral (
         select e.since from review_entry e where e.part = p.part order by e.since limit 1) oldest
       cross join lateral (
         select e.id, e.since from review_entry e where e.part = p.part order by e.since desc, e.id desc limit 1) newest
       join change c on c.id = newest.id
     group by p.feed, p.site order by p.feed`,
    valuesOf({ feed, kinds: ['held'] }).slice(0, COUNTED_VALUES),
  );
  return groups.map((group) => ({ ...group, reason: reasonOf(group.reason) }));
}
