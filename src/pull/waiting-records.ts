// Keeps copies of the records that have to be parsed, in memory that is reused from batch to batch.
import type { RecordBatch } from '../feed/batch/record-batch.ts';
import type { SecretMask } from '../feed/source/sources.ts';
import type { SeenRecord } from './pull-ledger.ts';
import { EXCERPT_BYTES } from './unusable-records.ts';

/** A batch of records to parse is full at either limit; the bytes limit memory. */
const BATCH_RECORDS = 128;
const BATCH_BYTES = 1 << 20;
/** A batch can exceed its bytes by the records that end in one more chunk, or by their packed postings and excerpts. */
const BATCH_MEMORY = 2 * BATCH_BYTES;
/** Enough for the batch of a small pull: megabytes for each pull of many small feeds would mostly occupy the garbage collector. */
const FIRST_MEMORY = 1 << 16;

const NO_MEMORY: Buffer = Buffer.alloc(0);

/** A record that has to be parsed and planned. */
export interface WaitingRecord extends SeenRecord {
  /** The record's bytes; only an excerpt if it was parsed ahead. */
  readonly bytes: Buffer;
  /** For `unpackPosting`, if the record was parsed ahead. */
  readonly packedPosting: Buffer | undefined;
}

/** Collects records until a batch is taken. The copies of a batch stay valid until the batch after the next is taken. */
export class WaitingRecords {
  readonly #mask: SecretMask | undefined;
  #records: WaitingRecord[] = [];
  #bytes = 0;
  /**
   * Three buffers in rotation: the first holds the waiting records, the second the batch being planned, and the third
   * the batch before it, whose last records may still be in use by the database.
   */
  #memories: [Buffer, Buffer, Buffer] = [NO_MEMORY, NO_MEMORY, NO_MEMORY];

  constructor(mask?: SecretMask) {
    this.#mask = mask;
  }

  get isFull(): boolean {
    return this.#records.length >= BATCH_RECORDS || this.#bytes >= BATCH_BYTES;
  }

  /** Copies the parts of a record that planning needs, because the record batch is reused at once. */
  add({ hash, ordinal }: SeenRecord, batch: RecordBatch, record: number): void {
    const [start, end] = [batch.startOf(record), batch.endOf(record)];
    // What was parsed ahead was read with the secrets that the record may hold.
    const ahead = batch.packedPostingOf(record);
    const mustParse = ahead !== undefined && this.#mask?.mayHold(batch.bytes.subarray(start, end)) === true;
    const packedPosting = mustParse ? undefined : ahead;
    if (packedPosting === undefined) {
      this.#records.push({ hash, ordinal, bytes: this.#keep(batch.bytes, start, end, batch.prefix), packedPosting });
      return;
    }
    this.#records.push({
      hash,
      ordinal,
      bytes: this.#keep(batch.bytes, start, Math.min(end, start + EXCERPT_BYTES), batch.prefix),
      packedPosting: this.#keep(packedPosting, 0, packedPosting.length, NOTHING),
    });
  }

  /** Takes the records that are waiting; more may be added at once. */
  takeBatch(): readonly WaitingRecord[] {
    const batch = this.#records;
    this.#records = [];
    this.#bytes = 0;
    const [filled, planned, written] = this.#memories;
    this.#memories = [written, filled, planned];
    return batch;
  }

  /** Bytes that do not fit in the batch's memory get their own. */
  #keep(buffer: Buffer, start: number, end: number, prefix: Buffer): Buffer {
    const from = this.#bytes;
    this.#bytes += prefix.length + end - start;
    if (this.#bytes > this.#memories[0].length) this.#grow();
    const [memory] = this.#memories;
    if (this.#bytes > memory.length) return Buffer.concat([prefix, buffer.subarray(start, end)]);
    if (prefix.length > 0) prefix.copy(memory, from);
    buffer.copy(memory, from + prefix.length, start, end);
    return memory.subarray(from, this.#bytes);
  }

  /** Makes room for the whole batch, up to its limit. What was kept before stays valid in its former memory. */
  #grow(): void {
    const [{ length }] = this.#memories;
    if (length === BATCH_MEMORY) return;
    const isSmall = length === 0 && this.#bytes <= FIRST_MEMORY;
    this.#memories[0] = Buffer.allocUnsafeSlow(isSmall ? FIRST_MEMORY : BATCH_MEMORY);
  }
}

const NOTHING = Buffer.alloc(0);
