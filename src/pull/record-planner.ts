// Receives the records of a feed as they stream in, skips the known ones, and has the others read and planned in batches.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RecordBatch } from '../feed/batch/record-batch.ts';
import type { RecordSink } from '../feed/feed-reading.ts';
import { HASH_BYTES, interpretedHash } from '../posting/hash.ts';
import type { MappingSpec } from '../posting/mapping.ts';
import type { Database } from '../store/postgres/database.ts';
import type { PullTransaction } from '../store/pull/pull-transaction.ts';
import { type Edits, editsOf } from '../store/review/override.ts';
import type { RecordRules } from './feed-setup.ts';
import { planPostings, type RecordPosting } from './plan-postings.ts';
import { PullLedger } from './pull-ledger.ts';
import { compileRecordReader, type RecordReader } from './read-record.ts';
import { type UnreadableRecord, UnusableRecords } from './unusable-records.ts';
import { type WaitingRecord, WaitingRecords } from './waiting-records.ts';

/**
 * Records that are parsed, looked up and written together; slightly more, so no group is left with only a few. Looking
 * up twice as many takes only 50 % longer. Without known postings there is no lookup, and smaller groups save memory.
 */
const LOOKED_UP_RECORDS = 128;
const WRITTEN_RECORDS = 32;
/** Records parsed without yielding to the event loop. */
const PORTION_RECORDS = 8;

/** Plans the records of one pull. The next batch fills while the previous one is parsed and written. */
export class RecordPlanner implements RecordSink {
  readonly ledger: PullLedger;
  readonly unusable = new UnusableRecords();
  readonly #rules: RecordRules;
  readonly #pullTx: PullTransaction;
  readonly #edits: Edits;
  readonly #reader: RecordReader;
  readonly #waiting = new WaitingRecords();
  #planning: Promise<void> = Promise.resolve();
  #writing: Promise<void> = Promise.resolve();

  private constructor(rules: RecordRules, pullTx: PullTransaction, ledger: PullLedger, edits: Edits) {
    this.#rules = rules;
    this.#pullTx = pullTx;
    this.ledger = ledger;
    this.#edits = edits;
    this.#reader = compileRecordReader(rules, edits);
  }

  static async open(rules: RecordRules, pullTx: PullTransaction, db: Database): Promise<RecordPlanner> {
    const { feed } = pullTx.subject;
    const index = await pullTx.loadIndex();
    const options = { isPaged: rules.isPaged, skipped: await pullTx.loadSkipped() };
    const ledger = new PullLedger(index, rules.interpretation, options);
    return new RecordPlanner(rules, pullTx, ledger, await editsOf(db, feed));
  }

  /** The mapping for parsing records ahead, if every record has to be parsed anyway and no posting has been edited. */
  get prefetchMapping(): MappingSpec | undefined {
    const { nothingKnown, hasSkipped } = this.#pullTx;
    const { mapping, reader } = this.#rules;
    const isSynchronous = reader.prepare === undefined;
    return nothingKnown && !hasSkipped && this.#edits.none && isSynchronous ? mapping : undefined;
  }

  take(batch: RecordBatch): void {
    const { hashes, count } = batch;
    for (let record = 0; record < count; record++) this.ledger.expectRecord(hashes, batch.hashAt(record));
    for (let record = 0; record < count; record++) {
      if (batch.oversizedLengthOf(record) > 0) {
        this.#skipOversized(batch, record);
      } else {
        const seenRecord = this.ledger.seeRecord(hashes, batch.hashAt(record));
        if (seenRecord !== undefined) this.#waiting.add(seenRecord, batch, record);
      }
    }
  }

  drain(): Promise<void> | undefined {
    return this.#waiting.isFull ? this.#startBatch() : undefined;
  }

  /** Plans the remaining records; resolves when everything is written to the database. */
  async finish(): Promise<void> {
    await this.#startBatch();
    await this.#planning;
    await this.#writing;
    await this.#sendUnreadableKeys();
    await this.#pullTx.flush();
    await this.#pullTx.removeSkipped(this.ledger.unseenSkipped());
  }

  /** Starts planning the waiting records once the previous batch is planned. More may arrive meanwhile. */
  async #startBatch(): Promise<void> {
    await this.#planning;
    this.#planning = this.#planBatch(this.#waiting.takeBatch());
    // Reported by the next await; never an unhandled rejection meanwhile.
    this.#planning.catch(() => undefined);
  }

  /** Plans a few records at a time: objects that survive two garbage collections are the most expensive ones. */
  async #planBatch(batch: readonly WaitingRecord[]): Promise<void> {
    const together = this.#pullTx.nothingKnown ? WRITTEN_RECORDS : LOOKED_UP_RECORDS;
    const plans = Math.max(1, Math.floor(batch.length / together));
    const records = Math.ceil(batch.length / plans);
    for (let from = 0; from < batch.length; from += records) {
      await this.#startPlan(batch.slice(from, from + records));
    }
  }

  /** Parses records, waits until the previous ones are written, and starts writing these. */
  async #startPlan(records: readonly WaitingRecord[]): Promise<void> {
    const postings: RecordPosting[] = [];
    const skipped: Buffer[] = [];
    for (const [at, record] of records.entries()) {
      // Yield so that the previous group can receive its database results and send its next statement.
      if (at % PORTION_RECORDS === PORTION_RECORDS - 1) await nextTurn();
      const reading = this.#reader.read(record);
      const read = reading instanceof Promise ? await reading : reading;
      if (read.kind === 'skipped') {
        if (this.ledger.skipRecord(record)) skipped.push(record.hash);
      } else if (read.kind !== 'unreadable') postings.push({ record, read });
      else this.#noteUnreadable({ ...read, hash: this.#bytesHashOf(record), bytes: record.bytes });
    }
    await this.#writing;
    this.#writing = this.#plan(postings, skipped);
    // Reported by the next await; never an unhandled rejection meanwhile.
    this.#writing.catch(() => undefined);
  }

  async #plan(postings: readonly RecordPosting[], skipped: readonly Buffer[]): Promise<void> {
    await this.#sendUnreadableKeys();
    await this.#pullTx.addSkipped(skipped);
    await planPostings(postings, this.#pullTx, this.ledger, this.unusable);
  }

  #skipOversized(batch: RecordBatch, record: number): void {
    this.ledger.seen++;
    const oversized = batch.oversizedLengthOf(record);
    const message = `the record is ${oversized} bytes long, more than limits.max_record_bytes allows; it was skipped`;
    const hash = Buffer.from(batch.hashes.subarray(batch.hashAt(record), batch.hashAt(record) + HASH_BYTES));
    const head = batch.bytes.subarray(batch.startOf(record), batch.endOf(record));
    this.#noteUnreadable({ hash, bytes: head, problems: [{ message }], key: this.#reader.recoverKey(head) });
  }

  #noteUnreadable(record: UnreadableRecord): void {
    this.ledger.unreadable++;
    this.unusable.noteUnreadable(record);
  }

  /** Applying the interpretation to the stored hash again returns the hash of the bytes. */
  #bytesHashOf({ hash }: WaitingRecord): Buffer {
    return interpretedHash(hash, 0, this.#rules.interpretation);
  }

  async #sendUnreadableKeys(): Promise<void> {
    await this.#pullTx.addUnreadableKeys(this.unusable.takeNewKeys());
  }
}
