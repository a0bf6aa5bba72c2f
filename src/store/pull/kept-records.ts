// Keeps the beginning of the records of postings that are rejected or may be, so that a person sees what the feed has.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Queryable, Session } from '../postgres/database.ts';
import { LazyTable } from './lazy-table.ts';
import { storable } from './record-problems.ts';

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

  constructor(session: Session, feed: FeedName) {
    this.#session = session;
    this.#feed = feed;
    this.#kept = new LazyTable(session, 'kept', { key: 'text', record_hash: 'bytea', excerpt: 'text' });
  }

  hasRoom(why: KeptRecord['why']): boolean {
    return this.#counts[why] < MOST_PER_PULL;
  }

  async add(records: readonly KeptRecord[]): Promise<void> {
    await this.#kept.create();
    for (const { why } of records) this.#counts[why]++;
    await this.#session.query('insert into kept select * from unnest($1::text[], $2::bytea[], $3::text[])', [
      records.map(({ key }) => key),
      records.map(({ recordHash }) => recordHash),
      records.map(({ excerpt }) => storable(excerpt)),
    ]);
  }

  /** Writes them, under the feed's lock. */
  async merge(): Promise<void> {
    if (!this.#kept.exists) return;
    await this.#session.query(
      `insert into kept_record as k (feed, key, record_hash, excerpt)
       select distinct on (key) $1, key, record_hash, excerpt from kept order by key
       on conflict (feed, key) do update set record_hash = excluded.record_hash, excerpt = excluded.excerpt
         where (k.record_hash, k.excerpt) <> (excluded.record_hash, excluded.excerpt)`,
      [this.#feed],
    );
  }
}

/** Whether a kept record is the one that an open change was read from. */
const IS_CURRENT = 'c.feed = k.feed and c.key = k.key and c.record_hash = k.record_hash';

/** The beginning of the record from which the open change of the posting was read, if it was kept. */
export async function keptRecordOf(db: Queryable, feed: FeedName, key: PostingKey): Promise<string | undefined> {
  const [row] = await db.query<{ excerpt: string }>(
    `select k.excerpt from kept_record k join change c on ${IS_CURRENT} where k.feed = $1 and k.key = $2`,
    [feed, key],
  );
  return row?.excerpt;
}

/** Removes up to `limit` records whose entries are gone or are about another record by now. Returns how many. */
export async function forgetKeptRecords(db: Queryable, limit: number): Promise<number> {
  const [row] = await db.query<{ n: number }>(
    `with gone as (
       delete from kept_record where ctid = any(array(
         select k.ctid from kept_record k where not exists (select from change c where ${IS_CURRENT}) limit $1)) returning 1)
     select count(*) as n from gone`,
    [limit],
  );
  return row?.n ?? 0;
}
