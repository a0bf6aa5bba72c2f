// Reads all details of one review entry: the change or record, what the site has, and the last failed attempts.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Problem } from '../../posting/posting.ts';
import { findChange, type OpenChangeRow } from '../change/open-change.ts';
import { type EditRow, editsOfPosting } from '../change/override.ts';
import type { Queryable } from '../postgres/database.ts';
import { keptRecordOf } from '../pull/posting-notes.ts';
import { type FailureRow, findLiveJob, type LiveJob, recentFailures } from './posting-history.ts';

/** A record of a feed that could not become a posting, or that repeats a key. */
export interface RecordEntry {
  readonly id: number;
  readonly feed: FeedName;
  readonly key: PostingKey | undefined;
  readonly kind: 'unreadable' | 'duplicate';
  readonly problems: readonly Problem[];
  /** The beginning of the record. */
  readonly excerpt: string;
  /** Its number in the feed, from 1, when a pull last saw it; `undefined`: not known. */
  readonly recordNumber: number | undefined;
  readonly since: Date;
  readonly ageMs: number;
  readonly firstPull: number;
  readonly discarded: boolean;
  /** Records of the last pull that the entry covers. */
  readonly records: number;
  /** Another one after each change of the record, and each decision about it. */
  readonly mark: string;
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

interface RecordRow extends Pick<RecordEntry, 'id' | 'feed' | 'kind' | 'problems' | 'excerpt' | 'since'> {
  readonly key: PostingKey | null;
  readonly first_pull: number;
  readonly discarded: boolean;
  readonly records: number;
  readonly record_number: number | null;
  readonly mark: string;
  readonly age: number;
}

async function findRecord(db: Queryable, id: number): Promise<RecordEntry | undefined> {
  const [row] = await db.query<RecordRow>(
    `select id, feed, key, kind, problems, excerpt, since, first_pull, discarded, records, record_number, hashint8extended(id, revision)::text as mark,
       (extract(epoch from clock_timestamp() - since) * 1000)::float8 as age
     from record_problem where id = $1`,
    [id],
  );
  if (row === undefined) return undefined;
  return {
    id: row.id,
    feed: row.feed,
    key: row.key ?? undefined,
    kind: row.kind,
    problems: row.problems,
    excerpt: row.excerpt,
    recordNumber: row.record_number ?? undefined,
    since: row.since,
    ageMs: row.age,
    firstPull: row.first_pull,
    discarded: row.discarded,
    records: row.records,
    mark: row.mark,
  };
}

/** Keeps others from changing the record of an entry until the transaction ends. */
export async function lockRecord(tx: Queryable, id: number): Promise<void> {
  await tx.query('select from record_problem where id = $1 for update', [id]);
}
