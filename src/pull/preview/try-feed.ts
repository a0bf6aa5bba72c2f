// Reads one feed as a pull would, without a database, and sums up what its postings become.
import type { Readable } from 'node:stream';
import { RecordIndex } from '../../compact/record-index.ts';
import type { RecordBatch } from '../../feed/batch/record-batch.ts';
import { compileDetailReader, type ReadDetail } from '../../feed/detail-record.ts';
import type { RecordSink } from '../../feed/feed-reading.ts';
import type { FeedProgress, RecordPlace } from '../../feed/read-documents.ts';
import { readFeed } from '../../feed/read-feed.ts';
import { startClock } from '../../feed/reading-clock.ts';
import { type FindUpload, httpOf, kindOf, type Network, openDetailFetcher } from '../../feed/source/sources.ts';
import { rateLimiterFor } from '../../flow/rate-limiter.ts';
import { plural } from '../../plan/message.ts';
import { keyHash, recordHash } from '../../posting/hash.ts';
import type { PostingKey } from '../../posting/identifiers.ts';
import { pathsInto } from '../../posting/paths/mapping-paths.ts';
import { type PathFill, PathValues, valuesIn } from '../../posting/paths/path-census.ts';
import { hasPlaces } from '../../posting/places.ts';
import type { Fields, Posting, Problem, ReadPosting } from '../../posting/posting.ts';
import { NO_EDITS } from '../../store/change/edit.ts';
import { setupAtTime } from '../dated-records.ts';
import type { FeedSetup } from '../feed-setup.ts';
import { PullLedger, type SeenRecord } from '../pull-ledger.ts';
import {
  compileParser,
  compileRecordReader,
  type ListedRecord,
  type ReadRecord,
  type RecordReader,
} from '../read-record.ts';
import { RecordSample } from '../record-sample.ts';
import { failedReading, shortfallsOf, uncertainShortfall } from '../refuse-feed.ts';
import { TrialCounts, type TrialSums, type TriedPosting, type TriedRecord } from './trial-counts.ts';

/** What a trial of a feed found. */
export type Trial =
  | { readonly kind: 'failed'; readonly message: string }
  | ({
      readonly kind: 'read';
      readonly seen: number;
      readonly bytes: number;
      /** Documents with records. */
      readonly documents: number;
      /** Why the feed is not proven complete; empty: it is. */
      readonly shortfalls: readonly string[];
      /** Why the completeness is proven only weakly; absent if it is not. */
      readonly weak?: string;
      /** Likely mistakes of the mapping, one sentence each. */
      readonly mistakes: readonly string[];
      /** The reading was ended early, as it had reached `mostBytes`. */
      readonly isPartial: boolean;
      /** The paths of the sampled records, if that was asked for. */
      readonly paths: { readonly sampled: number; readonly found: readonly PathFill[] } | undefined;
    } & TrialSums);

interface TrialContext {
  readonly signal: AbortSignal;
  /** How many postings are returned as samples: the first ones. */
  readonly samples: number;
  readonly onProgress?: (progress: FeedProgress) => void;
  /** By default the standard input of the process. */
  readonly stdin?: Readable;
  /** By default the system's. */
  readonly network?: Network | undefined;
  /** By default nothing that was uploaded can be read. */
  readonly uploads?: FindUpload | undefined;
  /** Returns what records have at their paths. */
  readonly showsRecords?: boolean;
  /** Ends the reading after about so many decompressed bytes; by default, the whole feed is read. */
  readonly mostBytes?: number;
}

/** Throws only the reason of the signal. */
export async function tryFeed(configured: FeedSetup, context: TrialContext): Promise<Trial> {
  const { signal, samples, onProgress, stdin, network, uploads, showsRecords } = context;
  const { mostBytes = Number.POSITIVE_INFINITY } = context;
  // A trial has no database, whose clock a pull would read.
  const clock = startClock();
  const setup = setupAtTime(configured, clock);
  const sink = new TrialSink(setup, samples, await openTrialDetails(setup, signal, network), showsRecords === true);
  const onRecord = (place: RecordPlace) => sink.places.push(place);
  const enough = new AbortController();
  const watch = (progress: FeedProgress) => {
    onProgress?.(progress);
    sink.bytes = progress.bytes;
    if (progress.bytes > mostBytes) enough.abort(ENOUGH);
  };
  const both = AbortSignal.any([signal, enough.signal]);
  const reading = await readFeed(setup.source, sink, {
    signal: both,
    onProgress: watch,
    onRecord,
    stdin,
    clock,
    network,
    ...(uploads === undefined ? {} : { uploads }),
  }).catch((error: unknown): 'ended' => {
    if (error === ENOUGH) return 'ended';
    throw error;
  });
  signal.throwIfAborted();
  if (reading !== 'ended' && reading.kind !== 'read') return failedReading(reading);
  await sink.finish();
  const { counts, ledger, bytes, documents } = sink;
  const mistakes = sink.sample.mistakes();
  const found = { kind: 'read', seen: ledger.seen, documents, paths: sink.paths(), ...counts.sums() } as const;
  if (reading === 'ended')
    return { ...found, bytes, shortfalls: ['only its beginning was read, as it is large'], mistakes, isPartial: true };
  const changing = await changingValues(setup, found, { signal, network });
  return {
    ...found,
    bytes: reading.bytes,
    shortfalls: [
      ...unreadableShortfall(ledger.unreadable),
      ...shortfallsOf(reading, ledger, setup),
      ...uncertainShortfall(sink.uncertain, setup),
    ],
    ...(reading.weak === undefined ? {} : { weak: reading.weak.reason }),
    mistakes: [...(reading.advice === undefined ? [] : [reading.advice]), ...mistakes, ...changing],
    isPartial: false,
  };
}

/** So many records of the beginning are read again. */
const READ_AGAIN = 200;
const SHOWN_AROUND = 20;

/** What the source answers otherwise when it is asked again, such as addresses with tokens: each pull would send it. One sentence each. */
async function changingValues(
  setup: FeedSetup,
  { samples, seen }: Pick<Extract<Trial, { kind: 'read' }>, 'samples' | 'seen'>,
  { signal, network }: Pick<TrialContext, 'signal' | 'network'>,
): Promise<readonly string[]> {
  if (samples.length === 0 || !kindOf(setup.source.from).isRemote) return [];
  const again = new Map<PostingKey, Fields>();
  const parse = compileParser(setup);
  const enough = new AbortController();
  let records = 0;
  const take = (batch: RecordBatch) => {
    for (let at = 0; at < batch.count && records < READ_AGAIN; at++, records++) {
      const parsed = batch.oversizedLengthOf(at) > 0 ? undefined : parse(batch.recordOf(at));
      const read = parsed?.kind === 'tree' ? setup.reader.read(parsed.tree) : undefined;
      for (const each of read?.kind === 'places' ? read.postings : [read])
        if (each !== undefined && 'posting' in each) again.set(each.posting.key, each.posting.fields);
    }
    if (records >= READ_AGAIN) enough.abort(ENOUGH);
  };
  const both = AbortSignal.any([signal, enough.signal]);
  const options = { signal: both, network, threadsFromBytes: Number.POSITIVE_INFINITY };
  await readFeed(setup.source, { take, drain: () => undefined }, options).catch((error: unknown) => {
    if (error !== ENOUGH) throw error;
  });
  const pairs = samples.flatMap(({ key, fields }) => {
    const others = again.get(key);
    return others === undefined ? [] : [{ fields, others }];
  });
  if (pairs.length === 0 && again.size > 0 && seen <= READ_AGAIN)
    return ['the keys differ between two requests, so that each pull would make other postings; choose another key'];
  const changed = new Map<string, string>();
  for (const { fields, others } of pairs) {
    for (const [field, value] of Object.entries(fields)) {
      const other = others[field] ?? value;
      if (other !== value && !changed.has(field)) changed.set(field, shownChange(value, other));
    }
  }
  return [...changed].map(
    ([field, shown]) =>
      `${field} differs between two requests (${shown}), so that each pull would update the job: take it from another path, leave out with match what changes, or name a shuffled list in unordered`,
  );
}

function shownChange(value: string, other: string): string {
  const at = [...value].findIndex((character, index) => character !== other[index]);
  const from = Math.max(0, at - SHOWN_AROUND);
  return [value, other].map((text) => JSON.stringify(text.slice(from, from + 2 * SHOWN_AROUND))).join(', then ');
}

/** The reason by which a reading is ended early. */
const ENOUGH = new Error('enough was read');

const unreadableShortfall = (count: number): readonly string[] =>
  count === 0 ? [] : [`${plural(count, 'record')} could not be read`];

/** Records that wait to be read hold at most about this much. */
const BATCH_BYTES = 1 << 20;

interface WaitingRecord extends SeenRecord {
  readonly bytes: Buffer;
  readonly place: RecordPlace;
}

class TrialSink implements RecordSink {
  /** The places of the records of the next batch. */
  readonly places: RecordPlace[] = [];
  readonly ledger: PullLedger;
  readonly sample: RecordSample;
  readonly counts: TrialCounts;
  bytes = 0;
  documents = 0;
  /** Records of which the clocks say different things. */
  uncertain = 0;
  #document: string | undefined;
  readonly #reader: RecordReader;
  readonly #requestDetail: RequestDetail | undefined;
  readonly #readList: ReturnType<RecordReader['compileList']>;
  readonly #hasPlaces: boolean;
  /** Only if what records have is to be shown. */
  readonly #values: PathValues | undefined;
  readonly #parse: ReturnType<typeof compileParser>;
  /** Details to request. */
  #detailsLeft: number;
  #waiting: WaitingRecord[] = [];
  #waitingBytes = 0;

  constructor(setup: FeedSetup, samples: number, requestDetail: RequestDetail | undefined, showsRecords: boolean) {
    const values = showsRecords ? new PathValues() : undefined;
    this.#values = values;
    this.#parse = compileParser(setup);
    this.ledger = new PullLedger(new RecordIndex(), setup.interpretation, { isPaged: setup.isPaged });
    this.sample = new RecordSample(setup, values && ((record) => values.add(record)));
    this.counts = new TrialCounts(Object.keys(setup.mapping.fields), samples);
    // A trial has no database.
    this.#reader = compileRecordReader(setup, NO_EDITS);
    this.#requestDetail = requestDetail;
    this.#readList = this.#reader.compileList(setup.detail ?? '');
    this.#hasPlaces = hasPlaces(setup.mapping);
    this.#detailsLeft = samples;
  }

  take(batch: RecordBatch): void {
    const places = this.places.splice(0);
    for (let record = 0; record < batch.count; record++) {
      const place = places[record] ?? { document: '', line: undefined };
      if (place.document !== this.#document) this.documents++;
      this.#document = place.document;
      if (batch.oversizedLengthOf(record) > 0) {
        this.#noteOversized(batch, record, place);
        continue;
      }
      const seen = this.ledger.seeRecord(batch.hashes, batch.hashAt(record));
      if (seen === undefined) continue;
      const bytes = Buffer.from(batch.recordOf(record));
      this.#waiting.push({ ...seen, bytes, place });
      this.#waitingBytes += bytes.length;
    }
    this.sample.take(batch);
  }

  drain(): Promise<void> | undefined {
    return this.#waitingBytes >= BATCH_BYTES ? this.finish() : undefined;
  }

  paths(): Extract<Trial, { kind: 'read' }>['paths'] {
    return this.#values && { sampled: this.#values.records, found: this.#values.all() };
  }

  /** Reads the records that are waiting. */
  async finish(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const record of waiting) {
      const read =
        this.#requestDetail === undefined
          ? await this.#reader.read({ bytes: record.bytes, packedPosting: undefined })
          : await this.#readWithDetail(record, this.#requestDetail);
      if (read !== undefined) this.#count(record, read);
    }
  }

  /** `undefined`: the posting is counted without its fields, as its detail is not requested. */
  async #readWithDetail({ bytes, ...record }: WaitingRecord, request: RequestDetail): Promise<ReadRecord | undefined> {
    const listed = this.#readList(bytes);
    if (listed.kind !== 'listed') return listed;
    const { key } = listed;
    if (this.#detailsLeft > 0) {
      this.#detailsLeft--;
      const detail = await request(listed);
      if (detail.kind === 'failed') return { kind: 'unreadable', problems: [{ message: detail.message }], key };
      return this.#reader.complete(listed, detail.tree, bytes);
    }
    const keys = this.#hasPlaces ? await this.#keysOfPlaces(listed, bytes) : [key];
    this.ledger.countPlaces(keys.length);
    for (const one of keys) {
      const sighting = this.ledger.seePosting(record, keyHash(one), recordHash(bytes), UNKNOWN);
      if (sighting.kind === 'identical' || sighting.kind === 'conflicting')
        this.counts.noteRepeat(record, one, sighting.kind);
      else this.counts.addListed(record, one);
    }
    return undefined;
  }

  /** The keys of the postings in a record with several places, which do not depend on its detail. */
  async #keysOfPlaces(listed: ListedRecord, bytes: Buffer): Promise<readonly PostingKey[]> {
    const read = await this.#reader.complete(listed, listed.tree, bytes);
    return read.kind === 'places' ? read.postings.map(({ posting }) => posting.key) : [listed.key];
  }

  #count(waiting: WaitingRecord, read: ReadRecord): void {
    const record: TriedRecord = { ordinal: waiting.ordinal, place: waiting.place };
    switch (read.kind) {
      case 'skipped':
        this.ledger.skipped++;
        if (read.isUncertain === true) this.uncertain++;
        this.counts.skip({
          ...record,
          ...(read.byDate && { byDate: { ...read.byDate, key: read.key, until: read.until } }),
        });
        break;
      case 'unreadable':
        this.ledger.unreadable++;
        this.counts.noteUnreadable(record, read.problems, read.key);
        break;
      case 'places':
        this.ledger.countPlaces(read.postings.length);
        for (const posting of read.postings) this.#countPosting(waiting, record, posting as ReadPosting);
        break;
      case 'posting':
      case 'invalid':
        // Nothing is parsed ahead here, so the fields are not serialised.
        this.#countPosting(waiting, record, read as ReadPosting);
        break;
      default:
        read satisfies never;
    }
  }

  #countPosting(waiting: WaitingRecord, record: TriedRecord, read: ReadPosting): void {
    const { key, contentHash } = read.posting as Posting;
    const sighting = this.ledger.seePosting(waiting, keyHash(key), contentHash, UNKNOWN);
    if (sighting.kind === 'identical' || sighting.kind === 'conflicting') {
      this.counts.noteRepeat(record, key, sighting.kind);
    } else {
      this.counts.add(record, read, this.#values && (() => this.#valuesIn(waiting.bytes)));
    }
  }

  #valuesIn(bytes: Buffer): TriedPosting['record'] {
    const parsed = this.#parse(bytes);
    return parsed.kind === 'tree' ? valuesIn(parsed.tree, SHOWN_CHARACTERS) : undefined;
  }

  #noteOversized(batch: RecordBatch, record: number, place: RecordPlace): void {
    const ordinal = this.ledger.countRecord();
    this.ledger.unreadable++;
    const head = batch.recordOf(record);
    const message = `the record is ${batch.oversizedLengthOf(record)} bytes long, more than limits.max_record_bytes allows`;
    const problems: readonly Problem[] = [{ message }];
    this.counts.noteUnreadable({ ordinal, place }, problems, this.#reader.recoverKey(head));
  }
}

/** How much of a record's value is shown. */
const SHOWN_CHARACTERS = 300;

/** The database knows no key. */
const UNKNOWN = { mapping: undefined, open: undefined };

// Requests the details of the first postings of a tried feed; the others are only counted.
type RequestDetail = (listed: Pick<ListedRecord, 'tree' | 'asSent'>) => Promise<ReadDetail>;

/** `undefined`: the feed has no details. */
async function openTrialDetails(
  { source: { from, details }, mapping, mask }: Pick<FeedSetup, 'source' | 'mapping' | 'mask'>,
  signal: AbortSignal,
  network: Network | undefined,
): Promise<RequestDetail | undefined> {
  const http = httpOf(from);
  if (details === undefined || http === undefined) return undefined;
  const limiter = rateLimiterFor(details.requestsPerSecond);
  const fetcher = await openDetailFetcher(http, details, { limiter, mask, network });
  const read = compileDetailReader(details, pathsInto(details.name, mapping));
  return async ({ tree, asSent }) => {
    const fetched = await fetcher.fetch(asSent, signal);
    return fetched.kind === 'failed' ? fetched : read(tree, fetched.bytes, fetched);
  };
}
