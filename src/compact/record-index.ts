// A compact index over hashes, mostly of records: which are known, what each belongs to, and where each was seen.
import { HASH_BYTES } from '../posting/hash.ts';

/** The position of a record hash in the table; -1 if it is not in the index. */
export type Slot = number;

/** What a hash belongs to. Each user names its marks: {@link RecordMark} are those of a feed's mappings. */
export type HashMark = 1 | 2 | 3;

/** The mark of an index whose hashes all belong to the same thing. */
export const ONLY_MARK: HashMark = 1;

/** What the record hash of a mapping or of an open change belongs to. */
export const RecordMark = {
  /** The mapping's record, with no open change: seeing it again is enough. */
  mapped: 1,
  /** The mapping's record, with an open change: the posting must be planned again. */
  superseding: 2,
  /** The record of an open change: the desired state is the same. */
  open: 3,
} as const satisfies Record<string, HashMark>;
export type RecordMark = (typeof RecordMark)[keyof typeof RecordMark];

/** Four words that are XORed with those of a hash before it is looked up. */
export type HashMask = readonly [number, number, number, number];

/** @param hash its first 16 bytes count */
export const maskOf = (hash: Buffer): HashMask => [
  hash.readUInt32LE(0),
  hash.readUInt32LE(4),
  hash.readUInt32LE(8),
  hash.readUInt32LE(12),
];

/** A slot: the hash in four words, then the mark (2 bits; 0: free), the accounted-for bit, and the ordinal seen. */
const HASH_WORDS = HASH_BYTES / 4;
const SLOT_WORDS = HASH_WORDS + 1;
const MARK_SHIFT = 30;
const ACCOUNTED = 1 << 29;
/** The ordinal plus one; 0 means not seen. */
const SEEN = ACCOUNTED - 1;
/** Share of occupied slots; fuller tables take less memory and more probing. */
const USUAL_LOAD = 0.7;

/** The largest ordinal that a slot can hold. */
export const MAX_ORDINAL = SEEN - 1;

/**
 * An open-addressing hash table over 16-byte hashes in one typed array: 20 bytes per slot, mostly within one cache
 * line, and 29 bytes per entry at full load. Hashes are uniform already, so their first word selects the slot. Single
 * entries can't be removed.
 */
export class RecordIndex {
  readonly #maxLoad: number;
  #capacity: number;
  #words: Uint32Array;
  #size = 0;
  /** Never read. Storing the result keeps the prefetching read from being optimised away. */
  #fetched = 0;

  /** @param expected number of entries; exceeding it only costs a rebuild. */
  constructor(expected = 0, maxLoad = USUAL_LOAD) {
    this.#maxLoad = maxLoad;
    this.#capacity = Math.max(64, Math.ceil(expected / maxLoad) + 1);
    this.#words = new Uint32Array(this.#capacity * SLOT_WORDS);
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes of memory that the table takes. */
  get byteLength(): number {
    return this.#words.byteLength;
  }

  /**
   * Prefetches the memory where the hash will be added or found. The CPU overlaps many such reads in a row, while
   * {@link add} and {@link find} wait for each.
   */
  expect(bytes: Buffer, at: number): void {
    this.#fetched ^= this.#state(this.#firstSlotOf(bytes.readUInt32LE(at)));
  }

  /** Like {@link expect}, for {@link findMasked}. */
  expectMasked(bytes: Buffer, at: number, mask: HashMask): void {
    this.#fetched ^= this.#state(this.#firstSlotOf((bytes.readUInt32LE(at) ^ mask[0]) >>> 0));
  }

  /** Adds the hash that starts at `at` in `bytes`, or finds it; an existing entry keeps its mark. */
  add(bytes: Buffer, mark: HashMark, at = 0): Slot {
    if (this.#size + 1 > this.#capacity * this.#maxLoad) this.#grow();
    const a = bytes.readUInt32LE(at);
    const b = bytes.readUInt32LE(at + 4);
    const c = bytes.readUInt32LE(at + 8);
    const d = bytes.readUInt32LE(at + 12);
    const slot = this.#slotOf(a, b, c, d);
    if (this.#isFree(slot)) {
      this.#put(slot, a, b, c, d, mark << MARK_SHIFT);
      this.#size++;
    }
    return slot;
  }

  /** Finds the hash that starts at `at` in `bytes`. */
  find(bytes: Buffer, at = 0): Slot {
    const slot = this.#slotOf(
      bytes.readUInt32LE(at),
      bytes.readUInt32LE(at + 4),
      bytes.readUInt32LE(at + 8),
      bytes.readUInt32LE(at + 12),
    );
    return this.#isFree(slot) ? -1 : slot;
  }

  /** Finds the XOR of the mask and the hash at `at` in `bytes`. Runs once for every record of a feed. */
  findMasked(bytes: Buffer, at: number, mask: HashMask): Slot {
    const slot = this.#slotOf(
      (bytes.readUInt32LE(at) ^ mask[0]) >>> 0,
      (bytes.readUInt32LE(at + 4) ^ mask[1]) >>> 0,
      (bytes.readUInt32LE(at + 8) ^ mask[2]) >>> 0,
      (bytes.readUInt32LE(at + 12) ^ mask[3]) >>> 0,
    );
    return this.#isFree(slot) ? -1 : slot;
  }

  mark(slot: Slot): HashMark {
    return (this.#state(slot) >>> MARK_SHIFT) as HashMark;
  }

  /** Ordinal of the first record seen with this hash, or `undefined`. */
  seenAt(slot: Slot): number | undefined {
    const seen = this.#state(slot) & SEEN;
    return seen === 0 ? undefined : seen - 1;
  }

  /**
   * Records where the hash was first seen; later calls change nothing. Throws for an ordinal above {@link MAX_ORDINAL}.
   */
  see(slot: Slot, ordinal: number): void {
    if (ordinal > MAX_ORDINAL) throw new RangeError(`a feed can have ${MAX_ORDINAL + 1} records at most: split it`);
    const state = this.#state(slot);
    if ((state & SEEN) === 0) this.#setState(slot, state | (ordinal + 1));
  }

  /** Undoes {@link see}. */
  unsee(slot: Slot): void {
    this.#setState(slot, this.#state(slot) & ~SEEN);
  }

  /** Records that the posting behind the hash was seen, perhaps with another record. */
  account(slot: Slot): void {
    this.#setState(slot, this.#state(slot) | ACCOUNTED);
  }

  isAccounted(slot: Slot): boolean {
    return (this.#state(slot) & ACCOUNTED) !== 0;
  }

  /** Hashes with one of the marks that were neither seen nor accounted for. */
  *missing(marks: readonly HashMark[]): Generator<Buffer> {
    for (let slot = 0; slot < this.#capacity; slot++) {
      if (this.#isFree(slot) || (this.#state(slot) & (SEEN | ACCOUNTED)) !== 0) continue;
      if (!marks.includes(this.mark(slot))) continue;
      const hash = Buffer.allocUnsafe(HASH_BYTES);
      for (let word = 0; word < HASH_WORDS; word++) {
        hash.writeUInt32LE(this.#words[slot * SLOT_WORDS + word] as number, word * 4);
      }
      yield hash;
    }
  }

  #state(slot: Slot): number {
    return this.#words[slot * SLOT_WORDS + HASH_WORDS] as number;
  }

  #setState(slot: Slot, state: number): void {
    this.#words[slot * SLOT_WORDS + HASH_WORDS] = state;
  }

  #isFree(slot: Slot): boolean {
    return this.#state(slot) === 0;
  }

  /** The slot that holds these unsigned words, or the free one where they belong. */
  #slotOf(a: number, b: number, c: number, d: number): Slot {
    const words = this.#words;
    let slot = this.#firstSlotOf(a);
    for (;;) {
      const at = slot * SLOT_WORDS;
      if (words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d) return slot;
      if (this.#isFree(slot)) return slot;
      slot = slot + 1 === this.#capacity ? 0 : slot + 1;
    }
  }

  /** Scales 32 uniform bits to any capacity, without a remainder or a power of two. */
  #firstSlotOf(word: number): Slot {
    return Math.floor((word / 0x100000000) * this.#capacity);
  }

  #put(slot: Slot, a: number, b: number, c: number, d: number, state: number): void {
    const at = slot * SLOT_WORDS;
    this.#words[at] = a;
    this.#words[at + 1] = b;
    this.#words[at + 2] = c;
    this.#words[at + 3] = d;
    this.#words[at + HASH_WORDS] = state;
  }

  #grow(): void {
    const old = this.#words;
    // Grow by half: both tables exist for a moment, and doubling would set the memory peak of a pull.
    this.#capacity = Math.ceil(this.#capacity * 1.5);
    this.#words = new Uint32Array(this.#capacity * SLOT_WORDS);
    for (let at = 0; at < old.length; at += SLOT_WORDS) {
      const word = (i: number) => old[at + i] as number;
      if (word(HASH_WORDS) === 0) continue;
      const slot = this.#slotOf(word(0), word(1), word(2), word(3));
      this.#put(slot, word(0), word(1), word(2), word(3), word(HASH_WORDS));
    }
  }
}
