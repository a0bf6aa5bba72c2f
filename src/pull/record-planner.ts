// Has the records of a feed read and planned in batches: those that stream in, or those of a list with its details.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RecordBatch } from '../feed/batch/record-batch.ts';
import type { RecordSink } from '../feed/feed-reading.ts';
import { createOnlyOf } from '../plan/desired-change.ts';
import { updatesJobs } from '../plan/policy.ts';
import type { FieldMapping } from '../posting/field-mapping.ts';
import { hasPlaces } from '../posting/places.ts';
import type { PostingsOfPlaces } from '../posting/posting.ts';
import { type Edits, editsOf } from '../store/change/edit.ts';
import type { Database } from '../store/postgres/database.ts';
import type { FieldsToStore, PullTransaction } from '../store/pull/pull-transaction.ts';
import { DatedRecords } from './dated-records.ts';
import type { DetailReader } from './detail-reader.ts';
import type { DetailedList } from './detailed-list.ts';
import { type DetailedRecord, detailedRecords } from './detailed-list.ts';
import type { RecordRules } from './feed-setup.ts';
import { PLACES_BYTES, type PlannedRecord, planPostings, type RecordPosting } from './plan-group.ts';
import { PullLedger } from './pull-ledger.ts';
import { placeHashes } from './pull-slots.ts';
import { compileRecordReader, type RecordReader } from './read-record.ts';
import { RecordIntake } from './record-intake.ts';
import type { UnusableRecords, WaitingRecord } from './unusable-records.ts';

/**
 * Records that are parsed, looked up and written together; slightly more, so no group is left with only a few. Looking
 * up twice as many takes only 50 % longer. Without known postings there is no lookup, and smaller groups save memory.
 */
const LOOKED_UP_RECORDS = 128;
const WRITTEN_RECORDS = 32;
/** Records parsed without yielding to the event loop. */
const PORTION_RECORDS = 8;
const SLOW_MS = 20;

interface Opened {
  readonly intake: RecordIntake;
  readonly edits: Edits;
  readonly reader: RecordReader;
  /** For a feed with details. */
  readonly list: DetailedList | undefined;
  /** For a feed with conditions on dates. */
  readonly dated: DatedRecords | undefined;
}

/** Plans the records of one pull. The next batch fills while the previous one is parsed and written. */
export class RecordPlanner implements RecordSink {
  readonly ledger: PullLedger;
  readonly unusable: UnusableRecords;
  readonly #rules: RecordRules;
  readonly #pullTx: PullTransaction;
  readonly #edits: Edits;
  readonly #reader: RecordReader;
  readonly #intake: RecordIntake;
  readonly #list: DetailedList | undefined;
  readonly dated: DatedRecords | undefined;
  #planning: Promise<void> = Promise.resolve();
  #writing: Promise<void> = Promise.resolve();

  private constructor(rules: RecordRules, pullTx: PullTransaction, { intake, edits, reader, list, dated }: Opened) {
    this.#rules = rules;
    this.#pullTx = pullTx;
    this.#intake = intake;
    this.ledger = intake.ledger;
    this.unusable = intake.unusable;
    this.#edits = edits;
    this.#reader = reader;
    this.#list = list;
    this.dated = dated;
  }

  /** Opens a planner that receives the records of a feed. @param samplesKnown see `RecordIntake`. */
  static async open(
    rules: RecordRules,
    pullTx: PullTransaction,
    db: Database,
    samplesKnown = false,
  ): Promise<RecordPlanner> {
    const { feed } = pullTx.subject;
    const index = await pullTx.loadIndex();
    const { isPaged, interpretation, mapping } = rules;
    const dated = await DatedRecords.load(pullTx.session, feed, rules);
    const skipped = await pullTx.loadSkipped();
    const options = { isPaged, hasPlaces: hasPlaces(mapping), skipped, isDated: dated !== undefined };
    const ledger = new PullLedger(index, interpretation, options);
    const edits = await editsOf(db, feed);
    const reader = compileRecordReader(rules, edits);
    const intake = new RecordIntake(rules, ledger, reader.recoverKey, samplesKnown);
    return new RecordPlanner(rules, pullTx, { intake, edits, reader, list: undefined, dated });
  }

  /** Opens a planner for the records of a list, once its details were requested. */
  static async ofList(
    rules: RecordRules,
    pullTx: PullTransaction,
    db: Database,
    list: DetailedList,
  ): Promise<RecordPlanner> {
    await pullTx.lookAtFeed();
    const edits = await editsOf(db, pullTx.subject.feed);
    const reader = compileRecordReader(rules, edits);
    return new RecordPlanner(rules, pullTx, { intake: list.intake, edits, reader, list, dated: list.dated });
  }

  /** See `RecordIntake`. */
  get listed(): readonly Buffer[] | undefined {
    return this.#intake.listed;
  }

  /** Absent unless the list lacks a part of each posting. */
  get details(): DetailReader | undefined {
    return this.#list?.reader;
  }

  /** The mapping for parsing records ahead, if every record has to be parsed anyway and no posting has been edited. */
  get prefetchMapping(): FieldMapping | undefined {
    const { nothingKnown, hasSkipped } = this.#pullTx;
    const { mapping, reader } = this.#rules;
    const isSynchronous = reader.prepare === undefined;
    const isSimple = this.#edits.none && isSynchronous && !hasPlaces(mapping) && mapping.createOnly === undefined;
    return nothingKnown && !hasSkipped && isSimple && this.dated === undefined ? mapping : undefined;
  }

  take(batch: RecordBatch): void {
    const { dated } = this;
    this.#intake.take(batch, dated && ((hashes, at) => dated.seeRecord(hashes, at)));
  }

  /** Likely mistakes of the mapping; `undefined` if earlier pulls have read some of the records with it. */
  mistakes(): readonly string[] | undefined {
    return this.#intake.mistakes();
  }

  drain(): Promise<void> | undefined {
    return this.#intake.waiting.isFull ? this.#startBatch() : undefined;
  }

  /** Plans the remaining records; resolves when everything is written to the database. */
  async finish(): Promise<void> {
    if (this.#list === undefined) await this.#startBatch();
    else for await (const group of detailedRecords(this.#list, this.#reader)) await this.#planRead(group);
    await this.#planning;
    await this.#writing;
    await this.#sendUnreadableKeys();
    await this.#pullTx.flush();
    if (this.dated === undefined) {
      await this.#pullTx.removeSkipped(this.ledger.unseenSkipped());
      await this.#pullTx.removeDated();
    } else await this.dated.write(this.#pullTx.session, true);
  }

  /**
   * Forgets what is known of records that the feed no longer has. To be called once the feed was read to its proven end. A record that a
   * date skips is still that of a mapping, so an incomplete pull that does not see it must not forget that it is skipped.
   */
  async forgetUnseen(): Promise<void> {
    if (this.dated === undefined) return;
    await this.#pullTx.removeSkipped(this.ledger.unseenSkipped());
    await this.dated.removeUnseen(this.#pullTx.session);
  }

  /** Starts planning the waiting records once the previous batch is planned. More may arrive meanwhile. */
  async #startBatch(): Promise<void> {
    await this.#planning;
    this.#planning = this.#planBatch(this.#intake.waiting.takeBatch());
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

  /** Parses records, and plans them. */
  async #startPlan(records: readonly WaitingRecord[]): Promise<void> {
    const all: DetailedRecord[] = [];
    for (const [at, record] of records.entries()) {
      // Yield so that the previous group can receive its database results and send its next statement.
      if (at % PORTION_RECORDS === PORTION_RECORDS - 1) await nextTurn();
      const begun = performance.now();
      const reading = this.#reader.read(record);
      all.push({ record, read: reading instanceof Promise ? await reading : reading, bytes: record.bytes.length });
      // An expression may take up to its limits for each of many records.
      if (performance.now() - begun > SLOW_MS) await nextTurn();
    }
    await this.#planRead(all);
  }

  /** Counts records that were read, waits until the previous ones are written, and starts writing these. */
  async #planRead(records: readonly DetailedRecord[]): Promise<void> {
    const postings: RecordPosting[] = [];
    const skipped: Buffer[] = [];
    const unskipped: Buffer[] = [];
    let bytes = 0;
    for (const { record, read, bytes: size } of records) {
      this.dated?.note(record, read);
      const isDecided = read.kind !== 'postponed' && read.until !== undefined;
      if (isDecided && read.kind !== 'skipped' && this.ledger.wasSkipped(record)) unskipped.push(record.hash);
      if (read.kind === 'skipped') {
        if (this.ledger.skipRecord(record) && read.isUncertain !== true) skipped.push(record.hash);
        this.ledger.noteSkippedKey(read.key);
      } else if (read.kind === 'postponed') {
        this.ledger.unreadable++;
        this.unusable.noteKey(read.key);
      } else if (read.kind === 'places') {
        for (const posting of this.#placesOf(record, read)) {
          postings.push(posting);
          bytes += size;
          if (postings.length < LOOKED_UP_RECORDS && bytes < PLACES_BYTES) continue;
          await this.#startWriting(postings.splice(0), skipped.splice(0));
          bytes = 0;
        }
      } else if (read.kind !== 'unreadable') postings.push({ record, read });
      else this.#intake.noteUnreadable({ ...read, ...record, hash: this.#intake.bytesHashOf(record) });
    }
    await this.#startWriting(postings, skipped, unskipped);
  }

  async #startWriting(
    postings: readonly RecordPosting[],
    skipped: readonly Buffer[],
    unskipped: readonly Buffer[] = [],
  ): Promise<void> {
    await this.#writing;
    this.#writing = this.#plan(postings, skipped, unskipped);
    // Reported by the next await; never an unhandled rejection meanwhile.
    this.#writing.catch(() => undefined);
  }

  /** Notes a record with several places. Returns its postings, each with a hash of its own. */
  #placesOf(record: PlannedRecord, { key, postings, isUnclear }: PostingsOfPlaces<FieldsToStore>): RecordPosting[] {
    this.ledger.countPlaces(postings.length);
    if (isUnclear) this.unusable.noteKey(key);
    const hashes = placeHashes(record.hash, postings.length, isUnclear);
    return postings.map((read, place) => ({ record: { ...record, hash: hashes[place] as Buffer }, read }));
  }

  async #plan(
    postings: readonly RecordPosting[],
    skipped: readonly Buffer[],
    unskipped: readonly Buffer[],
  ): Promise<void> {
    await this.#sendUnreadableKeys();
    await this.#pullTx.addSkipped(skipped);
    if (this.dated !== undefined) await this.#pullTx.writeDated(this.dated, unskipped);
    const { policy, mapping } = this.#rules;
    const limits = { mayUpdate: updatesJobs(policy), createOnly: createOnlyOf(mapping) };
    await planPostings(postings, this.#pullTx, this.ledger, this.unusable, limits);
  }

  async #sendUnreadableKeys(): Promise<void> {
    await this.#pullTx.addUnreadableKeys(this.unusable.takeNewKeys());
  }
}
