// The transaction of one pull: copies planned changes into the database while the feed streams, and is committed or rolled
// back by its owner once they are merged.

import { RecordIndex } from '../../compact/record-index.ts';
import type { DesiredChange } from '../../plan/desired-change.ts';
import type { Known } from '../../plan/plan-posting.ts';
import { type PostingKey, postingKey, siteJobId } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import type { FeedStateUpdate } from '../feed/feed-state.ts';
import { lockKey, markWorkConnection } from '../locks/advisory-locks.ts';
import { type Cell, COPIED_TOGETHER_BYTES, LazyTable, RowCopier, toJsonb } from '../postgres/copy-rows.ts';
import type { Database, LentSession, Session } from '../postgres/database.ts';
import { hasExpired, JOB_HAS_EXPIRED } from './posting-expiry.ts';
import { type KeptRecord, KeptRecords, type NotedPosting, PostingNotes } from './posting-notes.ts';
import { loadRecordIndex, loadSkippedIndex, removeAllDated, removeSkipped, SKIPPED_COLUMNS } from './record-hashes.ts';

/** The feed that a pull reads. */
export interface PullSubject
  extends Pick<FeedStateUpdate, 'pull' | 'feed' | 'site' | 'createOnly' | 'policy' | 'membership'> {
  /** After how many days on the site postings expire; `undefined`: they do not. */
  readonly expireAfterDays?: number | undefined;
  /** Keys end with a place, and an unreadable record has the key without it. */
  readonly hasPlaces?: boolean;
}

/** The fields of a change on their way to the database: as texts, or already written as a UTF-8 JSON object. */
export type FieldsToStore = Fields | Buffer;

/** The new record hash of a posting whose content is unchanged. */
export interface Refresh {
  readonly key: PostingKey;
  readonly recordHash: Buffer;
  /** The hash that the mapping of an unchanged posting is to have; `undefined`: it keeps its own. */
  readonly jobHash?: Buffer;
}

const EXPIRY_OF_KEY =
  'left join lateral (select * from posting_expiry where feed = $1 and key = k.key offset 0) e on true';

const UNKNOWN: Known = { mapping: undefined, open: undefined };

/** A posting with its mapping and its open change, if it has them. */
type KnownRow = { readonly key: string; readonly expired: boolean } & (
  | MappingColumns
  | { readonly site_job_id: null }
) &
  (OpenColumns | { readonly desired: null });

interface MappingColumns {
  readonly site_job_id: string;
  readonly record_hash: Buffer;
  readonly content_hash: Buffer;
  readonly missing_pulls: number;
}

interface OpenColumns {
  readonly desired: 'present' | 'absent';
  readonly open_record_hash: Buffer | null;
  readonly open_content_hash: Buffer | null;
  readonly invalid: boolean;
  readonly gone: boolean;
}

const CHANGE_COLUMNS = {
  feed: 'text',
  key: 'text',
  site: 'text',
  desired: 'text',
  operation: 'text',
  fields: 'json',
  record_hash: 'bytea',
  content_hash: 'bytea',
  invalid: 'boolean',
  pull: 'bigint',
  state: 'text',
  target_state: 'text',
  reason: 'jsonb',
} as const;

const MISSING_COLUMNS = {
  key: 'text primary key',
  missing_pulls: 'integer not null',
  absent_already: 'boolean not null',
  open_record_hash: 'bytea',
} as const;

/**
 * The transaction is open, and mostly idle, for as long as the source sends: its own limits apply, not those that a server has for
 * transactions that somebody forgot. Older versions do not have both.
 */
const UNLIMITED = `select set_config(name, '0', true)
  from unnest(array['idle_in_transaction_session_timeout', 'transaction_timeout']) name where current_setting(name, true) is not null`;

/**
 * One running pull, on one connection and in one transaction: nothing is visible before the commit, and a crash leaves
 * nothing behind. Postings without an open change are copied straight into the backlog. Changes that may supersede an open
 * one wait in a temporary table, so no row is locked while the feed still streams.
 */
export class PullTransaction {
  readonly subject: PullSubject;
  readonly session: LentSession;
  readonly notes: PostingNotes;
  readonly kept: KeptRecords;
  /** Changes that may supersede open ones. */
  readonly supersedingChanges: LazyTable;
  /** Postings whose open change already desires the same, with their newest record hash. */
  readonly pendingSame: LazyTable;
  /** Keys of unreadable records. */
  readonly unreadableKeys: LazyTable;
  /** Postings of those whose jobs are kept. */
  readonly protectedPostings: LazyTable;
  /** Mapped postings that the pull did not see. */
  readonly missing: LazyTable;
  /** Postings with a change from an earlier pull that this pull did not see. */
  readonly missingChanges: LazyTable;
  /** Expired postings that were seen. */
  readonly expiredSeen: LazyTable;
  /** Expired postings that were not. */
  readonly expiredGone: LazyTable;
  readonly #changes: RowCopier;
  readonly #skipped: RowCopier;
  #sending: Promise<void> = Promise.resolve();
  /**
   * Whether the feed had neither mappings nor changes when the pull began. Only the pull itself adds changes while it runs:
   * everybody else who creates changes or mappings of an unknown feed holds the feed's pull lock.
   */
  nothingKnown = false;
  /** Whether earlier pulls skipped records of the feed. */
  hasSkipped = false;
  #hasDated = false;
  /** How many changes were written for postings without an open change. */
  added = 0;
  /** How many changes were written that may supersede an open one. */
  superseding = 0;
  /** How many of the expired postings that the pull did not see have no job; see {@link addExpiredGone}. */
  endedGone = 0;

  private constructor(subject: PullSubject, session: LentSession, notes: PostingNotes) {
    this.subject = subject;
    this.session = session;
    this.notes = notes;
    this.kept = new KeptRecords(session, subject.feed);
    this.#changes = new RowCopier(session, 'change', CHANGE_COLUMNS);
    this.supersedingChanges = new LazyTable(session, 'superseding_change', CHANGE_COLUMNS);
    this.pendingSame = new LazyTable(session, 'pending_same', { key: 'text', record_hash: 'bytea' });
    this.unreadableKeys = new LazyTable(session, 'unreadable_key', { key: 'text not null' });
    this.protectedPostings = new LazyTable(session, 'protected', { key: 'text primary key' });
    this.missing = new LazyTable(session, 'missing', MISSING_COLUMNS);
    this.missingChanges = new LazyTable(session, 'missing_change', { key: 'text primary key' });
    this.expiredSeen = new LazyTable(session, 'expired_seen', { key: 'text primary key', record_hash: 'bytea' });
    this.expiredGone = new LazyTable(session, 'expired_gone', { key: 'text primary key' });
    this.#skipped = new RowCopier(session, 'skipped_record', SKIPPED_COLUMNS);
  }

  static async open(db: Database, subject: PullSubject): Promise<PullTransaction> {
    const session = await db.lend();
    try {
      await session.query('begin');
      await session.query(UNLIMITED);
      await markWorkConnection(session, lockKey('write', subject.feed));
      return new PullTransaction(subject, session, await PostingNotes.open(session, subject.feed));
    } catch (error) {
      await session.end().catch(() => undefined);
      throw error;
    }
  }

  async loadIndex(): Promise<RecordIndex> {
    await this.lookAtFeed();
    if (this.nothingKnown) return new RecordIndex(0);
    return loadRecordIndex(this.session, this.subject.feed, this.subject.expireAfterDays);
  }

  /** Finds out whether anything is known of the feed; {@link loadIndex} does so, too. */
  async lookAtFeed(): Promise<void> {
    const { feed } = this.subject;
    const [known] = await this.session.query<{ any: boolean; skipped: boolean; dated: boolean }>(
      `select exists (select from mapping where feed = $1) or exists (select from change where feed = $1)
           or exists (select from posting_expiry where feed = $1) as any,
         exists (select from skipped_record where feed = $1)
           or exists (select from posting_expiry where feed = $1) as skipped,
         exists (select from dated_record where feed = $1) as dated`,
      [feed],
    );
    this.nothingKnown = known?.any === false;
    this.hasSkipped = known?.skipped === true;
    this.#hasDated = known?.dated === true;
  }

  /**
   * Mapping and open change of these keys, in the order of the keys. Looks up each key by itself (lateral, `offset 0`): while
   * a first pull fills the tables there are no statistics, and the planner would scan the whole feed instead.
   */
  async lookUp(keys: readonly PostingKey[]): Promise<Known[]> {
    if (this.nothingKnown) return keys.map(() => UNKNOWN);
    await this.#sending;
    const { feed, expireAfterDays } = this.subject;
    const rows = await this.session.query<KnownRow>(
      `select k.key, m.site_job_id, m.record_hash, m.content_hash, m.missing_pulls,
         c.desired, c.record_hash as open_record_hash, c.content_hash as open_content_hash, c.invalid, c.gone,
         ${hasExpired(expireAfterDays)} as expired
       from unnest($2::text[]) with ordinality k(key, ord)
       left join lateral (select * from mapping where feed = $1 and key = k.key offset 0) m on true
       left join lateral (select * from change where feed = $1 and key = k.key offset 0) c on true
       ${expireAfterDays === undefined ? '' : EXPIRY_OF_KEY}
       order by k.ord`,
      [feed, keys],
    );
    return rows.map((row) => ({
      expired: row.expired,
      mapping:
        row.site_job_id === null
          ? undefined
          : {
              key: postingKey(row.key),
              siteJobId: siteJobId(row.site_job_id),
              recordHash: row.record_hash,
              contentHash: row.content_hash,
              missingPulls: row.missing_pulls,
            },
      open:
        row.desired === null
          ? undefined
          : {
              key: postingKey(row.key),
              desired: row.desired,
              recordHash: row.open_record_hash ?? undefined,
              contentHash: row.open_content_hash ?? undefined,
              invalid: row.invalid,
              missing: row.gone,
            },
    }));
  }

  /** Writes changes for postings without an open one; small numbers wait for more, or for {@link flush}. */
  async addNew(desiredChanges: readonly DesiredChange<FieldsToStore>[]): Promise<void> {
    this.added += desiredChanges.length;
    this.#changes.add(this.#rowsOf(desiredChanges));
    if (this.#changes.waiting < COPIED_TOGETHER_BYTES) return;
    // The connection takes one statement at a time, so every later statement waits for this one.
    await this.#sending;
    this.#sending = this.#changes.send();
    // The next await reports an error; until then it must not be an unhandled rejection.
    this.#sending.catch(() => undefined);
  }

  /** Records what was altered in postings while they were read. */
  async addNotes(postings: readonly NotedPosting[]): Promise<void> {
    const worth = this.notes.worthOf(postings);
    if (worth.length === 0) return;
    await this.#sending;
    await this.notes.add(worth);
  }

  /** Keeps the beginning of the records of postings that are rejected or about to be sent. */
  async keepRecords(records: readonly KeptRecord[]): Promise<void> {
    if (records.length === 0) return;
    await this.#sending;
    await this.kept.add(records);
  }

  /** The records that earlier pulls skipped, if any. Call {@link loadIndex} first. */
  async loadSkipped(): Promise<RecordIndex | undefined> {
    if (!this.hasSkipped) return undefined;
    // A record with places does not have the hash of each of its postings.
    const { feed, expireAfterDays, hasPlaces = false } = this.subject;
    return loadSkippedIndex(this.session, feed, expireAfterDays !== undefined && !hasPlaces);
  }

  /** Records the hashes of records that are skipped for the first time; small numbers wait for more, or for {@link flush}. */
  async addSkipped(hashes: readonly Buffer[]): Promise<void> {
    if (hashes.length === 0) return;
    this.#skipped.add(hashes.map((hash) => [this.subject.feed, hash]));
    if (this.#skipped.waiting < COPIED_TOGETHER_BYTES) return;
    await this.#sending;
    await this.#skipped.send();
  }

  /** Forgets skipped records that the feed no longer has. */
  async removeSkipped(hashes: Iterable<Buffer>): Promise<void> {
    if (this.hasSkipped) await removeSkipped(this.session, this.subject.feed, hashes);
  }

  /** Writes what dates decide about the records of the feed, if it is much. @param unskipped those that they do not skip any more */
  async writeDated(
    dated: { write(session: Session, all: boolean): Promise<void> },
    unskipped: readonly Buffer[],
  ): Promise<void> {
    await this.#sending;
    await dated.write(this.session, false);
    await this.removeSkipped(unskipped);
  }

  /** Forgets what dates have decided: the feed has no conditions on them any more. */
  async removeDated(): Promise<void> {
    if (this.#hasDated) await removeAllDated(this.session, this.subject.feed);
  }

  /** Writes the remaining rows: afterwards the tables hold everything that was added. */
  async flush(): Promise<void> {
    await this.#sending;
    await this.#changes.send();
    await this.#skipped.send();
    await this.kept.send();
  }

  /** Writes changes that may supersede open ones. */
  async addSuperseding(desiredChanges: readonly DesiredChange<FieldsToStore>[]): Promise<void> {
    if (desiredChanges.length === 0) return;
    this.superseding += desiredChanges.length;
    await this.#sending;
    await this.supersedingChanges.copy(this.#rowsOf(desiredChanges));
  }

  /** Records new record hashes of unchanged postings, and ends their grace because they were seen. */
  async refreshMappings(entries: readonly Refresh[]): Promise<void> {
    if (entries.length === 0) return;
    await this.#sending;
    await this.session.query(
      `update mapping m set record_hash = r.record_hash, missing_pulls = 0
       from unnest($2::text[], $3::bytea[]) r(key, record_hash) where m.feed = $1 and m.key = r.key`,
      [this.subject.feed, entries.map((entry) => entry.key), entries.map((entry) => entry.recordHash)],
    );
    const jobHashes = entries.filter(({ jobHash }) => jobHash !== undefined);
    if (jobHashes.length === 0) return;
    await this.session.query(
      `update mapping m set content_hash = r.hash
       from unnest($2::text[], $3::bytea[], $4::bytea[]) r(key, hash, record_hash)
       where m.feed = $1 and m.key = r.key and m.record_hash = r.record_hash and m.content_hash <> r.hash`,
      [
        this.subject.feed,
        jobHashes.map(({ key }) => key),
        jobHashes.map(({ jobHash }) => jobHash as Buffer),
        jobHashes.map(({ recordHash }) => recordHash),
      ],
    );
  }

  /** Ends the grace of postings that were seen, although the site does not have their latest version yet. */
  async endGrace(keys: readonly PostingKey[]): Promise<void> {
    if (keys.length === 0) return;
    await this.#sending;
    await this.session.query('update mapping set missing_pulls = 0 where feed = $1 and key = any($2::text[])', [
      this.subject.feed,
      keys,
    ]);
  }

  /** Records postings whose open change already desires the same, with their newest record hash, for the merge. */
  async addPendingSame(entries: readonly Refresh[]): Promise<void> {
    if (entries.length === 0) return;
    await this.#sending;
    await this.pendingSame.copy(entries.map((entry) => [entry.key, entry.recordHash]));
  }

  /** Records the keys of unreadable records, for the merge. */
  async addUnreadableKeys(keys: readonly PostingKey[]): Promise<void> {
    if (keys.length === 0) return;
    await this.#sending;
    await this.unreadableKeys.copy(keys.map((key) => [key]));
  }

  /** Records expired postings that were seen, for the merge. */
  async addExpired(entries: readonly Refresh[]): Promise<void> {
    if (entries.length === 0) return;
    await this.#sending;
    await this.expiredSeen.create();
    await this.session.query(
      'insert into expired_seen select * from unnest($1::text[], $2::bytea[]) on conflict do nothing',
      [entries.map((entry) => entry.key), entries.map((entry) => entry.recordHash)],
    );
  }

  /** Records expired postings that were not seen, and counts those without a job. */
  async addExpiredGone(batches: AsyncIterable<readonly PostingKey[]>): Promise<void> {
    for await (const keys of batches) await this.expiredGone.copy(keys.map((key) => [key]));
    if (!this.expiredGone.exists) return;
    const [row] = await this.session.query<{ n: number }>(
      `select count(*) as n from expired_gone g join posting_expiry e on e.feed = $1 and e.key = g.key where ${JOB_HAS_EXPIRED}`,
      [this.subject.feed],
    );
    this.endedGone = row?.n ?? 0;
  }

  /**
   * Discards the transaction by ending its connection. After a mere rollback, a statement still to be sent by the planner
   * would run in a transaction of its own and persist.
   */
  async abandon(): Promise<void> {
    await this.session.end().catch(() => undefined);
  }

  /** Lazily, as the rows are written one by one. */
  *#rowsOf(desiredChanges: readonly DesiredChange<FieldsToStore>[]): Generator<Cell[]> {
    for (const desired of desiredChanges) yield this.#rowOf(desired);
  }

  #rowOf(desired: DesiredChange<FieldsToStore>): Cell[] {
    const { feed, site, pull } = this.subject;
    const present = desired.desired === 'present' ? desired : undefined;
    return [
      feed,
      desired.key,
      site,
      desired.desired,
      desired.operation,
      present?.fields ?? null,
      present?.recordHash ?? null,
      present?.contentHash ?? null,
      desired.target === 'rejected',
      pull,
      desired.target,
      desired.target,
      desired.reason === undefined ? null : toJsonb(desired.reason),
    ];
  }
}
