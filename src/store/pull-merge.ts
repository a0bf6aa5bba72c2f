// Merges what a pull wishes with what is still open, under the feed's lock: SQL for the end of a pull's transaction.
import pg from 'pg';
import type { DeleteLoad } from '../plan/delete-guard.ts';
import { HASH_BYTES } from '../posting/hash.ts';
import { type PostingKey, postingKey } from '../posting/identifiers.ts';
import { streamHashes } from './hash-rows.ts';
import type { PullBooks } from './pull-books.ts';

// What a wish that replaces another one does to its row. An attempt that is in flight or in doubt goes on: what it sent
// is put aside, the row keeps its state, and the newer wish waits for it.
const REPLACE_WISH = `
  sent_fields = case when change.attempt_token is null or change.sent_revision is not null then change.sent_fields
    else change.fields end,
  sent_record_hash = case when change.attempt_token is null or change.sent_revision is not null then change.sent_record_hash
    else change.record_hash end,
  sent_content_hash = case when change.attempt_token is null or change.sent_revision is not null
    then change.sent_content_hash else change.content_hash end,
  sent_revision = case when change.attempt_token is null or change.sent_revision is not null then change.sent_revision
    else change.revision end,
  wanted = excluded.wanted, operation = excluded.operation, fields = excluded.fields,
  record_hash = excluded.record_hash, content_hash = excluded.content_hash, invalid = excluded.invalid, gone = false,
  pull = excluded.pull, revision = nextval('revision_number'), resting = excluded.resting, approved = false,
  state = case when change.attempt_token is null then excluded.resting else change.state end,
  since = case when change.attempt_token is null then now() else change.since end,
  attempts = 0, not_before = '-infinity', reason = coalesce(excluded.reason, case when change.attempt_token is not null then change.reason end)`;

/** Lets the wishes that met an open change replace it (law 5: the latest wins). */
export async function mergeWishes(books: PullBooks): Promise<void> {
  await books.session.query('analyze wish');
  await books.session.query(
    `insert into change (feed, key, site, wanted, operation, fields, record_hash, content_hash, invalid, pull, state, resting, reason)
     select feed, key, site, wanted, operation, fields, record_hash, content_hash, invalid, pull, state, resting, reason
     from wish order by key
     on conflict (feed, key) do update set ${REPLACE_WISH}`,
  );
  await books.session.query('truncate wish');
}

/** Notes the newest record hashes of wishes that stand as they are. Gives how many of them are still open. */
export async function mergeCarried(books: PullBooks): Promise<number> {
  const [row] = await books.session.query<{ n: number }>(
    `with still as (
       update change c set record_hash = r.record_hash, gone = false
       from carried r where c.feed = $1 and c.key = r.key and c.wanted = 'present' returning c.key)
     select count(*) as n from still`,
    [books.subject.feed],
  );
  return row?.n ?? 0;
}

/** A mapped posting that the pull did not see with the mapping's own record. */
export interface UnmetPosting {
  readonly key: PostingKey;
  readonly missingPulls: number;
  /** The open change of the posting, if there is one. */
  readonly wanted: 'present' | 'absent' | undefined;
  readonly wishRecordHash: Buffer | undefined;
  /** The open change is of this very pull. */
  readonly wishedNow: boolean;
}

/** The mapped postings with these record hashes, with their open changes. */
export async function unmetPostings(books: PullBooks, recordHashes: readonly Buffer[]): Promise<UnmetPosting[]> {
  if (recordHashes.length === 0) return [];
  const rows = await books.session.query(
    `select m.key, m.missing_pulls, c.wanted, c.record_hash, coalesce(c.pull = $3, false) as wished_now
     from mapping m left join change c on c.feed = m.feed and c.key = m.key
     where m.feed = $1 and m.record_hash = any($2::bytea[])`,
    [books.subject.feed, recordHashes, books.subject.pull],
  );
  return rows.map((row) => ({
    key: postingKey(row.key),
    missingPulls: row.missing_pulls,
    wanted: row.wanted ?? undefined,
    wishRecordHash: row.record_hash ?? undefined,
    wishedNow: row.wished_now,
  }));
}

/**
 * Keys of postings that are wished by earlier pulls, are not mapped, and that this pull neither carried on nor met.
 * @param hasMet whether the pull met the record with this hash.
 */
export async function unmetWishes(books: PullBooks, hasMet: (recordHash: Buffer) => boolean): Promise<PostingKey[]> {
  const { feed, pull } = books.subject;
  const unmet: Buffer[] = [];
  await streamHashes(
    books.session,
    `select c.record_hash, 0::int2 from change c left join mapping m on m.feed = c.feed and m.key = c.key
     where c.feed = ${pg.escapeLiteral(feed)} and c.wanted = 'present' and m.key is null and c.pull is distinct from ${pull}
       and not exists (select from carried r where r.key = c.key)`,
    (bytes, at) => {
      const hash = bytes.subarray(at, at + HASH_BYTES);
      if (!hasMet(hash)) unmet.push(Buffer.from(hash));
    },
  );
  if (unmet.length === 0) return [];
  const rows = await books.session.query<{ key: string }>(
    `select c.key from change c left join mapping m on m.feed = c.feed and m.key = c.key
     where c.feed = $1 and c.wanted = 'present' and m.key is null and c.pull is distinct from $2
       and not exists (select from carried r where r.key = c.key) and c.record_hash = any($3::bytea[])`,
    [feed, pull, unmet],
  );
  return rows.map((row) => postingKey(row.key));
}

/**
 * Drops the wishes for postings that went away before they were made. Where an attempt is in flight or in doubt, the
 * wish becomes "absent" and waits for it.
 */
export async function dropUnmade(books: PullBooks, keys: readonly PostingKey[]): Promise<void> {
  if (keys.length === 0) return;
  const { feed, pull } = books.subject;
  await books.session.query('delete from change where feed = $1 and key = any($2::text[]) and attempt_token is null', [
    feed,
    keys,
  ]);
  await books.session.query(
    `insert into change (feed, key, site, wanted, operation, pull, state, resting)
     select feed, key, site, 'absent', 'delete', $3, 'ready', 'ready' from change where feed = $1 and key = any($2::text[])
     on conflict (feed, key) do update set ${REPLACE_WISH}`,
    [feed, keys, pull],
  );
}

/** Counts a missing pull for postings within their grace; what was wished for them waits. */
export async function extendGrace(books: PullBooks, keys: readonly PostingKey[]): Promise<void> {
  if (keys.length === 0) return;
  const values = [books.subject.feed, keys];
  await books.session.query(
    'update mapping set missing_pulls = missing_pulls + 1 where feed = $1 and key = any($2::text[])',
    values,
  );
  await forgetRecords(books, keys);
  await books.session.query(
    `update change set gone = true where feed = $1 and key = any($2::text[]) and wanted = 'present'`,
    values,
  );
}

/**
 * Gives the mappings of postings that went missing a record hash that no record can have. Where the configured key
 * changed, the same record belongs to another posting now, and must not be taken for this one.
 */
export async function forgetRecords(books: PullBooks, keys: readonly PostingKey[]): Promise<void> {
  if (keys.length === 0) return;
  await books.session.query(
    `update mapping set record_hash = decode(md5('missing ' || feed || ' ' || key), 'hex')
     where feed = $1 and key = any($2::text[])`,
    [books.subject.feed, keys],
  );
}

/** What the delete guard looks at, besides what this pull adds. */
export async function deleteLoad(books: PullBooks): Promise<Pick<DeleteLoad, 'recent' | 'live' | 'done'>> {
  const [row] = await books.session.query<{ live: number; done: number; waiting: number }>(
    `select (select count(*) from mapping where feed = $1) as live,
       (select count(*) from deletion where feed = $1 and deleted_at > now() - interval '24 hours') as done,
       (select count(*) from change where feed = $1 and wanted = 'absent' and not approved
          and state not in ('discarded', 'in_doubt')) as waiting`,
    [books.subject.feed],
  );
  const { live = 0, done = 0, waiting = 0 } = row ?? {};
  return { live, done, recent: done + waiting };
}

/**
 * How many of the wishes met on the fast path are still open; the others were accepted while the feed streamed.
 * @param hasMetWish whether the pull met the wish with this record hash on the fast path.
 */
export async function countStillWished(books: PullBooks, hasMetWish: (recordHash: Buffer) => boolean): Promise<number> {
  let count = 0;
  await streamHashes(
    books.session,
    `select record_hash, 0::int2 from change where feed = ${pg.escapeLiteral(books.subject.feed)} and wanted = 'present'`,
    (bytes, at) => {
      if (hasMetWish(bytes.subarray(at, at + HASH_BYTES))) count++;
    },
  );
  return count;
}

/** How many postings are to be absent that are not mapped: creates in flight or in doubt whose posting went away. */
export async function countUnmappedAbsent(books: PullBooks): Promise<number> {
  const [row] = await books.session.query<{ n: number }>(
    `select count(*) as n from change c left join mapping m on m.feed = c.feed and m.key = c.key
     where c.feed = $1 and c.wanted = 'absent' and m.key is null`,
    [books.subject.feed],
  );
  return row?.n ?? 0;
}
