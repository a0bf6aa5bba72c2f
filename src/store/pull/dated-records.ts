// Stores when records become something else because of a date, so that a pull reads them again then, and why one is skipped.
import pg from 'pg';
import { type Mark, RecordIndex } from '../../compact/record-index.ts';
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import { streamHashes } from '../mapping/hash-rows.ts';
import type { Queryable, Session } from '../postgres/database.ts';
import { removeRecords } from './skipped-records.ts';

/** Whether a record is due. */
export const DatedMark = { later: 1, due: 2 } as const satisfies Record<string, Mark>;

/** What the dates of one record decide. Times are milliseconds since 1970. */
export interface DatedRecord {
  readonly recordHash: Buffer;
  /** When it may become something else; `undefined`: never. */
  readonly dueAt: number | undefined;
  /** Why it is skipped; `undefined`: it is not, or not because of a date. */
  readonly skipped: { readonly key: PostingKey | undefined; readonly since: number | undefined } | undefined;
}

/** SQL: the time in a parameter of milliseconds since 1970. */
const time = (parameter: string): string => `to_timestamp(${parameter}::float8 / 1000)`;

/** The stored records of a feed, with their {@link DatedMark} at the time `now`. */
export async function loadDatedIndex(session: Session, feed: FeedName, now: number): Promise<RecordIndex> {
  const [size] = await session.query<{ n: number }>('select count(*) as n from dated_record where feed = $1', [feed]);
  const index = new RecordIndex(size?.n ?? 0);
  if (size?.n === 0) return index;
  await streamHashes(
    session,
    `select record_hash, (case when due_at <= ${time(String(now))} then ${DatedMark.due} else ${DatedMark.later} end)::int2
     from dated_record where feed = ${pg.escapeLiteral(feed)}`,
    (bytes, at, mark) => index.add(bytes, mark as Mark, at),
  );
  return index;
}

/** Whether a record of the feed is due: then it must be read, changed or not. */
export async function anyRecordDue(db: Queryable, feed: FeedName, now: number): Promise<boolean> {
  const [row] = await db.query<{ any: boolean }>(
    `select exists (select from dated_record where feed = $1 and due_at <= ${time('$2')}) as any`,
    [feed, now],
  );
  return row?.any === true;
}

/** @param records with different hashes */
export async function storeDated(session: Session, feed: FeedName, records: readonly DatedRecord[]): Promise<void> {
  if (records.length === 0) return;
  await session.query(
    `insert into dated_record as d (feed, record_hash, due_at, skipped_key, skipped_since)
     select $1, r.hash, ${time('r.due')}, r.key, ${time('r.since')}
     from unnest($2::bytea[], $3::float8[], $4::text[], $5::float8[]) r(hash, due, key, since)
     on conflict (feed, record_hash) do update
       set due_at = excluded.due_at, skipped_key = excluded.skipped_key, skipped_since = excluded.skipped_since
       where (d.due_at, d.skipped_key, d.skipped_since)
         is distinct from (excluded.due_at, excluded.skipped_key, excluded.skipped_since)`,
    [
      feed,
      records.map(({ recordHash }) => recordHash),
      records.map(({ dueAt }) => dueAt ?? null),
      records.map(({ skipped }) => skipped?.key ?? null),
      records.map(({ skipped }) => skipped?.since ?? null),
    ],
  );
}

/** Removes records about which dates decide nothing any more, or that the feed no longer has. */
export const removeDated = (session: Session, feed: FeedName, hashes: Iterable<Buffer>): Promise<void> =>
  removeRecords(session, 'dated_record', feed, hashes);

/** Removes all of a feed that has no conditions on dates any more. */
export async function removeAllDated(session: Session, feed: FeedName): Promise<void> {
  await session.query('delete from dated_record where feed = $1', [feed]);
}

/** A posting whose record is skipped because of a date. */
export interface SkippedByDate {
  readonly since: Date | undefined;
  /** When that may change. */
  readonly until: Date | undefined;
}

/** The record of a posting with a place has the key without the place. */
export async function skippedByDate(
  db: Queryable,
  feed: FeedName,
  key: PostingKey,
): Promise<SkippedByDate | undefined> {
  const [row] = await db.query<{ since: Date | null; until: Date | null }>(
    `select skipped_since as since, due_at as until from dated_record
     where feed = $1 and skipped_key in ($2, regexp_replace($2, '[^|]*$', '')) order by due_at nulls first limit 1`,
    [feed, key],
  );
  return row === undefined ? undefined : { since: row.since ?? undefined, until: row.until ?? undefined };
}
