// Receives the records of a feed as they stream in: counts them, skips the known ones, and keeps the others to be parsed.
import type { RecordBatch } from '../feed/batch/record-batch.ts';
import { HASH_BYTES, interpretedHash } from '../posting/hash.ts';
import type { RecordRules } from './feed-setup.ts';
import type { PullLedger, SeenRecord } from './pull-ledger.ts';
import type { RecordReader } from './read-record.ts';
import { RecordSample } from './record-sample.ts';
import { type UnreadableRecord, UnusableRecords, WaitingRecords } from './unusable-records.ts';

/** Lists of only the newest postings have fewer records. */
export const MOST_LISTED = 2_000;

export class RecordIntake {
  readonly ledger: PullLedger;
  readonly unusable: UnusableRecords;
  readonly waiting: WaitingRecords;
  readonly #interpretation: Buffer;
  readonly #recoverKey: RecordReader['recoverKey'];
  /** `undefined` once a record is known, unless the last pull had no records: earlier pulls have read this feed like this. */
  #sample: RecordSample | undefined;
  readonly #samplesKnown: boolean;
  /** The hashes of all records in their order, as they are stored; `undefined`: the feed lists all, or has too many. */
  listed: Buffer[] | undefined;

  /** @param samplesKnown look for mistakes even if all records are known, because the stored warnings come from a pull without records. */
  constructor(rules: RecordRules, ledger: PullLedger, recoverKey: RecordReader['recoverKey'], samplesKnown = false) {
    this.ledger = ledger;
    this.unusable = new UnusableRecords(rules.mask);
    this.waiting = new WaitingRecords(rules.mask);
    this.#interpretation = rules.interpretation;
    this.#recoverKey = recoverKey;
    this.#sample = new RecordSample(rules);
    this.#samplesKnown = samplesKnown;
    this.listed = rules.mayListNewest === undefined ? undefined : [];
  }

  /** @param isDue whether the record whose hash starts there is parsed even if it is known. */
  take(batch: RecordBatch, isDue?: (hashes: Buffer, at: number) => boolean): void {
    const { hashes, count } = batch;
    for (let record = 0; record < count; record++) this.ledger.expectRecord(hashes, batch.hashAt(record));
    for (let record = 0; record < count; record++) {
      if (batch.oversizedLengthOf(record) > 0) {
        this.#skipOversized(batch, record);
      } else {
        const at = batch.hashAt(record);
        const mustParse = isDue?.(hashes, at) === true;
        const seenRecord = mustParse ? this.ledger.seeDue(hashes, at) : this.ledger.seeRecord(hashes, at);
        if (seenRecord !== undefined) this.waiting.add(seenRecord, batch, record);
      }
    }
    if (this.#sample !== undefined) this.#takeSample(this.#sample, batch);
    if (this.listed !== undefined) this.#takeListed(this.listed, batch);
  }

  /** Likely mistakes of the mapping; `undefined` if earlier pulls have read some of the records with it. */
  mistakes(): readonly string[] | undefined {
    return this.ledger.seen === 0 ? undefined : this.#sample?.mistakes();
  }

  noteUnreadable(record: UnreadableRecord): void {
    this.ledger.unreadable++;
    this.unusable.noteUnreadable(record);
  }

  /** Applying the interpretation to the stored hash again returns the hash of the bytes. */
  bytesHashOf({ hash }: SeenRecord): Buffer {
    return interpretedHash(hash, 0, this.#interpretation);
  }

  #takeListed(listed: Buffer[], batch: RecordBatch): void {
    if (listed.length + batch.count > MOST_LISTED) this.listed = undefined;
    else
      for (let record = 0; record < batch.count; record++)
        listed.push(interpretedHash(batch.hashes, batch.hashAt(record), this.#interpretation));
  }

  #takeSample(sample: RecordSample, batch: RecordBatch): void {
    if (this.ledger.hasSeenKnown && !this.#samplesKnown) this.#sample = undefined;
    else sample.take(batch);
  }

  #skipOversized(batch: RecordBatch, record: number): void {
    const ordinal = this.ledger.countRecord();
    const oversized = batch.oversizedLengthOf(record);
    const message = `the record is ${oversized} bytes long, more than limits.max_record_bytes allows; it was skipped`;
    const hash = Buffer.from(batch.hashes.subarray(batch.hashAt(record), batch.hashAt(record) + HASH_BYTES));
    const head = batch.recordOf(record);
    this.noteUnreadable({ hash, bytes: head, problems: [{ message }], key: this.#recoverKey(head), ordinal });
  }
}
