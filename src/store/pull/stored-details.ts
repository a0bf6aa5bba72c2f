// Stores the details of postings, and those that a source does not have, outside of the pull's transaction: after a crash, none is
// requested again.
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { HashMark, RecordIndex } from '../../compact/record-index.ts';
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import {
  columnsOf,
  type Database,
  onLentSession,
  type Queryable,
  readFlag,
  type Stored,
  withoutNulls,
} from '../postgres/database.ts';
import { chunksOf } from '../postgres/stream-rows.ts';
import { loadMarked } from './record-hashes.ts';
import { storable } from './record-problems.ts';

export interface StoredDetail {
  /** The hash of what counts in the record of the list, and of how its detail is requested. */
  readonly listHash: Buffer;
  /** The same of all of the record. */
  readonly recordHash: Buffer;
  readonly key: PostingKey;
  /** Its document, in UTF-8. */
  readonly document: Buffer;
}

const compressed = promisify<Buffer, Buffer>(gzip);
const decompressed = promisify<Buffer, Buffer>(gunzip);

/** A detail that was found. */
export interface FoundDetail extends StoredDetail {
  /** It is to be requested again. */
  readonly isDue: boolean;
  /** The last complete pull did not find its record in the list. */
  readonly isUnlisted: boolean;
}

/** What is later than that was written while the clock of the database was ahead. */
const FUTURE = `interval '1 hour'`;

/**
 * Details become due at different times, between half of the interval and all of it, so that those of a first pull are not
 * all requested again at once. Those whose records have left the list never do: no pull would request them. Nor do those that
 * are not to be requested yet because the last try failed.
 */
const isDue = (seconds: string): string =>
  `(unlisted_at is null and
    fetched_at not between now() - make_interval(secs => ${seconds} * (0.5 + get_byte(list_hash, 0) / 512.0)) and now() + ${FUTURE} and
    not exists (select from failed_detail f where f.feed = detail.feed and f.list_hash = detail.list_hash and ${IS_RESTING}))`;

/** The stored details with these hashes, by hash in hex. @param refreshMs `undefined`: none is ever due. */
export async function findDetails(
  db: Queryable,
  feed: FeedName,
  listHashes: readonly Buffer[],
  refreshMs: number | undefined,
): Promise<ReadonlyMap<string, FoundDetail>> {
  if (listHashes.length === 0) return new Map();
  const rows = await db.query<Omit<FoundDetail, 'document'> & { readonly body: Buffer }>(
    `select list_hash as "listHash", record_hash as "recordHash", key, body, coalesce(${isDue('$3::float8')}, false) as "isDue",
       unlisted_at is not null as "isUnlisted"
     from detail where feed = $1 and list_hash = any($2::bytea[])`,
    [feed, listHashes, refreshMs === undefined ? null : refreshMs / 1000],
  );
  const found = new Map<string, FoundDetail>();
  for (const { body, ...row } of rows)
    found.set(row.listHash.toString('hex'), { ...row, document: await decompressed(body) });
  return found;
}

/** Whether any detail is to be requested again, or was so by a pull that ended before it planned it. */
export const anyDue = (db: Queryable, feed: FeedName, refreshMs: number | undefined): Promise<boolean> =>
  readFlag(
    db,
    `select exists (select from detail where feed = $1 and unplanned)
       or ($2::float8 is not null and exists (select from detail where feed = $1 and ${isDue('$2::float8')})) as due`,
    [feed, refreshMs === undefined ? null : refreshMs / 1000],
  );

/** What the record hash of a stored detail says about the detail. */
export const DetailMark = {
  /** It was planned and is recent enough. */
  current: 1,
  /** It is to be requested again, or was not planned yet. */
  due: 2,
  /** Its record had left the list. */
  unlisted: 3,
} as const satisfies Record<string, HashMark>;

/** The record hashes of all stored details, with their {@link DetailMark}. */
export function loadDetailIndex(
  db: Pick<Database, 'lend'>,
  feed: FeedName,
  refreshMs: number | undefined,
): Promise<RecordIndex> {
  const due = refreshMs === undefined ? 'false' : isDue(`${refreshMs / 1000}::float8`);
  const mark = `case when unlisted_at is not null then ${DetailMark.unlisted} when unplanned or ${due} then ${DetailMark.due}
    else ${DetailMark.current} end`;
  return onLentSession(db, (session) => loadMarked(session, feed, 'detail', mark));
}

/** Notes that a complete pull has planned all details of the list. */
export async function notePlanned(db: Queryable, feed: FeedName): Promise<void> {
  await db.query('update detail set unplanned = false where feed = $1 and unplanned', [feed]);
}

const BATCH = 10_000;

/** Notes that a complete pull did not find these records in the list. */
export async function noteUnlisted(db: Queryable, feed: FeedName, recordHashes: Iterable<Buffer>): Promise<void> {
  for (const batch of chunksOf(recordHashes, BATCH))
    await db.query(
      `update detail set unlisted_at = now()
       where feed = $1 and record_hash = any($2::bytea[]) and unlisted_at is null`,
      [feed, batch],
    );
}

/** A detail that was received some time ago. */
export interface ReceivedDetail extends StoredDetail {
  readonly ageMs: number;
}

/**
 * Stores details, each in place of earlier ones of its posting. A process that was stopped replaces nothing newer. One that
 * differs from that of the same record is to be planned although the record is known, even if this pull ends before.
 * @param isListed whether the list has a record with this hash: two records with one key each keep their detail.
 */
export async function storeDetails(
  db: Queryable,
  feed: FeedName,
  details: readonly ReceivedDetail[],
  isListed: (recordHash: Buffer) => boolean,
): Promise<void> {
  if (details.length === 0) return;
  const own = new Set(details.map(({ listHash }) => listHash.toString('hex')));
  const ofKeys = await db.query<{ list_hash: Buffer; record_hash: Buffer }>(
    `select list_hash, record_hash from detail
     where feed = $1 and (key = any($2::text[]) or record_hash = any($3::bytea[]))`,
    [feed, details.map(({ key }) => key), details.map(({ recordHash }) => recordHash)],
  );
  // Of the same record under another key, or of a record that the list no longer has.
  const records = new Set(details.map(({ recordHash }) => recordHash.toString('hex')));
  const isFormer = (row: { readonly list_hash: Buffer; readonly record_hash: Buffer }) =>
    !own.has(row.list_hash.toString('hex')) &&
    (records.has(row.record_hash.toString('hex')) || !isListed(row.record_hash));
  const former = ofKeys.filter(isFormer);
  await db.query(
    `with received as (
       select list_hash, record_hash, key, body, clock_timestamp() - make_interval(secs => age) as fetched_at
       from unnest($2::bytea[], $3::text[], $4::bytea[], $5::float8[], $6::bytea[]) r(list_hash, key, body, age, record_hash)),
     former as (
       delete from detail d using received r
       where d.feed = $1 and (d.key = r.key or d.record_hash = r.record_hash) and d.fetched_at < r.fetched_at and d.list_hash = any($7::bytea[]))
     insert into detail as d (feed, list_hash, record_hash, key, body, fetched_at)
     select distinct on (list_hash) $1, list_hash, record_hash, key, body, fetched_at from received
     on conflict (feed, list_hash) do update
       set key = excluded.key, record_hash = excluded.record_hash, body = excluded.body, fetched_at = excluded.fetched_at,
         unlisted_at = null, unplanned = d.unplanned or d.body <> excluded.body
       where d.fetched_at < excluded.fetched_at`,
    [
      feed,
      ...columnsOf(details, 'listHash', 'key'),
      await Promise.all(details.map(({ document }) => compressed(document))),
      details.map(({ ageMs }) => ageMs / 1000),
      details.map(({ recordHash }) => recordHash),
      former.map((row) => row.list_hash),
    ],
  );
}

/** Gives details the keys and records that their postings have by now: they are kept as long as the list has these. */
export async function assignDetails(
  db: Queryable,
  feed: FeedName,
  details: readonly Omit<StoredDetail, 'document'>[],
): Promise<void> {
  if (details.length === 0) return;
  await db.query(
    `update detail d set key = r.key, record_hash = r.record_hash, unlisted_at = null
     from unnest($2::bytea[], $3::text[], $4::bytea[]) r(list_hash, key, record_hash)
     where d.feed = $1 and d.list_hash = r.list_hash`,
    [feed, ...columnsOf(details, 'listHash', 'key', 'recordHash')],
  );
}

/**
 * When the detail of a posting was requested, and its document; `undefined` if it has none. The detail of a record with several
 * places has the record's key, which is that of each posting without the place.
 */
export async function detailOf(
  db: Queryable,
  feed: FeedName,
  key: PostingKey,
): Promise<{ readonly requestedAt: Date; readonly document: Buffer } | undefined> {
  const [row] = await db.query<{ fetched_at: Date; body: Buffer }>(
    `select fetched_at, body from detail where feed = $1 and key in ($2, regexp_replace($2, '[^|]*$', ''))
     order by key = $2 desc, fetched_at desc limit 1`,
    [feed, key],
  );
  return row === undefined ? undefined : { requestedAt: row.fetched_at, document: await decompressed(row.body) };
}

export interface FailedDetail {
  /** As in `StoredDetail`. */
  readonly listHash: Buffer;
  readonly message: string;
  /** The beginning of what was received, if anything was. */
  readonly excerpt: Buffer | undefined;
}

/**
 * In the first hour every pull requests it. From then on a pull waits for as long as it has been failing, at most about a day:
 * a bit less, so that a daily pull requests it.
 */
const IS_RESTING = `(tried_at - since >= interval '1 hour' and tried_at <= now() + ${FUTURE} and
  tried_at > now() - least(tried_at - since, interval '23 hours'))`;

/** The failed details that are not to be requested yet, by hash in hex. @param interpretation how records are read. */
export async function restingDetails(
  db: Queryable,
  feed: FeedName,
  interpretation: Buffer,
  listHashes: readonly Buffer[],
): Promise<ReadonlyMap<string, FailedDetail>> {
  if (listHashes.length === 0) return new Map();
  const rows = await db.query<Stored<FailedDetail>>(
    `select list_hash as "listHash", message, excerpt from failed_detail
     where feed = $1 and interpretation = $2 and list_hash = any($3::bytea[]) and ${IS_RESTING}`,
    [feed, interpretation, listHashes],
  );
  return new Map(rows.map((row) => [row.listHash.toString('hex'), withoutNulls<FailedDetail>(row)]));
}

/** Notes which details have failed, and which have not. A detail fails anew if it had failed with another interpretation. */
export async function noteFailures(
  db: Queryable,
  feed: FeedName,
  interpretation: Buffer,
  { failed, received }: { readonly failed: readonly FailedDetail[]; readonly received: readonly Buffer[] },
): Promise<void> {
  if (received.length > 0) {
    await db.query('delete from failed_detail where feed = $1 and list_hash = any($2::bytea[])', [feed, received]);
  }
  if (failed.length === 0) return;
  await db.query(
    `insert into failed_detail as f (feed, list_hash, interpretation, message, excerpt)
     select distinct on (list_hash) $1, list_hash, $2, message, excerpt
     from unnest($3::bytea[], $4::text[], $5::bytea[]) r(list_hash, message, excerpt)
     on conflict (feed, list_hash) do update
       set message = excluded.message, excerpt = excluded.excerpt, tried_at = excluded.tried_at,
         interpretation = excluded.interpretation,
         since = case when f.interpretation = excluded.interpretation then f.since else excluded.since end`,
    [
      feed,
      interpretation,
      failed.map(({ listHash }) => listHash),
      failed.map(({ message }) => storable(message)),
      failed.map(({ excerpt }) => excerpt ?? null),
    ],
  );
}
