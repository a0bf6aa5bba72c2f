// A stretch of a feed with the records that end in it, each with its hash, and read already if there was the time: what
// splitting a feed comes to, piece by piece.
import { HASH_BYTES, writeRecordHash } from '../../posting/hash.ts';
import type { ReadPosting } from '../../posting/posting.ts';
import { GrowingBytes } from './growing-bytes.ts';
import { writeReading } from './written-reading.ts';

/** Bytes of a feed that a batch takes; besides, it has room for records that began before. */
export const CHUNK_BYTES = 1024 * 1024;
const ROOM_BYTES = 64 * 1024;

/**
 * Facts of a record: its start and its end (4 bytes each), its length in the feed if it is oversized (6), start and end of
 * what reading it gave (4 each; both 0: it was not read), its hash.
 */
const END_AT = 4;
const OVERSIZED_AT = 8;
const OVERSIZED_BYTES = 6;
const READING_AT = OVERSIZED_AT + OVERSIZED_BYTES;
const READING_END_AT = READING_AT + 4;
const HASH_AT = READING_END_AT + 4;
const FACTS_BYTES = HASH_AT + HASH_BYTES;
const FIRST_FACTS = 512 * FACTS_BYTES;

const NOTHING: Buffer = Buffer.alloc(0);

/** Records that are read ahead between two looks at the time. */
const READ_PER_CHUNK = 16;

/** Memory that had to grow further than this is not used again. */
const MOST_KEPT_BYTES = 5 * CHUNK_BYTES;

/** A batch on its way to another thread. */
export interface PackedBatch {
  readonly bytes: ArrayBuffer;
  readonly bytesUsed: number;
  readonly facts: ArrayBuffer;
  readonly factsUsed: number;
  readonly readings: ArrayBuffer;
  readonly readingsUsed: number;
  readonly hashed: number;
}

/** The memories of a batch, which are transferred with it. */
export const memoriesOf = (packed: PackedBatch): ArrayBuffer[] => [packed.bytes, packed.facts, packed.readings];

/** Records are in the order of the feed, and have numbers from 0 on. */
export class RecordBatch {
  readonly #bytes: GrowingBytes;
  readonly #facts: GrowingBytes;
  /** What reading the records gave, one behind the other, in their order. */
  readonly #readings: GrowingBytes;
  /** Records from this one on have no hash yet. */
  #hashed: number;
  /** Told from other memory by being the same object: asking memory whose it is costs more than a record's other facts. */
  #loaded = NOTHING;
  #loadedAt = 0;

  private constructor(bytes: GrowingBytes, facts: GrowingBytes, readings: GrowingBytes, hashed: number) {
    this.#bytes = bytes;
    this.#facts = facts;
    this.#readings = readings;
    this.#hashed = hashed;
  }

  static empty(): RecordBatch {
    return new RecordBatch(
      new GrowingBytes(Buffer.allocUnsafeSlow(CHUNK_BYTES + ROOM_BYTES)),
      new GrowingBytes(Buffer.allocUnsafeSlow(FIRST_FACTS)),
      new GrowingBytes(Buffer.allocUnsafeSlow(0)),
      0,
    );
  }

  /** The batch that another thread sent, loaded with all of its bytes. */
  static unpack(packed: PackedBatch): RecordBatch {
    const batch = new RecordBatch(
      new GrowingBytes(Buffer.from(packed.bytes), packed.bytesUsed),
      new GrowingBytes(Buffer.from(packed.facts), packed.factsUsed),
      new GrowingBytes(Buffer.from(packed.readings), packed.readingsUsed),
      packed.hashed,
    );
    batch.#loaded = batch.bytes;
    return batch;
  }

  /** Makes it ready to be sent to another thread, with {@link memoriesOf} it transferred. It must not be used afterwards. */
  pack(): PackedBatch {
    return {
      bytes: memoryOf(this.#bytes),
      bytesUsed: this.#bytes.length,
      facts: memoryOf(this.#facts),
      factsUsed: this.#facts.length,
      readings: memoryOf(this.#readings),
      readingsUsed: this.#readings.length,
      hashed: this.#hashed,
    };
  }

  get count(): number {
    return this.#facts.length / FACTS_BYTES;
  }

  /** The records' bytes, UTF-8, among others; valid until the batch is changed. */
  get bytes(): Buffer {
    return this.#bytes.bytes;
  }

  /** Holds the hash of each record from {@link hashAt} on; valid until the batch is changed. */
  get hashes(): Buffer {
    return this.#facts.bytes;
  }

  /** Where the record begins in {@link bytes}. */
  startOf(record: number): number {
    return this.#facts.memory.readUInt32LE(record * FACTS_BYTES);
  }

  endOf(record: number): number {
    return this.#facts.memory.readUInt32LE(record * FACTS_BYTES + END_AT);
  }

  /** Of a record that was too long to be kept, its length in the feed: the batch only has its first bytes. Otherwise 0. */
  oversizedLengthOf(record: number): number {
    return this.#facts.memory.readUIntLE(record * FACTS_BYTES + OVERSIZED_AT, OVERSIZED_BYTES);
  }

  /** What reading the record gave, if it was read, for `readingIn`; valid until the batch is changed. */
  readingOf(record: number): Buffer | undefined {
    const to = this.#facts.memory.readUInt32LE(record * FACTS_BYTES + READING_END_AT);
    if (to === 0) return undefined;
    return this.#readings.memory.subarray(this.#facts.memory.readUInt32LE(record * FACTS_BYTES + READING_AT), to);
  }

  /** Where the record's hash stands in {@link hashes}. */
  hashAt(record: number): number {
    return record * FACTS_BYTES + HASH_AT;
  }

  /** What it was loaded with last. */
  get loaded(): Buffer {
    return this.#loaded;
  }

  /** Takes a copy of `chunk[from..to)`, in which records are to be found. */
  load(chunk: Buffer, from = 0, to = chunk.length): Buffer {
    this.#loadedAt = this.#bytes.append(chunk, from, to);
    this.#loaded = this.#bytes.bytes.subarray(this.#loadedAt);
    return this.#loaded;
  }

  /** Adds the record `buffer[start..end)`: where it is, if `buffer` is {@link loaded}, or else a copy. */
  record(buffer: Buffer, start: number, end: number): void {
    const at = buffer === this.#loaded ? this.#loadedAt + start : this.#bytes.append(buffer, start, end);
    this.#add(at, end - start, 0);
  }

  /** Adds the first bytes of a record that is too long, with its length. */
  oversized(head: Buffer, length: number): void {
    this.#add(this.#bytes.append(head), head.length, length);
  }

  /** Hashes what was added since the last time. */
  hash(): void {
    const { bytes, hashes, count } = this;
    for (; this.#hashed < count; this.#hashed++) {
      writeRecordHash(bytes, this.startOf(this.#hashed), this.endOf(this.#hashed), hashes, this.hashAt(this.#hashed));
    }
  }

  /**
   * Reads records ahead: what `read` makes of each one's bytes is there as {@link readingOf}; `undefined`: nothing.
   * @param hasTime asked every few records; without time, the rest is left as it is.
   */
  prefetch(read: (record: Buffer) => ReadPosting | undefined, hasTime: () => boolean): void {
    const { bytes, count } = this;
    if (this.#readings.memory.length === 0) this.#readings.reserve(CHUNK_BYTES + ROOM_BYTES);
    for (let record = 0; record < count; record++) {
      if (record % READ_PER_CHUNK === 0 && !hasTime()) return;
      if (this.oversizedLengthOf(record) > 0) continue;
      const result = read(bytes.subarray(this.startOf(record), this.endOf(record)));
      if (result === undefined) continue;
      const start = this.#readings.length;
      writeReading(result, this.#readings);
      const facts = this.#facts.memory;
      facts.writeUInt32LE(start, record * FACTS_BYTES + READING_AT);
      facts.writeUInt32LE(this.#readings.length, record * FACTS_BYTES + READING_END_AT);
    }
  }

  clear(): void {
    this.#loaded = NOTHING;
    this.#bytes.clear();
    this.#facts.clear();
    this.#readings.clear();
    this.#hashed = 0;
  }

  /** Whether its memory is small enough to be used again. */
  get isWorthKeeping(): boolean {
    const memory = this.#bytes.memory.length + this.#facts.memory.length + this.#readings.memory.length;
    return memory <= MOST_KEPT_BYTES;
  }

  #add(start: number, length: number, oversizedLength: number): void {
    const at = this.#facts.extend(FACTS_BYTES);
    const facts = this.#facts.memory;
    facts.writeUInt32LE(start, at);
    facts.writeUInt32LE(start + length, at + END_AT);
    facts.writeUIntLE(oversizedLength, at + OVERSIZED_AT, OVERSIZED_BYTES);
    facts.writeUInt32LE(0, at + READING_AT);
    facts.writeUInt32LE(0, at + READING_END_AT);
  }
}

/** Its memory, which nothing else is in: it is never taken from a pool. */
const memoryOf = (bytes: GrowingBytes): ArrayBuffer => bytes.memory.buffer as ArrayBuffer;
