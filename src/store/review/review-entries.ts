// Reads the changes and records that need a person as review entries, and counts them.
import { messageOfReason, type Reason } from '../../plan/desired-change.ts';
import { type Message, reword } from '../../plan/message.ts';
import type { FeedName, PostingKey, SiteName } from '../../posting/identifiers.ts';
import type { Problem } from '../../posting/posting.ts';
import { DISCARDED_KIND, type EntryKind } from '../backlog/open-counts.ts';
import { type EditRow, editsOfPosting } from '../change/edit.ts';
import { findChange, markOfChange, type OpenChangeRow } from '../change/open-change.ts';
import { type Queryable, type Stored, withoutNulls } from '../postgres/database.ts';
import { keptRecordOf } from '../pull/posting-notes.ts';
import { COUNTED_VALUES, type EntryQuery, isByAge, MATCHES, MOST_FOUND, valuesOf } from './found-entries.ts';
import { type FailureRow, findLiveJob, type LiveJob, recentFailures } from './posting-history.ts';
import { countSelected, inParts, SELECTION_PARTS } from './review-totals.ts';

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
  /** For how long it has waited, by the database clock. */
  readonly ageMs: number;
  /** One sentence. */
  readonly reason: Message;
  /** The value that its message is about. */
  readonly value: string | null;
  /** As it is to be sent, or as the site last accepted it; null: not known. */
  readonly title: string | null;
  /** Another one after each change of the entry, and each decision about a record. */
  readonly mark: string;
}

// The literal list of states lets the database use the partial index of changes that are not ready.
const SOURCES = {
  waiting: {
    kind: 'c.state',
    changes: `change c where c.state in ('rejected', 'failed', 'held', 'in_doubt')`,
    records: 'record_problem p where not p.discarded',
  },
  discarded: {
    kind: DISCARDED_KIND,
    changes: `change c where c.state = 'discarded'`,
    records: 'record_problem p where p.discarded',
  },
} as const;

type EntryRow = Stored<Omit<ReviewEntry, 'reason' | 'value' | 'title'>> &
  Pick<ReviewEntry, 'value' | 'title'> & { readonly reason: Partial<Reason> | null };

/** The entries that wait, or that are discarded, in the same order. */
export async function readEntries(db: Queryable, ids: readonly number[], discarded: boolean): Promise<ReviewEntry[]> {
  const { kind, changes, records } = SOURCES[discarded ? 'discarded' : 'waiting'];
  const rows = await db.query<EntryRow>(
    `select entry.*, e.value, (extract(epoch from clock_timestamp() - entry.since) * 1000)::float8 as "ageMs"
     from (select c.id, c.feed, c.site, c.key, ${kind} as kind, coalesce(c.attempt_operation, c.operation) as operation,
             c.since, c.reason, ${markOfChange('c')} as mark, coalesce(c.fields, c.sent_fields,
               (select d.fields from document d where d.feed = c.feed and d.key = c.key))->>'title' as title
           from ${changes} and c.id = any($1::bigint[])
       union all
       select p.id, p.feed, (select f.site from feed_state f where f.feed = p.feed), p.key, p.kind, null, p.since,
             jsonb_build_object('message',
               case when p.records > 1 then p.records || ' records: ' else '' end || (p.problems->0->>'message')),
             hashint8extended(p.id, p.revision)::text, null
       from ${records} and p.id = any($1::bigint[])) entry
     left join review_entry e on e.id = entry.id
     order by array_position($1::bigint[], entry.id)`,
    [ids],
  );
  return rows.map(({ reason, value, title, ...row }) => ({
    ...withoutNulls<Omit<ReviewEntry, 'reason' | 'value' | 'title'>>(row),
    reason: reasonOf(reason),
    value,
    title,
  }));
}

/** The reason, with the result of the last check of a doubt, if there is one. */
function reasonOf(reason: Partial<Reason> | null): Message {
  const { message, next, note } = reason ?? {};
  if (message == null) return note ?? 'no reason recorded';
  return reword(messageOfReason({ message, next }), (text) => (note === undefined ? text : `${text}; ${note}`));
}

/** Counts the entries of each kind; kinds without entries are omitted. With a text or numbers, at most one more than {@link MOST_FOUND}. */
export async function countEntries(db: Queryable, query: EntryQuery): Promise<ReadonlyMap<EntryKind, number>> {
  const rows = isByAge(query)
    ? await countSelected(db, query, false)
    : await db.query<{ kind: EntryKind; n: number }>(
        `select kind, count(*) as n from (select e.kind from review_entry e where ${MATCHES} limit ${MOST_FOUND + 1}) found group by 1`,
        valuesOf(await inParts(db, query)),
      );
  const counts = new Map<EntryKind, number>();
  for (const { kind, n } of rows) counts.set(kind, (counts.get(kind) ?? 0) + n);
  return counts;
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
    `with ${SELECTION_PARTS}
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

// Reads all details of one review entry: the change or record, what the site has, and the last failed attempts.

/** A record of a feed that could not become a posting, or that repeats a key. */
export interface RecordEntry extends Pick<ReviewEntry, 'id' | 'feed' | 'key' | 'since' | 'ageMs' | 'mark'> {
  readonly kind: 'unreadable' | 'duplicate';
  readonly problems: readonly Problem[];
  /** The beginning of the record. */
  readonly excerpt: string;
  /** Its number in the feed, from 1, when a pull last saw it; `undefined`: not known. */
  readonly recordNumber: number | undefined;
  readonly firstPull: number;
  readonly discarded: boolean;
  /** Records of the last pull that the entry covers. */
  readonly records: number;
}

export type EntryDetails =
  | {
      readonly kind: 'change';
      readonly change: OpenChangeRow;
      readonly live: LiveJob | undefined;
      readonly edits: readonly EditRow[];
      /** The beginning of the record that it was read from, if it was kept. */
      readonly record: string | undefined;
      /** Newest first. */
      readonly failures: readonly FailureRow[];
    }
  | { readonly kind: 'record'; readonly record: RecordEntry };

const NEWEST_FAILURES = 3;

export async function readEntry(db: Queryable, id: number): Promise<EntryDetails | undefined> {
  const change = await findChange(db, id);
  if (change === undefined) {
    const record = await findRecord(db, id);
    return record === undefined ? undefined : { kind: 'record', record };
  }
  const { feed, key } = change;
  return {
    kind: 'change',
    change,
    live: await findLiveJob(db, feed, key),
    edits: await editsOfPosting(db, feed, key),
    record: await keptRecordOf(db, feed, key),
    failures: await recentFailures(db, feed, key, NEWEST_FAILURES),
  };
}

async function findRecord(db: Queryable, id: number): Promise<RecordEntry | undefined> {
  const [row] = await db.query<Stored<RecordEntry>>(
    `select id, feed, key, kind, problems, excerpt, record_number as "recordNumber", since,
       (extract(epoch from clock_timestamp() - since) * 1000)::float8 as "ageMs", first_pull as "firstPull", discarded, records,
       hashint8extended(id, revision)::text as mark
     from record_problem where id = $1`,
    [id],
  );
  return row && withoutNulls<RecordEntry>(row);
}

/** Keeps others from changing the record of an entry until the transaction ends. */
export async function lockRecord(tx: Queryable, id: number): Promise<void> {
  await tx.query('select from record_problem where id = $1 for update', [id]);
}
