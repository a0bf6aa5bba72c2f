// Completes the records of a list with the details of their postings, which are stored or requested.
import type { RecordIndex } from '../compact/record-index.ts';
import { compileDetailReader, type ReadDetailOf } from '../feed/detail-record.ts';
import type { FeedSource } from '../feed/feed-reading.ts';
import {
  type DetailFetcher,
  type DetailsConfig,
  type FetchedDetail,
  httpOf,
  type Network,
  openDetailFetcher,
} from '../feed/source/sources.ts';
import { MAX_TIMER_MS } from '../flow/pause.ts';
import type { RateLimiter } from '../flow/rate-limiter.ts';
import { semaphoreFor } from '../flow/semaphore.ts';
import { interpretedHash } from '../posting/hash.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import { pathsInto } from '../posting/paths/mapping-paths.ts';
import type { RecordTree } from '../posting/posting.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { unreadableKeys } from '../store/pull/record-problems.ts';
import {
  assignDetails,
  DetailMark,
  type FailedDetail,
  type FoundDetail,
  findDetails,
  loadDetailIndex,
  noteFailures,
  notePlanned,
  noteUnlisted,
  restingDetails,
  type StoredDetail,
  storeDetails,
} from '../store/pull/stored-details.ts';
import { crossStep } from '../telemetry/times.ts';
import type { RecordRules } from './feed-setup.ts';
import { type ListRecord, RecordSpool } from './record-spool.ts';
import { beginningOf, EXCERPT_BYTES, type Mask } from './unusable-records.ts';

/** What became of the detail of a posting. */
export type DetailOutcome =
  /** The detail is in the database, see `StoredDetail`. */
  | { readonly kind: 'stored'; readonly listHash: Buffer }
  /** The bytes of the detail. */
  | { readonly kind: 'document'; readonly bytes: Buffer }
  | { readonly kind: 'failed'; readonly message: string; readonly excerpt: Buffer }
  /** The detail was not requested, for a reason that is not the posting's. */
  | { readonly kind: 'postponed' };

export interface DetailsContext {
  readonly db: Database;
  readonly signal: AbortSignal;
  /** The rate limiter of the list. */
  readonly limiter: RateLimiter;
  /** Whether details are stored; a plan stores nothing. */
  readonly mayStore: boolean;
  /** Why none may be requested now; absent if they may. */
  readonly refusal?: string;
  /** See `PullContext`. */
  readonly onDetails?: (done: number, all: number) => void;
  readonly random?: () => number;
  /** See `PullContext`. */
  readonly network?: Network | undefined;
}

/** What was read before the list. */
interface Opened {
  readonly fetcher: DetailFetcher;
  readonly storedIndex: RecordIndex;
  readonly knownToFail: ReadonlySet<PostingKey>;
}

/** A record of the list whose key is known. */
interface KeyedRecord {
  readonly record: ListRecord;
  readonly key: PostingKey;
  readonly tree: RecordTree;
  /** See `ListedRecord`. */
  readonly asSent: RecordTree;
}

/** Records whose details are looked up, requested and stored together: their trees and their details' bytes are in memory. */
export const GROUP_LIMITS = { records: 16, bytes: 1024 * 1024 };

/** What the source answered to the request of a detail. */
type Answer = FetchedDetail | { readonly kind: 'postponed' };

/** Looks up and requests the details of one pull, once its list was read. */
export class DetailReader {
  /** The records of the list, until it was read. */
  readonly spool = new RecordSpool();
  /** The records whose details are stored, and which of them the list has; see `loadDetailIndex`. */
  readonly #storedIndex: RecordIndex;
  /** Postings whose details failed in earlier pulls, or whose records could not be read. */
  readonly #knownToFail: ReadonlySet<PostingKey>;
  readonly #feed: FeedName;
  readonly #config: DetailsConfig;
  readonly #context: DetailsContext;
  readonly #interpretation: Buffer;
  readonly #mask: RecordRules['mask'];
  readonly #fetcher: DetailFetcher;
  /** Reads the detail of a record. */
  readonly read: ReadDetailOf;
  readonly #sampling: Sampling;
  #endsAt: AbortSignal | undefined;
  /** Why no further details are requested. */
  #stopped: string | undefined;
  #lastFailure = '';
  requested = 0;
  #failed = 0;
  #postponed = 0;

  private constructor(
    feed: FeedName,
    rules: RecordRules,
    config: DetailsConfig,
    context: DetailsContext,
    { fetcher, storedIndex, knownToFail }: Opened,
  ) {
    this.#feed = feed;
    this.#config = config;
    this.#context = context;
    this.#interpretation = rules.interpretation;
    this.#mask = rules.mask;
    this.#fetcher = fetcher;
    this.read = compileDetailReader(config, pathsInto(config.name, rules.mapping));
    this.#sampling = new Sampling(context.random ?? Math.random);
    this.#storedIndex = storedIndex;
    this.#knownToFail = knownToFail;
    this.#stopped = context.refusal;
  }

  static async open(
    feed: FeedName,
    rules: RecordRules,
    source: FeedSource,
    context: DetailsContext,
  ): Promise<DetailReader> {
    const { details } = source;
    const http = httpOf(source.from);
    if (details === undefined || http === undefined)
      throw new Error('details can be requested only for a source over HTTP');
    const fetcher = await openDetailFetcher(http, details, { ...context, mask: rules.mask });
    const storedIndex = await loadDetailIndex(context.db, feed, details.refreshMs);
    const knownToFail = await unreadableKeys(context.db, feed);
    return new DetailReader(feed, rules, details, context, { fetcher, storedIndex, knownToFail });
  }

  /** The name of the detail in the record. */
  get name(): string {
    return this.#config.name;
  }

  /**
   * Notes that the list has a record. Returns whether its detail is to be requested again, or planned, or had left the list: then it
   * is to be kept again.
   * @param hashes contains the hash of its bytes.
   */
  seeRecord(hashes: Buffer, at: number): boolean {
    const slot = this.#storedIndex.find(this.#fetcher.identityOf(hashes.subarray(at)));
    if (slot < 0) return false;
    this.#storedIndex.see(slot, 0);
    return this.#storedIndex.mark(slot) !== DetailMark.current;
  }

  /** Notes that a record of the list needs no detail: a stored one is not kept for it. */
  needsNone(record: ListRecord): void {
    const slot = this.#storedIndex.find(this.#fetcher.identityOf(this.#hashOf(record)));
    if (slot >= 0) this.#storedIndex.unsee(slot);
  }

  /** Notes which details were planned and which are no longer needed, once the list was read and is proven complete. */
  async noteRead(tx: Queryable): Promise<void> {
    await notePlanned(tx, this.#feed);
    await noteUnlisted(tx, this.#feed, this.#storedIndex.missing([DetailMark.current, DetailMark.due]));
  }

  /** The outcomes for a group of records, in their order. */
  async outcomesOf(group: readonly KeyedRecord[]): Promise<readonly DetailOutcome[]> {
    const { db, signal, mayStore } = this.#context;
    signal.throwIfAborted();
    const recordHashes = group.map(({ record }) => this.#hashOf(record));
    const identities = group.map((keyed, at) => this.#fetcher.identityOf(recordHashes[at] as Buffer, keyed));
    const found = await findDetails(db, this.#feed, identities, this.#config.refreshMs);
    const known = group.map((keyed, at) => this.#stored(keyed, found.get((identities[at] as Buffer).toString('hex'))));
    const unknown = identities.filter((_, at) => known[at] === undefined);
    const failedBefore = await restingDetails(db, this.#feed, this.#interpretation, unknown);
    const failed: FailedDetail[] = [];
    const fetched: (StoredDetail & { readonly receivedAt: number })[] = [];
    const assigned: Omit<StoredDetail, 'document'>[] = [];
    const slots = semaphoreFor(this.#config.concurrency);
    const running = new Map<string, Promise<Answer>>();
    /** Two records with one identity share the request; each reads the answer for itself. */
    const answerFor = (keyed: KeyedRecord, identity: string): Promise<Answer> => {
      const asked = running.get(identity);
      if (asked !== undefined) return asked;
      const answer = slots.take().then((release) => this.#request(keyed).finally(() => release?.()));
      running.set(identity, answer);
      return answer;
    };
    const outcomeOf = async (keyed: KeyedRecord, at: number): Promise<DetailOutcome> => {
      const [listHash, bytesHash] = [identities[at] as Buffer, recordHashes[at] as Buffer];
      const ids = { listHash, recordHash: this.#fetcher.identityOf(bytesHash), key: keyed.key };
      const identity = listHash.toString('hex');
      const stored = known[at];
      if (stored !== undefined && this.#isOfAnother(stored, ids)) assigned.push(ids);
      if (stored !== undefined && !stored.isDue) return stored.outcome;
      const former = failedBefore.get(identity);
      if (former !== undefined) {
        this.#failed++;
        return { kind: 'failed', message: former.message, excerpt: this.excerptOf(keyed.record, former.excerpt) };
      }
      const isFirst = !running.has(identity);
      const answer = await answerFor(keyed, identity);
      const outcome = this.#judge(keyed, answer, isFirst);
      if (outcome.kind === 'failed' && isFirst) failed.push(...lastingFailure(listHash, answer, outcome.message));
      // What is known stays in use until the source has something newer, which has not lost all texts.
      if (stored !== undefined && (outcome.kind !== 'document' || (outcome.isBare && !stored.isBare))) {
        return stored.outcome;
      }
      if (outcome.kind === 'document' && isFirst) {
        fetched.push({ ...ids, document: outcome.bytes, receivedAt: performance.now() });
      }
      if (outcome.kind === 'failed') this.#failed++;
      if (outcome.kind === 'postponed') this.#postponed++;
      return outcome;
    };
    const outcomes = group.map((keyed, at) => outcomeOf(keyed, at));
    const results = await Promise.allSettled(outcomes);
    // Details that were received are stored even if the pull ends here.
    if (mayStore) {
      await assignDetails(db, this.#feed, assigned);
      this.#noteListed(assigned);
      const now = performance.now();
      await storeDetails(
        db,
        this.#feed,
        fetched.map(({ receivedAt, ...each }) => ({ ...each, ageMs: now - receivedAt })),
        (recordHash) => this.#isListed(recordHash),
      );
      const received = fetched.map(({ listHash }) => listHash);
      await noteFailures(db, this.#feed, this.#interpretation, { failed, received });
      this.#noteListed(fetched);
      if (fetched.length > 0) crossStep('details-stored');
    }
    const isStored = new Set(mayStore ? fetched.map(({ listHash }) => listHash.toString('hex')) : []);
    return results.map((each, at) => {
      if (each.status === 'rejected') throw each.reason;
      const listHash = identities[at] as Buffer;
      const isDocument = each.value.kind === 'document';
      return isDocument && isStored.has(listHash.toString('hex')) ? { kind: 'stored', listHash } : each.value;
    });
  }

  /** The documents of stored details, by their hashes in hex. */
  async documentsOf(outcomes: readonly DetailOutcome[]): Promise<ReadonlyMap<string, Buffer>> {
    const listHashes = outcomes.flatMap((outcome) => (outcome.kind === 'stored' ? [outcome.listHash] : []));
    const found = await findDetails(this.#context.db, this.#feed, listHashes, undefined);
    return new Map([...found].map(([listHash, { document }]) => [listHash, document]));
  }

  /** Notes that a detail that was found could not be looked up again when its posting was planned. */
  postponeLate(): void {
    this.#postponed++;
    this.#stopped ??= 'they were removed from the database while the pull ran';
  }

  /** What a review entry shows of a record and its detail. */
  excerptOf({ bytes }: ListRecord, detail?: Buffer): Buffer {
    return excerptWith(bytes, detail, this.#mask);
  }

  /** Reports progress. */
  report(done: number): void {
    this.#context.onDetails?.(done, this.spool.records);
  }

  /** Why not all details are known, for people; empty if all are. Failed details have entries of their own. */
  shortfalls(): string[] {
    if (this.#postponed === 0) return [];
    const count =
      this.#postponed === 1 ? 'the detail of 1 posting was' : `the details of ${this.#postponed} postings were`;
    const why = this.#stopped ?? `${FAILURES_IN_A_ROW} failed in a row, the last one because ${this.#lastFailure}`;
    return [`${count} not requested: ${why}; their jobs stay as they are, and the next pull continues`];
  }

  close(): Promise<void> {
    return this.spool.close();
  }

  /** For the log. */
  get counts(): { readonly requested: number; readonly failed: number; readonly postponed: number } {
    return { requested: this.requested, failed: this.#failed, postponed: this.#postponed };
  }

  #hashOf({ hash }: ListRecord): Buffer {
    // Applying the interpretation to the stored hash again returns the hash of the bytes.
    return interpretedHash(hash, 0, this.#interpretation);
  }

  #noteListed(details: readonly Pick<StoredDetail, 'recordHash'>[]): void {
    for (const { recordHash } of details)
      this.#storedIndex.see(this.#storedIndex.add(recordHash, DetailMark.current), 0);
  }

  #isListed(recordHash: Buffer): boolean {
    const slot = this.#storedIndex.find(recordHash);
    return slot >= 0 && this.#storedIndex.seenAt(slot) !== undefined;
  }

  /** Whether a stored detail is to be kept for this record instead of the one that it was kept for. */
  #isOfAnother(stored: FoundDetail, { key, recordHash }: Pick<StoredDetail, 'key' | 'recordHash'>): boolean {
    if (stored.key !== key || stored.isUnlisted) return true;
    return !stored.recordHash.equals(recordHash) && !this.#isListed(stored.recordHash);
  }

  /** A stored detail that can no longer be read is requested again. */
  #stored({ tree }: KeyedRecord, found: FoundDetail | undefined) {
    if (found === undefined) return undefined;
    const read = this.read(tree, found.document);
    if (read.kind !== 'record') return undefined;
    const outcome = { kind: 'stored', listHash: found.listHash } as const;
    return { ...found, isBare: read.isBare === true, outcome };
  }

  async #request({ asSent, key }: KeyedRecord): Promise<Answer> {
    const { signal } = this.#context;
    this.#endsAt ??= AbortSignal.timeout(Math.min(this.#config.totalTimeoutMs, MAX_TIMER_MS));
    if (this.#stopped !== undefined || !this.#sampling.takes()) return POSTPONED;
    const tries = this.#sampling.isInTrouble ? 1 : undefined;
    try {
      this.requested++;
      const fetched = await this.#fetcher.fetch(asSent, AbortSignal.any([signal, this.#endsAt]), tries);
      if (fetched.kind === 'failed') {
        if (fetched.mustStop) this.#stopped = fetched.message;
        if (fetched.isPassing || !this.#knownToFail.has(key)) this.#sampling.fail();
        this.#lastFailure = fetched.message;
      }
      return fetched;
    } catch (error) {
      signal.throwIfAborted();
      if (!this.#endsAt.aborted) throw error;
      this.#stopped ??= `requesting details took longer than ${this.#config.totalTimeoutMs / 1000} s`;
      return POSTPONED;
    }
  }

  /** Whether the answer is the detail of a record. @param isFirst whether it was requested for this record. */
  #judge({ record, tree, key }: KeyedRecord, answer: Answer, isFirst: boolean) {
    if (answer.kind === 'postponed') return answer;
    if (answer.kind === 'failed') {
      return { kind: 'failed', message: answer.message, excerpt: this.excerptOf(record) } as const;
    }
    const { bytes } = answer;
    const read = this.read(tree, bytes, answer);
    if (read.kind === 'record') {
      if (isFirst) this.#sampling.succeed();
      return { kind: 'document', bytes, isBare: read.isBare === true } as const;
    }
    if (isFirst) {
      if (!this.#knownToFail.has(key)) this.#sampling.fail();
      this.#lastFailure = read.message;
    }
    return { kind: 'failed', message: read.message, excerpt: this.excerptOf(record, bytes) } as const;
  }
}

/** A failure that more requests will hardly change: nothing is at the address, or it has something else. */
function lastingFailure(listHash: Buffer, answer: Answer, message: string): FailedDetail[] {
  if (answer.kind === 'fetched') return [{ listHash, message, excerpt: answer.bytes.subarray(0, EXCERPT_BYTES) }];
  return answer.kind === 'failed' && answer.isMissing ? [{ listHash, message, excerpt: undefined }] : [];
}

const POSTPONED = { kind: 'postponed' } as const;

/** Failures in a row before details are only sampled. */
export const FAILURES_IN_A_ROW = 10;
const MOST_LEFT_OUT = 1_000;

export class Sampling {
  readonly #random: () => number;
  #failures = 0;
  #leaveOut = 0;

  /** @param random in [0, 1). */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Whether so many have failed that others fail, too. */
  get isInTrouble(): boolean {
    return this.#failures >= FAILURES_IN_A_ROW;
  }

  /** Whether to request the next detail. */
  takes(): boolean {
    if (this.#leaveOut === 0) return true;
    this.#leaveOut--;
    return false;
  }

  succeed(): void {
    this.#failures = 0;
    this.#leaveOut = 0;
  }

  fail(): void {
    this.#failures++;
    if (!this.isInTrouble) return;
    const most = Math.min(2 ** (this.#failures - FAILURES_IN_A_ROW + 1), MOST_LEFT_OUT);
    this.#leaveOut = 1 + Math.floor(this.#random() * most);
  }
}

// The beginnings of a posting's record in the list and of its detail, as its review entry shows them.
const TITLE = Buffer.from('\n\nDetail:\n');

/** @param detail without secrets; absent if it was not received. @param mask removes them from the record. */
export function excerptWith(record: Buffer, detail?: Buffer, mask?: Mask): Buffer {
  if (detail === undefined) return beginningOf(record, EXCERPT_BYTES, mask);
  const own = Math.max(EXCERPT_BYTES / 2, EXCERPT_BYTES - TITLE.length - detail.length);
  const beginning = beginningOf(record, own, mask);
  return Buffer.concat([beginning, TITLE, detail.subarray(0, EXCERPT_BYTES - beginning.length - TITLE.length)]);
}
