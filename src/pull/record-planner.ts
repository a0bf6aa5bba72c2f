// Receives the records of a feed as they stream in, skips the known ones, and plans the others in batches.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RecordBatch } from '../feed/batch/record-batch.ts';
import { readingIn } from '../feed/batch/written-reading.ts';
import type { RecordSink } from '../feed/feed-reading.ts';
import type { FeedFormat, RecoverKey } from '../feed/format/format.ts';
import { formatOf } from '../feed/format/formats.ts';
import { faultOf, shapeOf } from '../feed/format/record-marks.ts';
import type { DesiredChange } from '../plan/desired-change.ts';
import { planPosting } from '../plan/plan-posting.ts';
import type { PullLedger, SeenRecord } from '../plan/pull-ledger.ts';
import { HASH_BYTES, interpretedHash, keyHash, recordHash } from '../posting/hash.ts';
import type { PostingKey } from '../posting/identifiers.ts';
import type { MappingSpec } from '../posting/mapping.ts';
import type { KeptFields, PostingReader, Problem, ReadPosting } from '../posting/posting.ts';
import type { Database } from '../store/postgres/database.ts';
import type { PullTransaction, Refresh } from '../store/pull/pull-transaction.ts';
import type { RecordProblem, UnreadableRecords } from '../store/pull/record-problems.ts';
import { type Edits, editsOf } from '../store/review/override.ts';
import type { RecordRules } from './feed-setup.ts';

/** A batch of records to parse is full at either limit; the bytes limit memory. */
const BATCH_RECORDS = 128;
const BATCH_BYTES = 1 << 20;
/** A batch can exceed its bytes by the records that end in one more chunk, or by their readings and excerpts. */
const BATCH_MEMORY = 2 * BATCH_BYTES;
/**
 * Records that are parsed, looked up and written together; slightly more, so no group is left with only a few. Looking
 * up twice as many takes only 50 % longer. Without known postings there is no lookup, and smaller groups save memory.
 */
const LOOKED_UP_RECORDS = 128;
const WRITTEN_RECORDS = 32;
/** Records parsed without yielding to the event loop. */
const PORTION_RECORDS = 8;
/** Maximum number of review entries per pull; beyond that, a single entry says that there are more. */
export const MAX_PROBLEMS = 5_000;
const EXCERPT_BYTES = 2_048;
/** Hash of the single entry for all records without their own; no record has this hash. */
const REST = Buffer.alloc(HASH_BYTES);

interface Waiting extends SeenRecord {
  /** The record's bytes; only an excerpt if it was parsed ahead. */
  readonly bytes: Buffer;
  readonly reading: Buffer | undefined;
}

type Readable = ReadPosting<KeptFields>;

/** Plans the records of one pull. The next batch fills while the previous one is parsed and written. */
export class RecordPlanner implements RecordSink {
  readonly ledger: PullLedger;
  readonly #format: FeedFormat;
  readonly #mapping: MappingSpec;
  readonly #reader: PostingReader;
  readonly #interpretation: Buffer;
  readonly #lenient: boolean;
  readonly #pullTx: PullTransaction;
  readonly #edits: Edits;
  readonly #recoverKey: RecoverKey;
  readonly #problems: RecordProblem[] = [];
  /** Number of duplicates recorded per key. */
  readonly #duplicatesOf = new Map<PostingKey, number>();
  /** By key, or by the hash of the bytes if there is no key. */
  readonly #unreadable = new Map<string, UnreadableRecords>();
  /** Keys of unreadable records not yet written to the database. */
  #unreadableKeys: PostingKey[] = [];
  #problemsLeftOut = false;
  /** Unreadable records without their own entry, and how many of them have no known key. */
  #unreadableLeftOut = { records: 0, withoutKey: 0 };
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /**
   * Three buffers in rotation: the first holds the waiting records, the second the batch being planned, and the third
   * the batch before it, whose last records may still be in use by the database.
   */
  #memories: [Buffer, Buffer, Buffer] = [batchMemory(), batchMemory(), batchMemory()];
  #planning: Promise<void> = Promise.resolve();
  #writing: Promise<void> = Promise.resolve();

  private constructor(
    { format, mapping, reader, interpretation, lenient = false }: RecordRules,
    pullTx: PullTransaction,
    ledger: PullLedger,
    edits: Edits,
  ) {
    this.#format = formatOf(format);
    this.#mapping = mapping;
    this.#reader = reader;
    this.#interpretation = interpretation;
    this.#lenient = lenient;
    this.#pullTx = pullTx;
    this.ledger = ledger;
    this.#edits = edits;
    this.#recoverKey = this.#format.compileKeyRecovery(mapping.key);
  }

  static async open(
    rules: RecordRules,
    pullTx: PullTransaction,
    ledger: PullLedger,
    db: Database,
  ): Promise<RecordPlanner> {
    const { feed } = pullTx.subject;
    return new RecordPlanner(rules, pullTx, ledger, await editsOf(db, feed));
  }

  /** The mapping for parsing records ahead, if every record has to be parsed anyway and no posting has been edited. */
  get prefetchMapping(): MappingSpec | undefined {
    return this.#pullTx.nothingKnown && this.#edits.none ? this.#mapping : undefined;
  }

  take(batch: RecordBatch): void {
    const { bytes, hashes, count } = batch;
    for (let record = 0; record < count; record++) this.ledger.expectRecord(hashes, batch.hashAt(record));
    for (let record = 0; record < count; record++) {
      const start = batch.startOf(record);
      const end = batch.endOf(record);
      const oversized = batch.oversizedLengthOf(record);
      if (oversized === 0) {
        const seenRecord = this.ledger.seeRecord(hashes, batch.hashAt(record));
        if (seenRecord !== undefined) this.#waiting.push({ ...seenRecord, ...this.#kept(batch, record) });
      } else {
        this.ledger.seen++;
        const message = `the record is ${oversized} bytes long, more than limits.max_record_bytes allows; it was skipped`;
        const hash = Buffer.from(hashes.subarray(batch.hashAt(record), batch.hashAt(record) + HASH_BYTES));
        const head = bytes.subarray(start, end);
        this.#noteUnreadable(hash, head, [{ message }], this.#recoverKey(head));
      }
    }
  }

  drain(): Promise<void> | undefined {
    if (this.#waiting.length < BATCH_RECORDS && this.#waitingBytes < BATCH_BYTES) return undefined;
    return this.#startBatch();
  }

  /** Plans the remaining records; resolves when everything is written to the database. */
  async finish(): Promise<void> {
    await this.#startBatch();
    await this.#planning;
    await this.#writing;
    await this.#sendUnreadableKeys();
    await this.#pullTx.flush();
  }

  /** Starts planning the waiting records once the previous batch is planned. More may arrive meanwhile. */
  async #startBatch(): Promise<void> {
    await this.#planning;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    const [filled, planned, written] = this.#memories;
    this.#memories = [written, filled, planned];
    this.#planning = this.#planBatch(batch);
    // Reported by the next await; never an unhandled rejection meanwhile.
    this.#planning.catch(() => undefined);
  }

  /** Plans a few records at a time: objects that survive two garbage collections are the most expensive ones. */
  async #planBatch(batch: readonly Waiting[]): Promise<void> {
    const together = this.#pullTx.nothingKnown ? WRITTEN_RECORDS : LOOKED_UP_RECORDS;
    const plans = Math.max(1, Math.floor(batch.length / together));
    const records = Math.ceil(batch.length / plans);
    for (let from = 0; from < batch.length; from += records) {
      await this.#startPlan(batch.slice(from, from + records));
    }
  }

  /** Parses records, waits until the previous ones are written, and starts writing these. */
  async #startPlan(records: readonly Waiting[]): Promise<void> {
    const read: { record: Waiting; result: Readable }[] = [];
    for (const [at, record] of records.entries()) {
      // Yield so that the previous group can receive its database results and send its next statement.
      if (at % PORTION_RECORDS === PORTION_RECORDS - 1) await nextTurn();
      const result = this.#read(record);
      if (result !== undefined) read.push({ record, result });
    }
    await this.#writing;
    this.#writing = this.#plan(read);
    // Reported by the next await; never an unhandled rejection meanwhile.
    this.#writing.catch(() => undefined);
  }

  /** Copies the parts of a record that planning needs. */
  #kept(batch: RecordBatch, record: number): Pick<Waiting, 'bytes' | 'reading'> {
    const [start, end] = [batch.startOf(record), batch.endOf(record)];
    const reading = batch.readingOf(record);
    if (reading === undefined) return { bytes: this.#keep(batch.bytes, start, end), reading };
    return {
      bytes: this.#keep(batch.bytes, start, Math.min(end, start + EXCERPT_BYTES)),
      reading: this.#keep(reading, 0, reading.length),
    };
  }

  /** Copies, because the record batch is reused at once. Bytes that do not fit in the batch's memory get their own. */
  #keep(buffer: Buffer, start: number, end: number): Buffer {
    const from = this.#waitingBytes;
    this.#waitingBytes += end - start;
    const [memory] = this.#memories;
    if (this.#waitingBytes > memory.length) return Buffer.from(buffer.subarray(start, end));
    buffer.copy(memory, from, start, end);
    return memory.subarray(from, this.#waitingBytes);
  }

  #read(record: Waiting): Readable | undefined {
    if (record.reading !== undefined) return readingIn(record.reading);
    const parsed = this.#format.parseRecord(record.bytes, { lenient: this.#lenient });
    const result = parsed.kind === 'tree' ? this.#reader.read(parsed.tree) : parsed;
    if (result.kind === 'unreadable') {
      // If the record could be parsed, it really has no usable key, so there is nothing to recover.
      const key = parsed.kind === 'tree' ? undefined : this.#recoverKey(record.bytes);
      this.#noteUnreadable(this.#bytesHashOf(record), record.bytes, result.problems, key);
      return undefined;
    }
    const read = parsed.kind === 'tree' && parsed.repairs !== undefined ? withRepairs(result, parsed.repairs) : result;
    const edits = this.#edits.for(read.posting);
    return edits === undefined ? read : this.#reader.withFields(read.posting, edits);
  }

  async #plan(read: readonly { record: Waiting; result: Readable }[]): Promise<void> {
    await this.#sendUnreadableKeys();
    if (read.length === 0) return;
    const known = await this.#pullTx.lookUp(read.map(({ result }) => result.posting.key));
    const newChanges: DesiredChange[] = [];
    const superseding: DesiredChange[] = [];
    const refreshed: Refresh[] = [];
    const pendingSame: Refresh[] = [];
    const returned: PostingKey[] = [];
    for (const [at, { record, result }] of read.entries()) {
      const { posting } = result;
      const entry = known[at] ?? { mapping: undefined, open: undefined };
      const sighting = this.ledger.seePosting(record, keyHash(posting.key), posting.contentHash, entry);
      if (sighting.kind === 'conflicting' || sighting.kind === 'first_of_conflicting')
        this.#noteDuplicate(record, posting.key);
      if (sighting.kind === 'identical' || sighting.kind === 'conflicting') continue;
      const planned = planPosting(result, record.hash, entry);
      const refresh = { key: posting.key, recordHash: record.hash };
      switch (planned.kind) {
        case 'unchanged':
          this.ledger.unchanged++;
          if (planned.refresh) refreshed.push(refresh);
          break;
        case 'pending_same':
          this.ledger.pendingSame++;
          pendingSame.push(refresh);
          break;
        case 'new':
          newChanges.push(planned.desired);
          if (entry.mapping !== undefined && entry.mapping.missingPulls > 0) returned.push(posting.key);
          break;
        case 'superseding':
          superseding.push(planned.desired);
          break;
        default:
          planned satisfies never;
      }
    }
    await this.#pullTx.addNotes(read.map(({ result }) => result.posting));
    await this.#pullTx.addNew(newChanges);
    await this.#pullTx.addSuperseding(superseding);
    await this.#pullTx.refreshMappings(refreshed);
    await this.#pullTx.addPendingSame(pendingSame);
    await this.#pullTx.endGrace(returned);
  }

  /** A reviewer's decision on a record applies to its bytes, however they are interpreted. */
  #bytesHashOf(record: Waiting): Buffer {
    return interpretedHash(record.hash, 0, this.#interpretation);
  }

  #noteUnreadable(hash: Buffer, bytes: Buffer, problems: readonly Problem[], key: PostingKey | undefined): void {
    this.ledger.unreadable++;
    if (key !== undefined) this.#unreadableKeys.push(key);
    const identity = key === undefined ? `bytes ${hash.toString('hex')}` : `key ${key}`;
    const known = this.#unreadable.get(identity);
    if (known !== undefined) {
      this.#unreadable.set(identity, { ...known, count: known.count + 1 });
    } else if (this.#hasRoom()) {
      const marks = { recordHash: hash, shape: shapeOf(bytes), fault: faultOf(problems) };
      this.#unreadable.set(identity, { key, ...marks, problems, excerpt: excerptOf(bytes), count: 1 });
    } else {
      this.#problemsLeftOut = true;
      this.#unreadableLeftOut.records++;
      if (key === undefined) this.#unreadableLeftOut.withoutKey++;
    }
  }

  async #sendUnreadableKeys(): Promise<void> {
    const keys = this.#unreadableKeys;
    this.#unreadableKeys = [];
    await this.#pullTx.addUnreadableKeys(keys);
  }

  /** The entry belongs to the key's first, second … duplicate, so it stays the same when the bytes change. */
  #noteDuplicate(record: Waiting, key: PostingKey): void {
    if (!this.#hasRoom()) {
      this.#problemsLeftOut = true;
      return;
    }
    const nth = (this.#duplicatesOf.get(key) ?? 0) + 1;
    this.#duplicatesOf.set(key, nth);
    const message = `the key ${key} appears more than once in the feed with different content; the first one counts`;
    const problems = [{ value: key, message }];
    const identity = recordHash(Buffer.from(`duplicate ${nth} of ${key}`));
    const excerpt = excerptOf(record.bytes);
    this.#problems.push({ kind: 'duplicate', recordHash: identity, key, problems, excerpt, records: 1 });
  }

  #hasRoom(): boolean {
    return this.#problems.length + this.#unreadable.size < MAX_PROBLEMS;
  }

  /** Unreadable records in feed order; `leftOut` counts the records without their own entry. */
  unreadable(): {
    readonly records: readonly UnreadableRecords[];
    readonly leftOut: { readonly records: number; readonly withoutKey: number };
  } {
    return { records: [...this.#unreadable.values()], leftOut: this.#unreadableLeftOut };
  }

  /**
   * Other unusable records in feed order. `all`: none was left out, so existing entries not among them are resolved.
   */
  problems(): { readonly recorded: readonly RecordProblem[]; readonly all: boolean } {
    if (!this.#problemsLeftOut) return { recorded: this.#problems, all: true };
    const message = `more than ${MAX_PROBLEMS} records can't be used; the others have no review entries: fix these first`;
    const kind = this.#unreadable.size > 0 ? 'unreadable' : 'duplicate';
    const problems = [{ message }];
    const rest: RecordProblem = { kind, recordHash: REST, key: undefined, problems, excerpt: '', records: 0 };
    return { recorded: [...this.#problems, rest], all: false };
  }
}

function withRepairs(result: ReadPosting, repairs: readonly string[]): ReadPosting {
  const message = `the record is not well-formed XML, and was repaired: ${repairs.join(', ')}`;
  const notes = [...result.posting.notes, { message, repaired: true as const }];
  return { ...result, posting: { ...result.posting, notes } };
}

const batchMemory = (): Buffer => Buffer.allocUnsafeSlow(BATCH_MEMORY);

const excerptOf = (bytes: Buffer): string => bytes.subarray(0, EXCERPT_BYTES).toString('utf8');
