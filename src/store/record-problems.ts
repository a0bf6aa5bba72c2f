// Keeps one review entry for each record that could not become a posting, and for each conflicting duplicate.
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import type { Problem } from '../posting/posting.ts';
import type { Queryable } from './database.ts';
import { toJsonb } from './jsonb.ts';

/** A record that a pull could not use. */
export interface RecordProblem {
  readonly kind: 'unreadable' | 'duplicate';
  readonly recordHash: Buffer;
  readonly key: PostingKey | undefined;
  readonly problems: readonly Problem[];
  /** The first bytes of the record as text, at most 2,048 characters. */
  readonly excerpt: string;
}

/** Record hashes of unreadable records that a reviewer has dealt with: they no longer make a pull incomplete. */
export async function discardedRecords(db: Queryable, feed: FeedName): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ hash: string }>(
    `select encode(record_hash, 'hex') as hash from record_problem where feed = $1 and kind = 'unreadable' and discarded`,
    [feed],
  );
  return new Set(rows.map((row) => row.hash));
}

/** Notes the problems of one pull; those known already stay as they are. */
export async function noteRecordProblems(
  db: Queryable,
  feed: FeedName,
  pull: number,
  problems: readonly RecordProblem[],
): Promise<void> {
  if (problems.length === 0) return;
  await db.query(
    `insert into record_problem (feed, kind, record_hash, key, problems, excerpt, first_pull)
     select $1, kind, record_hash, key, problems, excerpt, $2
     from unnest($3::text[], $4::bytea[], $5::text[], $6::jsonb[], $7::text[]) p(kind, record_hash, key, problems, excerpt)
     on conflict (feed, kind, record_hash) do nothing`,
    [
      feed,
      pull,
      problems.map((problem) => problem.kind),
      problems.map((problem) => problem.recordHash),
      problems.map((problem) => problem.key ?? null),
      problems.map((problem) => toJsonb(problem.problems)),
      problems.map((problem) => problem.excerpt.toWellFormed().replaceAll('\0', '\ufffd')),
    ],
  );
}

/** Removes the entries that a complete pull no longer met: the source has mended them. */
export async function clearRecordProblems(db: Queryable, feed: FeedName, met: readonly Buffer[]): Promise<void> {
  await db.query('delete from record_problem where feed = $1 and record_hash <> all($2::bytea[])', [feed, met]);
}
