// Stores one review entry per record that could not become a posting, and per conflicting duplicate.
import type { UnreadableEntry } from '../../plan/match-unreadable.ts';
import { keyHash } from '../../posting/hash.ts';
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Problem } from '../../posting/posting.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { columnsOf, type Queryable, readColumn, type Stored, withoutNulls } from '../postgres/database.ts';

/** A record that repeats a key, or one that represents the records without an entry of their own. */
export interface RecordProblem {
  readonly kind: 'unreadable' | 'duplicate';
  /** Identifies the entry. */
  readonly recordHash: Buffer;
  readonly key: PostingKey | undefined;
  readonly problems: readonly Problem[];
  /** The first bytes of the record as text, at most 2,048 characters. */
  readonly excerpt: string;
  /** Its number in the feed, from 1; absent for the entry that represents others. */
  readonly recordNumber: number | undefined;
  /** 0: represents records without an entry of their own, which discarding this entry does not cover. */
  readonly records: 0 | 1;
}

/** Unreadable records of a pull that share one entry, because their key or their bytes are equal. */
export interface UnreadableRecords {
  readonly key: PostingKey | undefined;
  /** Hash of the first of them. */
  readonly recordHash: Buffer;
  readonly shape: Buffer;
  readonly fault: string;
  readonly problems: readonly Problem[];
  readonly excerpt: string;
  /** Number of the first of them in the feed, from 1. */
  readonly recordNumber: number;
  readonly count: number;
}

/** Entries of a feed's unreadable records, oldest first, discarded ones last. */
export async function unreadableEntries(db: Queryable, feed: FeedName): Promise<UnreadableEntry[]> {
  const rows = await db.query<Stored<UnreadableEntry>>(
    `select id, key, discarded, encode(record_hash, 'hex') as bytes, encode(shape, 'hex') as shape, fault
     from record_problem where feed = $1 and kind = 'unreadable' order by discarded, id`,
    [feed],
  );
  return rows.map(withoutNulls<UnreadableEntry>);
}

/** Keys of postings that have such an entry. */
export const unreadableKeys = async (db: Queryable, feed: FeedName): Promise<ReadonlySet<PostingKey>> =>
  new Set(
    await readColumn<PostingKey>(
      db,
      `select distinct key from record_problem where feed = $1 and kind = 'unreadable' and key is not null`,
      [feed],
    ),
  );

/** Identifies the entry: hash of the key or, without a key, of the record's bytes. */
const identityOf = ({ key, recordHash }: UnreadableRecords): Buffer => (key === undefined ? recordHash : keyHash(key));

/** Writes the unreadable records of a pull: updates the entries that matched and creates the others. */
export async function noteUnreadable(
  db: Queryable,
  feed: FeedName,
  pull: number,
  found: readonly { readonly records: UnreadableRecords; readonly entry: UnreadableEntry | undefined }[],
): Promise<void> {
  if (found.length === 0) return;
  const rows = `unnest($3::bigint[], $4::bytea[], $5::text[], $6::jsonb[], $7::text[], $8::bytea[], $9::text[], $10::int[], $11::int[])
    r(id, record_hash, key, problems, excerpt, shape, fault, records, record_number)`;
  const values = [
    feed,
    pull,
    found.map(({ entry }) => entry?.id ?? null),
    found.map(({ records }) => identityOf(records)),
    found.map(({ records }) => records.key ?? null),
    found.map(({ records }) => toJsonb(records.problems)),
    found.map(({ records }) => storable(records.excerpt)),
    found.map(({ records }) => records.shape),
    found.map(({ records }) => records.fault),
    found.map(({ records }) => records.count),
    found.map(({ records }) => records.recordNumber),
  ];
  await db.query(
    `update record_problem p set record_hash = r.record_hash, key = r.key, problems = r.problems, excerpt = r.excerpt,
       shape = r.shape, fault = r.fault, records = r.records, record_number = r.record_number,
       revision = case when (p.record_hash, p.key, p.problems, p.excerpt, p.shape, p.fault)
           is distinct from (r.record_hash, r.key, r.problems, r.excerpt, r.shape, r.fault)
         then nextval('revision_number') else p.revision end
     from ${rows} where p.id = r.id and p.feed = $1 and $2::bigint is not null
       and (p.record_hash, p.key, p.problems, p.excerpt, p.shape, p.fault, p.records, p.record_number)
         is distinct from (r.record_hash, r.key, r.problems, r.excerpt, r.shape, r.fault, r.records, r.record_number)`,
    values,
  );
  await db.query(
    `insert into record_problem
       (feed, kind, record_hash, key, problems, excerpt, first_pull, shape, fault, records, record_number)
     select $1, 'unreadable', record_hash, key, problems, excerpt, $2, shape, fault, records, record_number from ${rows} where id is null
     on conflict (feed, kind, record_hash) do nothing`,
    values,
  );
}

/** Records the other problems of one pull; known ones keep their entry. */
export async function noteRecordProblems(
  db: Queryable,
  feed: FeedName,
  pull: number,
  problems: readonly RecordProblem[],
): Promise<void> {
  if (problems.length === 0) return;
  await db.query(
    `insert into record_problem as r (feed, kind, record_hash, key, problems, excerpt, records, record_number, first_pull)
     select $1, kind, record_hash, key, problems, excerpt, records, record_number, $2
     from unnest($3::text[], $4::bytea[], $5::text[], $6::jsonb[], $7::text[], $8::int[], $9::int[])
       p(kind, record_hash, key, problems, excerpt, records, record_number)
     on conflict (feed, kind, record_hash) do update
       set excerpt = excluded.excerpt, records = excluded.records, record_number = excluded.record_number,
         revision = case when r.excerpt <> excluded.excerpt then excluded.revision else r.revision end
       where (r.excerpt, r.records, r.record_number)
         is distinct from (excluded.excerpt, excluded.records, excluded.record_number)`,
    [
      feed,
      pull,
      ...columnsOf(problems, 'kind', 'recordHash'),
      problems.map((problem) => problem.key ?? null),
      problems.map((problem) => toJsonb(problem.problems)),
      problems.map((problem) => storable(problem.excerpt)),
      problems.map((problem) => problem.records),
      problems.map((problem) => problem.recordNumber ?? null),
    ],
  );
}

/** Removes the entries of records that a complete reading no longer saw: the feed has fixed them. */
export async function clearRecordProblems(
  db: Queryable,
  feed: FeedName,
  seen: { readonly unreadable: readonly UnreadableRecords[]; readonly others: readonly RecordProblem[] },
): Promise<void> {
  await db.query(
    `delete from record_problem where feed = $1
       and record_hash <> all(case when kind = 'unreadable' then $2::bytea[] else $3::bytea[] end)`,
    [feed, seen.unreadable.map(identityOf), seen.others.map(({ recordHash }) => recordHash)],
  );
}

/** A text without what the database can't store. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');
