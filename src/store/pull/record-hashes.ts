// Loads and stores the hashes by which a pull recognises records: those of mappings and open changes, those of records that need no
// parsing, and those that a date makes something else.
import { hash } from 'node:crypto';
import pg from 'pg';
import { type HashMark, RecordIndex, RecordMark } from '../../compact/record-index.ts';
import type { CreateOnlyFields } from '../../plan/desired-change.ts';
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import { type Queryable, readFlag, readNumber, type Session } from '../postgres/database.ts';
import { chunksOf, streamHashes } from '../postgres/stream-rows.ts';
import { hasExpired, joinExpiry } from './posting-expiry.ts';

/**
 * Loads the index of one feed. Counts the hashes first, so that no more memory than needed is taken. Hashes written under
 * another mapping fingerprint are included: they match no record and so show what is missing. The records of expired postings are
 * planned again.
 */
export async function loadRecordIndex(
  session: Session,
  feed: FeedName,
  expireAfterDays?: number,
): Promise<RecordIndex> {
  const size = await readNumber(
    session,
    'select (select count(*) from mapping where feed = $1) + (select count(*) from change where feed = $1) as n',
    [feed],
  );
  const index = new RecordIndex(size);
  const name = pg.escapeLiteral(feed);
  const add = (bytes: Buffer, at: number, mark: number) => index.add(bytes, mark as HashMark, at);
  const expect = (bytes: Buffer, at: number) => index.expect(bytes, at);
  const expired = hasExpired(expireAfterDays);
  const joinM = expireAfterDays === undefined ? '' : joinExpiry('m');
  const joinC =
    expireAfterDays === undefined ? '' : `left join mapping m on m.feed = c.feed and m.key = c.key ${joinExpiry('c')}`;
  // A posting that was missing recently is planned again, so that its count of missing pulls is reset.
  await streamHashes(
    session,
    `select m.record_hash,
        (case when c.key is null and m.missing_pulls = 0 and not ${expired} then ${RecordMark.mapped} else ${RecordMark.superseding} end)::int2
      from mapping m left join change c on c.feed = m.feed and c.key = m.key ${joinM} where m.feed = ${name}`,
    add,
    expect,
  );
  // A request in flight may become the mapping's record while the feed streams, even if its posting has gone missing since.
  await streamHashes(
    session,
    `select sent_record_hash, ${RecordMark.superseding}::int2 from change where feed = ${name} and sent_record_hash is not null`,
    add,
  );
  await streamHashes(
    session,
    `select c.record_hash, (case when c.gone or ${expired} then ${RecordMark.superseding} else ${RecordMark.open} end)::int2
      from change c ${joinC} where c.feed = ${name} and c.desired = 'present'`,
    add,
    expect,
  );
  return index;
}

/** What the hash of a record that needs no parsing belongs to. */
export const SkippedMark = {
  /** A record that an earlier pull skipped. */
  skipped: 1,
  /** The record of an expired posting. */
  expired: 2,
  /** A record that this pull was the first to skip. */
  added: 3,
} as const satisfies Record<string, HashMark>;

export const SKIPPED_COLUMNS = { feed: 'text', record_hash: 'bytea' } as const;

const BATCH = 10_000;

/** SQL: expired postings whose jobs are gone and which the last pull saw; $1 is the feed. */
export const EXPIRED_ROWS = `from posting_expiry e where e.feed = $1 and e.expired_at is not null and e.record_hash is not null and e.missing_pulls = 0
  and not exists (select from mapping m where m.feed = e.feed and m.key = e.key)`;

/** The stored hashes of a feed, with their {@link SkippedMark}; those of expired postings only if asked for. */
export const loadSkippedIndex = (session: Session, feed: FeedName, withExpired = false): Promise<RecordIndex> =>
  loadMarked(
    session,
    feed,
    'skipped_record',
    `${SkippedMark.skipped}`,
    withExpired ? [`select e.record_hash, ${SkippedMark.expired}::int2 ${EXPIRED_ROWS}`] : [],
  );

/**
 * The record hashes that a table has of a feed, each with a mark.
 * @param mark an expression. @param more further rows of hashes and marks; $1 is the feed
 */
export async function loadMarked(
  session: Session,
  feed: FeedName,
  table: 'skipped_record' | 'dated_record' | 'detail',
  mark: string,
  more: readonly string[] = [],
): Promise<RecordIndex> {
  const index = new RecordIndex(
    await readNumber(session, `select count(*) as n from ${table} where feed = $1`, [feed]),
  );
  for (const select of [`select record_hash, (${mark})::int2 from ${table} where feed = $1`, ...more])
    await streamHashes(session, select.replace('$1', pg.escapeLiteral(feed)), (bytes, at, number) =>
      index.add(bytes, number as HashMark, at),
    );
  return index;
}

/** Removes hashes that the feed no longer has. */
export const removeSkipped = (session: Session, feed: FeedName, hashes: Iterable<Buffer>): Promise<void> =>
  removeRecords(session, 'skipped_record', feed, hashes);

/** Removes the rows of records of a feed, a batch of hashes at a time. */
async function removeRecords(
  session: Session,
  table: 'skipped_record' | 'dated_record',
  feed: FeedName,
  hashes: Iterable<Buffer>,
): Promise<void> {
  for (const batch of chunksOf(hashes, BATCH))
    await session.query(`delete from ${table} where feed = $1 and record_hash = any($2::bytea[])`, [feed, batch]);
}

/** Whether a record is due. */
export const DatedMark = { later: 1, due: 2 } as const satisfies Record<string, HashMark>;

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
export const loadDatedIndex = (session: Session, feed: FeedName, now: number): Promise<RecordIndex> =>
  loadMarked(
    session,
    feed,
    'dated_record',
    `case when due_at <= ${time(String(now))} then ${DatedMark.due} else ${DatedMark.later} end`,
  );

/** Whether a record of the feed is due: then it must be read, changed or not. */
export const anyRecordDue = (db: Queryable, feed: FeedName, now: number): Promise<boolean> =>
  readFlag(db, `select exists (select from dated_record where feed = $1 and due_at <= ${time('$2')}) as any`, [
    feed,
    now,
  ]);

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

// What is compared of two postings, of which one may be the other under another key: digests of their fields, computed by the database.

/** The fields by which postings are compared. */
export interface ComparedFields {
  readonly referenceField: string | undefined;
  readonly stateField: string;
  /** Fields that are set only on create: what was last sent says nothing about what the feed has. */
  readonly createOnly: CreateOnlyFields;
}

/** The parameters $1 to $4 of the expressions below. */
export const digestValues = (
  feed: FeedName,
  { referenceField, stateField, createOnly = new Set() }: ComparedFields,
): readonly unknown[] => [feed, referenceField ?? null, stateField, [...createOnly]];

/** Whether the field `f` is content. */
const content = (key: string): string => `(f.value <> ${key}
  and replace(f.name, '_', '-') is distinct from replace($2, '_', '-') and f.value !~ '^https?://[^[:space:]]+$')`;

/** A shorter number may be any number of the text. */
const LEAST_TELLING = 4;

/** The value without the key or reference of its posting, where that stands in it as a word: a word of letters only may be any word. */
const without = (value: string, own: string): string => `case
  when strpos(${value}, ${own}) > 0 and ${own} ~ '[0-9]' and (length(${own}) >= ${LEAST_TELLING} or ${own} ~ '[[:alpha:]]')
  then regexp_replace(${value}, '(^|[^[:alnum:]])' || regexp_replace(${own}, '([^[:alnum:]])', '\\\\\\1', 'g') || '(?![[:alnum:]])', '\\1#', 'g')
  else ${value} end`;

/**
 * Digests of the fields `f`. References, keys and web addresses change with the key; everything else is content, of which updates set what
 * is not set only on create (`settable`). The key or the reference may also stand in a text, and change there or not: `bare` and
 * `bare_settable` are the same without it. A title and the fields of a place make postings alike; if the title is set only on create, all
 * content that is not. A title is compared as it is.
 */
export const digests = (fields: string, key: string): string => {
  const digest = (value: string, which = '') =>
    `md5(string_agg(md5(f.name) || md5(${value}), '' order by f.name) filter (where ${content(key)} ${which}))`;
  const isSettable = 'and f.name <> all($4::text[])';
  return `lateral (
  select ${digest('f.value')} as content, ${digest('f.bare')} as bare,
    ${digest('f.value', isSettable)} as settable, ${digest('f.bare', isSettable)} as bare_settable,
    case when bool_or(f.name = 'title') then md5(string_agg(md5(f.name) || md5(lower(f.value)), '' order by f.name)
      filter (where f.name <> all($4::text[]) and case when 'title' = any($4::text[]) then ${content(key)}
        else f.name in ('title', $3) or f.name ~ 'city|location' end)) end as likeness
  from (select name, value, case when name = 'title' then value else ${without('keyless', `coalesce(${fields}->>$2, '')`)} end as bare
    from jsonb_each_text(${fields}) each(name, value), lateral (select ${without('value', key)} as keyless) k) f where f.value <> '') digest`;
};

/** The fields of a posting as the feed has them: a reviewer's edits are undone. */
export const uneditedFields = (fields: string, key: string): string =>
  `${fields} || coalesce((select jsonb_object_agg(o.field, o.source_value) from override o
  where o.feed = $1 and o.key = ${key} and ${fields}->>o.field = o.value), '{}')`;

/** Those of the document `d` of the posting `x`. */
export const UNEDITED_FIELDS = uneditedFields('d.fields::jsonb', 'x.key');

// Record hashes that match no record, so that the next pull reads the record of the posting and plans it anew. Each is unique in its
// feed, as pulls take mappings of a feed with equal record hashes for one posting, and stays what it is if the feed is renamed.

/**
 * Why a record is to be read anew, and whether what the job has may then differ from what the source has: then the function
 * `is_source_unknown` of the database names it as well.
 */
export const WHY_UNREAD = {
  /** The job was found on the site: `mappings import`, and adoption by hand. */
  imported: true,
  /** The same, for a create in doubt. */
  adopted: true,
  /** The job replaced one that a backup names. */
  recovered: true,
  /** An edit was undone, and what it had set is still on the site. */
  'planned again': true,
  /** An edit waits to be sent, or what was to send it was withdrawn. */
  'unsent edit': true,
  /** A pull was undone. */
  undone: true,
  /** The key is another one; the job has what the source had under the former key. */
  rekeyed: false,
  /** The same, with the edits of the former key. */
  edited: false,
  /** The job differs from what was sent, which is what the source has. */
  verified: false,
  /** An update to an older copy of the feed was left out; the job has what the newest one had. */
  'left out': false,
} as const;

export type WhyUnread = keyof typeof WHY_UNREAD;

export const unreadHash = (why: WhyUnread, key: PostingKey): Buffer => hash('md5', `${why} ${key}`, 'buffer');

/** The same in SQL. @param key an expression */
export const unreadHashSql = (why: WhyUnread, key = 'key'): string => `decode(md5('${why} ' || ${key}), 'hex')`;

/** Whether the next pull is to find out what the source has of a posting. */
export const isSourceUnknown = (recordHash: Buffer, key: PostingKey): boolean =>
  (Object.keys(WHY_UNREAD) as WhyUnread[]).some((why) => WHY_UNREAD[why] && recordHash.equals(unreadHash(why, key)));
