// A stretch of a feed with the records that end in it, each with its hash: what splitting a feed comes to, piece by piece.
import { HASH_BYTES, writeRecordHash } from '../posting/hash.ts';
import { GrowingBytes } from './growing-bytes.ts';

/** Bytes of a feed that a batch takes; besides, it has room for records that began before. */
export const STRETCH_BYTES = 1024 * 1024;
const ROOM_BYTES = 64 * 1024;

/** Facts of a record: its start and its end (4 bytes each), its length in the feed if it is oversized (6), its hash. */
const END_AT = 4;
const OVERSIZED_AT = 8;
const OVERSIZED_BYTES = 6;
const HASH_AT = OVERSIZED_AT + OVERSIZED_BYTES;
const FACTS_BYTES = HASH_AT + HASH_BYTES;
const FIRST_FACTS = 512 * FACTS_BYTES;

/** Memory that had to grow further than this is not used again. */
const MOST_KEPT_BYTES = 4 * STRETCH_BYTES;

/** A batch on its way to another thread. */
export interface PackedBatch {
  readonly bytes: ArrayBuffer;
  readonly bytesUsed: number;
  readonly facts: ArrayBuffer;
  readonly factsUsed: number;
  readonly hashed: number;
}

/** Records are in the order of the feed, and have numbers from 0 on. */
export class RecordBatch {
  readonly #bytes: GrowingBytes;
  readonly #facts: GrowingBytes;
  /** Records from this one on have no hash yet. */
  #hashed: number;

  private constructor(bytes: GrowingBytes, facts: GrowingBytes, hashed: number) {
    this.#bytes = bytes;
    this.#facts = facts;
    this.#hashed = hashed;
  }

  static empty(): RecordBatch {
    return new RecordBatch(
      new GrowingBytes(Buffer.allocUnsafeSlow(STRETCH_BYTES + ROOM_BYTES)),
      new GrowingBytes(Buffer.allocUnsafeSlow(FIRST_FACTS)),
      0,
    );
  }

  /** The batch that another thread sent. */
  static unpack({ bytes, bytesUsed, facts, factsUsed, hashed }: PackedBatch): RecordBatch {
    return new RecordBatch(
      new GrowingBytes(Buffer.from(bytes), bytesUsed),
      new GrowingBytes(Buffer.from(facts), factsUsed),
      hashed,
    );
  }

  /** Makes it ready to be sent to another thread, with both memories transferred. It must not be used afterwards. */
  pack(): PackedBatch {
    return {
      bytes: memoryOf(this.#bytes),
      bytesUsed: this.#bytes.length,
      facts: memoryOf(this.#facts),
      factsUsed: this.#facts.length,
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

  /** Where the record's hash stands in {@link hashes}. */
  hashAt(record: number): number {
    return record * FACTS_BYTES + HASH_AT;
  }

  /** Takes a copy of `chunk[from..to)`, in which records are to be found. */
  load(chunk: Buffer, from = 0, to = chunk.length): Buffer {
    const at = this.#bytes.append(chunk, from, to);
    return this.#bytes.bytes.subarray(at);
  }

  /** Adds the record `buffer[start..end)`: where it is, if the batch was loaded with it, or else a copy. */
  record(buffer: Buffer, start: number, end: number): void {
    const { memory } = this.#bytes;
    if (buffer.buffer !== memory.buffer) this.#add(this.#bytes.append(buffer, start, end), end - start, 0);
    else this.#add(buffer.byteOffset - memory.byteOffset + start, end - start, 0);
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

  clear(): void {
    this.#bytes.clear();
    this.#facts.clear();
    this.#hashed = 0;
  }

  /** Whether its memory is small enough to be used again. */
  get isWorthKeeping(): boolean {
    return this.#bytes.memory.length + this.#facts.memory.length <= MOST_KEPT_BYTES;
  }

  #add(start: number, length: number, oversizedLength: number): void {
    const at = this.#facts.extend(FACTS_BYTES);
    const facts = this.#facts.memory;
    facts.writeUInt32LE(start, at);
    facts.writeUInt32LE(start + length, at + END_AT);
    facts.writeUIntLE(oversizedLength, at + OVERSIZED_AT, OVERSIZED_BYTES);
  }
}

/** Its memory, which nothing else is in: it is never taken from a pool. */
const memoryOf = (bytes: GrowingBytes): ArrayBuffer => bytes.memory.buffer as ArrayBuffer;
