// Reads the list of a feed with details, and looks up or requests the details, with no transaction open: that may take hours.
import type { RecordBatch } from '../feed/batch/record-batch.ts';
import type { FeedReading, RecordSink } from '../feed/feed-reading.ts';
import type { OpenedFeed } from '../feed/read-feed.ts';
import { type RateLimiter, rateLimiterFor } from '../flow/rate-limiter.ts';
import type { PostingKey } from '../posting/identifiers.ts';
import { hasPlaces } from '../posting/places.ts';
import { NO_EDITS } from '../store/change/edit.ts';
import { onLentSession, type Queryable } from '../store/postgres/database.ts';
import { loadRecordIndex, loadSkippedIndex } from '../store/pull/record-hashes.ts';
import { anyDue } from '../store/pull/stored-details.ts';
import { crossStep } from '../telemetry/times.ts';
import { DatedRecords } from './dated-records.ts';
import { type DetailOutcome, DetailReader, type DetailsContext, GROUP_LIMITS } from './detail-reader.ts';
import type { FeedSetup, PullContext } from './feed-setup.ts';
import { PLACES_BYTES, type PlannedRecord } from './plan-group.ts';
import { PullLedger } from './pull-ledger.ts';
import { inStreamingFeedSlot } from './pull-slots.ts';
import {
  compileRecordReader,
  type ListedRecord,
  type Postponed,
  type ReadRecord,
  type RecordReader,
} from './read-record.ts';
import { RecordIntake } from './record-intake.ts';
import { type ListRecord, RecordSpool } from './record-spool.ts';

export class DetailedList implements RecordSink {
  readonly intake: RecordIntake;
  readonly reader: DetailReader;
  /** The records to be planned, once {@link requestDetails} has resolved. */
  readonly answered = new AnsweredRecords();
  readonly dated: DatedRecords | undefined;
  /** The clock by which it was read. */
  readonly clock: FeedSetup['clock'];
  readonly #records: RecordReader;

  private constructor(
    intake: RecordIntake,
    reader: DetailReader,
    records: RecordReader,
    { dated, clock }: Pick<DetailedList, 'dated' | 'clock'>,
  ) {
    this.clock = clock;
    this.intake = intake;
    this.reader = reader;
    this.#records = records;
    this.dated = dated;
  }

  /**
   * Notes which records are known. What people and workers change afterwards is looked up when the pull plans: until then no
   * other pull runs, so a known record stays that of its posting's mapping or change, unless the posting loses its job.
   */
  static async open(
    setup: FeedSetup,
    context: Omit<DetailsContext, 'limiter'> & Partial<Pick<DetailsContext, 'limiter'>>,
    samplesKnown?: boolean,
  ): Promise<DetailedList> {
    const { feed, interpretation, isPaged, mapping, expireAfterDays: days } = setup;
    const records = compileRecordReader(setup, NO_EDITS);
    const { limiter = rateLimiterFor(Number.POSITIVE_INFINITY) } = context;
    const reader = await DetailReader.open(feed, setup, setup.source, { ...context, limiter });
    return onLentSession(context.db, async (session) => {
      const index = await loadRecordIndex(session, feed, days);
      const skipped = await loadSkippedIndex(session, feed, days !== undefined && !hasPlaces(mapping));
      const dated = await DatedRecords.load(session, feed, setup);
      const options = { isPaged, hasPlaces: hasPlaces(mapping), skipped, isDated: dated !== undefined };
      const ledger = new PullLedger(index, interpretation, options);
      const intake = new RecordIntake(setup, ledger, records.recoverKey, samplesKnown);
      return new DetailedList(intake, reader, records, { dated, clock: setup.clock });
    });
  }

  take(batch: RecordBatch): void {
    this.intake.take(batch, (hashes, at) => {
      const isDue = this.dated?.seeRecord(hashes, at) === true;
      return this.reader.seeRecord(hashes, at) || isDue;
    });
  }

  drain(): Promise<void> | undefined {
    const { waiting } = this.intake;
    // Details are requested once the list was read, which a slow detail could make move or end.
    return waiting.isFull ? this.reader.spool.add(waiting.takeBatch()) : undefined;
  }

  /** Looks up or requests the details of the list, once it was read. */
  async requestDetails(): Promise<void> {
    const { spool } = this.reader;
    await spool.add(this.intake.waiting.takeBatch());
    const readList = this.#records.compileList(this.reader.name);
    let done = 0;
    for await (const group of spool.groups(GROUP_LIMITS)) {
      this.reader.report(done);
      done += group.length;
      await this.#answer(group, readList);
    }
    await spool.close();
  }

  async close(): Promise<void> {
    await this.reader.close();
    await this.answered.close();
  }

  async #answer(group: readonly ListRecord[], readList: ReturnType<RecordReader['compileList']>): Promise<void> {
    const listed = group.map((record) => ({ record, listed: readList(record.bytes) }));
    const keyed = listed.flatMap(({ record, listed: read }) => (read.kind === 'listed' ? [{ ...read, record }] : []));
    const outcomes = (await this.reader.outcomesOf(keyed)).values();
    await this.answered.add(
      listed.map(({ record, listed: { kind } }) => {
        if (kind === 'listed') return { record, outcome: outcomes.next().value };
        this.reader.needsNone(record);
        return { record, outcome: undefined };
      }),
    );
  }
}

// Reads the list of a feed with details and requests the details, before the list is planned.
interface ListContext extends PullContext {
  /** The rate limiter of the list. */
  readonly limiter?: RateLimiter;
  /** See `DetailsContext`. */
  readonly mayStore: boolean;
  readonly refusal?: string;
  /** The number of the pull, for the log; a plan has none. */
  readonly pull?: number;
  /** See `RecordIntake`. */
  readonly samplesKnown?: boolean;
}

/** Calls `work` once the list was read, and its details were looked up or requested. Until then no transaction is open. */
export async function withDetailedList<T>(
  setup: FeedSetup,
  { pull, samplesKnown, ...context }: ListContext,
  opened: Pick<OpenedFeed, 'read'>,
  work: (list: DetailedList, reading: Extract<FeedReading, { kind: 'read' | 'failed' }>) => Promise<T>,
): Promise<T> {
  const { log, signal, onProgress } = context;
  const list = await DetailedList.open(setup, context, samplesKnown);
  try {
    const reading = await inStreamingFeedSlot(signal, (wait) => opened.read(list, { onProgress, wait }));
    signal.throwIfAborted();
    crossStep('records-read');
    if (reading.kind === 'read') {
      await list.requestDetails();
      if (pull !== undefined) log.info({ feed: setup.feed, pull, ...list.reader.counts }, 'details read');
      crossStep('details-read');
    }
    return await work(list, reading);
  } finally {
    await list.close();
  }
}

// Tells whether details of a feed are to be requested again or planned, even if nothing has changed in the list.
export async function anyDetailDue(db: Queryable, { feed, source }: FeedSetup): Promise<boolean> {
  return source.details !== undefined && (await anyDue(db, feed, source.details.refreshMs));
}

// Reads the records of a list with the details of their postings, group by group.

/** What was read of a record. */
export interface DetailedRecord {
  readonly record: PlannedRecord;
  readonly read: ReadRecord | Postponed;
  /** Length of the record and its detail. */
  readonly bytes: number;
}

/** All records whose details were looked up or requested, in the order of the list. Can be read once. */
export async function* detailedRecords(
  list: DetailedList,
  records: RecordReader,
): AsyncGenerator<readonly DetailedRecord[]> {
  const readList = records.compileList(list.reader.name);
  for await (const group of list.answered.groups(GROUP_LIMITS)) {
    const documents = await list.reader.documentsOf(group.flatMap(({ outcome }) => outcome ?? []));
    let read: DetailedRecord[] = [];
    let ofPlaces = 0;
    for (const answered of group) {
      const { record } = answered;
      const listed = readList(record.bytes);
      const one =
        listed.kind === 'listed'
          ? await complete(list, records, answered, listed, documents)
          : { record, read: listed, bytes: record.bytes.length };
      read.push(one);
      ofPlaces += one.read.kind === 'places' ? one.bytes * one.read.postings.length : 0;
      if (ofPlaces < PLACES_BYTES) continue;
      yield read;
      read = [];
      ofPlaces = 0;
    }
    if (read.length > 0) yield read;
  }
}

async function complete(
  { reader }: DetailedList,
  records: RecordReader,
  { record, outcome }: AnsweredRecord,
  listed: ListedRecord,
  documents: ReadonlyMap<string, Buffer>,
): Promise<DetailedRecord> {
  const { key } = listed;
  switch (outcome?.kind) {
    case undefined:
    case 'stored':
    case 'document': {
      const bytes =
        outcome?.kind === 'document' ? outcome.bytes : outcome && documents.get(outcome.listHash.toString('hex'));
      if (bytes === undefined) {
        reader.postponeLate();
        return { record, read: { kind: 'postponed', key }, bytes: record.bytes.length };
      }
      const excerpt = reader.excerptOf(record, bytes);
      const detailed = reader.read(listed.tree, bytes);
      if (detailed.kind === 'failed') return failedDetail(record, key, { ...detailed, excerpt });
      const { tree, repairs = [] } = detailed;
      const inDetail = repairs.map((repair) => `${repair} (in its detail)`);
      const all = inDetail.length === 0 ? listed.repairs : [...(listed.repairs ?? []), ...inDetail];
      const read = await records.complete({ ...listed, repairs: all }, tree, excerpt);
      return { record: { ...record, bytes: excerpt }, read, bytes: record.bytes.length + bytes.length };
    }
    case 'failed':
      return failedDetail(record, key, outcome);
    case 'postponed':
      return { record, read: { kind: 'postponed', key }, bytes: record.bytes.length };
    default:
      return outcome satisfies never;
  }
}

function failedDetail(
  record: ListRecord,
  key: PostingKey,
  { message, excerpt }: { readonly message: string; readonly excerpt: Buffer },
): DetailedRecord {
  const problems = [{ message: `the detail of the posting can't be had: ${message}` }];
  return { record: { ...record, bytes: excerpt }, read: { kind: 'unreadable', problems, key }, bytes: excerpt.length };
}

// Keeps the records of a list, with what became of their details, from the requests until the pull plans them.

/** A record of the list. */
export interface AnsweredRecord {
  readonly record: ListRecord;
  /** `undefined`: the record needs no detail. */
  readonly outcome: DetailOutcome | undefined;
}

/** In front of the record's bytes: their length, and the kind of the outcome. The outcome follows them. */
const KIND_AT = 4;
const HEAD_BYTES = KIND_AT + 1;
const KINDS = [undefined, 'stored', 'document', 'failed', 'postponed'] as const;

export class AnsweredRecords {
  readonly #spool = new RecordSpool();

  add(answered: readonly AnsweredRecord[]): Promise<void> {
    return this.#spool.add(
      answered.map(({ record, outcome }) => ({ ...record, bytes: encode(record.bytes, outcome) })),
    );
  }

  /** All records, in the order in which they were added. Can be read once. */
  async *groups(most: { readonly records: number; readonly bytes: number }): AsyncGenerator<readonly AnsweredRecord[]> {
    for await (const group of this.#spool.groups(most)) yield group.map(decode);
  }

  close(): Promise<void> {
    return this.#spool.close();
  }
}

function encode(bytes: Buffer, outcome: DetailOutcome | undefined): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(bytes.length);
  head.writeUInt8(KINDS.indexOf(outcome?.kind), KIND_AT);
  return Buffer.concat([head, bytes, ...partsOf(outcome)]);
}

function partsOf(outcome: DetailOutcome | undefined): readonly Buffer[] {
  switch (outcome?.kind) {
    case 'stored':
      return [outcome.listHash];
    case 'document':
      return [outcome.bytes];
    case 'failed': {
      const message = Buffer.from(outcome.message);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(message.length);
      return [length, message, outcome.excerpt];
    }
    default:
      return [];
  }
}

function decode({ bytes, ...record }: ListRecord): AnsweredRecord {
  const end = HEAD_BYTES + bytes.readUInt32LE();
  const outcome = outcomeOf(KINDS[bytes.readUInt8(KIND_AT)], bytes.subarray(end));
  return { record: { ...record, bytes: bytes.subarray(HEAD_BYTES, end) }, outcome };
}

function outcomeOf(kind: (typeof KINDS)[number], rest: Buffer): DetailOutcome | undefined {
  switch (kind) {
    case 'stored':
      return { kind, listHash: rest };
    case 'document':
      return { kind, bytes: rest };
    case 'failed': {
      const end = 4 + rest.readUInt32LE();
      return { kind, message: rest.toString('utf8', 4, end), excerpt: rest.subarray(end) };
    }
    case 'postponed':
      return { kind };
    case undefined:
      return undefined;
    default:
      return kind satisfies never;
  }
}
