// What a pull keeps for people of the records that it read: what was altered in the fields of a posting, and the beginning of the record.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Problem } from '../../posting/posting.ts';
import { COPIED_TOGETHER_BYTES, LazyTable, toJsonb, UNCOMPRESSED } from '../postgres/copy-rows.ts';
import { type Queryable, readNumber, readValue, type Session } from '../postgres/database.ts';
import { storable } from './record-problems.ts';

/** A posting that was read, with notes on what was altered; mostly none. */
export interface NotedPosting {
  readonly key: PostingKey;
  readonly notes: readonly Problem[];
}

/**
 * Collects the notes of one pull in a temporary table, so no row is locked while the feed still streams. A feed without notes
 * costs one query per pull.
 */
export class PostingNotes {
  readonly #session: Session;
  readonly #feed: FeedName;
  readonly #noted: LazyTable;
  #hasNotes: boolean;

  private constructor(session: Session, feed: FeedName, hasNotes: boolean) {
    this.#session = session;
    this.#feed = feed;
    this.#noted = new LazyTable(session, 'noted', { key: 'text', notes: 'jsonb' });
    this.#hasNotes = hasNotes;
  }

  static async open(session: Session, feed: FeedName): Promise<PostingNotes> {
    const rows = await session.query('select from posting_note where feed = $1 limit 1', [feed]);
    return new PostingNotes(session, feed, rows.length > 0);
  }

  /** The postings to pass to {@link add}: all if the feed has notes, as old notes become outdated, else those with notes. */
  worthOf(postings: readonly NotedPosting[]): readonly NotedPosting[] {
    return this.#hasNotes ? postings : postings.filter(({ notes }) => notes.length > 0);
  }

  /** Adds a non-empty result of {@link worthOf}. */
  async add(worth: readonly NotedPosting[]): Promise<void> {
    this.#hasNotes = true;
    await this.#noted.copy(worth.map(({ key, notes }) => [key, notes.length === 0 ? null : toJsonb(notes)]));
  }

  /**
   * Writes the notes, under the feed's lock, and removes those of postings that no longer exist.
   * @param lenient whether the feed's records are repaired. If not, earlier notes of repairs no longer apply.
   */
  async merge(lenient: boolean): Promise<void> {
    if (!this.#hasNotes) return;
    if (!lenient) await this.#forgetRepairs();
    await this.#session.query(
      `delete from posting_note n where feed = $1 and (key in (select key from ${this.#noted.rows} r)
         or (not exists (select from mapping m where m.feed = n.feed and m.key = n.key)
           and not exists (select from change c where c.feed = n.feed and c.key = n.key)))`,
      [this.#feed],
    );
    await this.#session.query(
      `insert into posting_note (feed, key, notes)
       select distinct on (key) $1, key, notes from ${this.#noted.rows} r where notes is not null order by key`,
      [this.#feed],
    );
  }

  async #forgetRepairs(): Promise<void> {
    const others = `jsonb_path_query_array(notes, '$[*] ? (!exists (@.repaired))')`;
    const repaired = `feed = $1 and jsonb_path_exists(notes, '$[*] ? (exists (@.repaired))')`;
    await this.#session.query(`delete from posting_note where ${repaired} and ${others} = '[]'`, [this.#feed]);
    await this.#session.query(`update posting_note set notes = ${others} where ${repaired}`, [this.#feed]);
  }
}

/** Excludes postings that are gone or are being deleted: their notes no longer matter. */
const CURRENT = `(exists (select from mapping m where m.feed = n.feed and m.key = n.key)
  or exists (select from change c where c.feed = n.feed and c.key = n.key))
  and not exists (select from change c where c.feed = n.feed and c.key = n.key and c.desired = 'absent')`;

export async function notesOf(db: Queryable, feed: FeedName, key: PostingKey): Promise<readonly Problem[]> {
  const [row] = await db.query<{ notes: Problem[] }>(
    `select notes from posting_note n where feed = $1 and key = $2 and ${CURRENT}`,
    [feed, key],
  );
  return row?.notes ?? [];
}

/** The number of postings with one kind of note, and the key of one of them. */
export interface NotedCount {
  readonly count: number;
  readonly example?: PostingKey;
}

/** Excludes postings whose record is now unreadable: they count as unreadable, whatever their earlier notes. */
const READABLE = `not exists (select from record_problem p where p.feed = n.feed and p.kind = 'unreadable' and p.key = n.key)`;

/** How many postings of the feed had characters removed from their fields, and how many had their record repaired before parsing. */
export async function countNoted(
  db: Queryable,
  feed: FeedName,
): Promise<{ readonly cleaned: NotedCount; readonly repaired: NotedCount }> {
  const columns = ['cleaned', 'repaired'].flatMap((sort) => [
    `count(*) filter (where ${sort}) as ${sort}`,
    `min(key) filter (where ${sort}) as ${sort}_example`,
  ]);
  type Counted = Record<'cleaned' | 'repaired', number> &
    Record<`${'cleaned' | 'repaired'}_example`, PostingKey | null>;
  const [row] = await db.query<Counted>(
    `select ${columns.join(', ')} from (
       select key, notes @? '$[*] ? (!exists (@.repaired))' as cleaned, notes @? '$[*] ? (exists (@.repaired))' as repaired
       from posting_note n where feed = $1 and ${CURRENT} and ${READABLE}) n`,
    [feed],
  );
  const counted = row ?? { cleaned: 0, cleaned_example: null, repaired: 0, repaired_example: null };
  return {
    cleaned: { count: counted.cleaned, example: counted.cleaned_example ?? undefined },
    repaired: { count: counted.repaired, example: counted.repaired_example ?? undefined },
  };
}

/** A record of a posting that a rule of the site rejects, or that is about to be sent and that the site itself may reject. */
export interface KeptRecord {
  readonly why: 'rejected' | 'sent';
  readonly key: PostingKey;
  readonly recordHash: Buffer;
  /** Without secrets. */
  readonly excerpt: string;
}

/** A wrong mapping can reject a million postings, of which nobody reads each. Those that are sent take no room from those. */
const MOST_PER_PULL = 5_000;

/** Collects the records of one pull in a temporary table, so no row is locked while the feed streams. Costs nothing without any. */
export class KeptRecords {
  readonly #session: Session;
  readonly #feed: FeedName;
  readonly #kept: LazyTable;
  readonly #counts = { rejected: 0, sent: 0 };
  readonly #keys = new Set<PostingKey>();

  constructor(session: Session, feed: FeedName) {
    this.#session = session;
    this.#feed = feed;
    this.#kept = new LazyTable(session, 'kept', { key: 'text', record_hash: 'bytea', excerpt: 'text' }, UNCOMPRESSED);
  }

  hasRoom(why: KeptRecord['why']): boolean {
    return this.#counts[why] < MOST_PER_PULL;
  }

  /** Small numbers wait for more, or for {@link send}. Of a key, the first record counts. */
  async add(records: readonly KeptRecord[]): Promise<void> {
    for (const { why, key, recordHash, excerpt } of records) {
      if (this.#keys.has(key)) continue;
      this.#keys.add(key);
      this.#counts[why]++;
      this.#kept.add([[key, recordHash, storable(excerpt)]]);
    }
    if (this.#kept.waiting >= COPIED_TOGETHER_BYTES) await this.send();
  }

  /** Writes the rows that wait to the temporary table. Call it before {@link merge}. */
  send(): Promise<void> {
    return this.#kept.send();
  }

  /** Writes them, under the feed's lock. */
  async merge(): Promise<void> {
    if (!this.#kept.exists) return;
    await this.#session.query(
      `insert into kept_record as k (feed, key, record_hash, excerpt)
       select $1, key, record_hash, excerpt from kept
       on conflict (feed, key) do update set record_hash = excluded.record_hash, excerpt = excluded.excerpt
         where (k.record_hash, k.excerpt) <> (excluded.record_hash, excluded.excerpt)`,
      [this.#feed],
    );
  }
}

/** Whether a kept record is the one that an open change was read from. */
const IS_CURRENT = 'c.feed = k.feed and c.key = k.key and c.record_hash = k.record_hash';

/** The beginning of the record from which the open change of the posting was read, if it was kept. */
export const keptRecordOf = (db: Queryable, feed: FeedName, key: PostingKey): Promise<string | undefined> =>
  readValue<string>(
    db,
    `select k.excerpt from kept_record k join change c on ${IS_CURRENT} where k.feed = $1 and k.key = $2`,
    [feed, key],
  );

/** Removes up to `limit` records whose entries are gone or are about another record by now. Returns how many. */
export const forgetKeptRecords = (db: Queryable, limit: number): Promise<number> =>
  readNumber(
    db,
    `with gone as (
       delete from kept_record where ctid = any(array(
         select k.ctid from kept_record k where not exists (select from change c where ${IS_CURRENT}) limit $1)) returning 1)
     select count(*) as n from gone`,
    [limit],
  );
