// Turns the record hashes of a feed's mappings into a compact index: which records are known, and where each was seen.
import { HASH_BYTES } from '../posting/hash.ts';

/** A record hash that the index knows, by its place in the table; -1 says that it is not there. */
export type Slot = number;

/** What a known record hash stands for. */
export const RecordMark = {
  /** The mapping's record, and nothing is open for the posting: seeing it again is all there is to do. */
  mapped: 1,
  /** The mapping's record, and a change is open for the posting: it must be planned again. */
  superseding: 2,
  /** The record of an open change: the wish stands as it is. */
  open: 3,
} as const;
export type RecordMark = (typeof RecordMark)[keyof typeof RecordMark];

/** Four words that are combined with those of a hash before it is looked up. */
export type HashMask = readonly [number, number, number, number];

/** A slot: the hash in four words, then the mark (2 bits; 0: the slot is free), whether it is accounted for, and where it was seen. */
const HASH_WORDS = HASH_BYTES / 4;
const SLOT_WORDS = HASH_WORDS + 1;
const MARK_SHIFT = 30;
const ACCOUNTED = 1 << 29;
/** One more than the ordinal, so that 0 says that it was not seen. */
const SEEN = ACCOUNTED - 1;
/** Of the slots; fuller tables take less memory and more steps. */
const USUAL_LOAD = 0.7;

/** The largest ordinal that can be noted. */
export const MAX_ORDINAL = SEEN - 1;

/**
 * An open-addressing hash table over 16-byte hashes in one typed array: 20 bytes a slot, mostly in one line of the CPU's
 * cache, and 29 bytes an entry at the fullest. Hashes are uniform already, so their first word chooses the slot. Entries
 * are not removed one by one.
 */
export class RecordIndex {
  readonly #maxLoad: number;
  #capacity: number;
  #words: Uint32Array;
  #size = 0;
  /** Never looked at: a read whose result is kept is not optimised away. */
  #fetched = 0;

  /** @param expected how many entries will come; more only cost a rebuild. */
  constructor(expected = 0, maxLoad = USUAL_LOAD) {
    this.#maxLoad = maxLoad;
    this.#capacity = Math.max(64, Math.ceil(expected / maxLoad) + 1);
    this.#words = new Uint32Array(this.#capacity * SLOT_WORDS);
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes that the table holds. */
  get byteLength(): number {
    return this.#words.byteLength;
  }

  /**
   * Fetches the memory where the hash will be added or looked for. Of many such reads in a row several are under way at a
   * time, while {@link add} and {@link find} wait for each.
   */
  expect(bytes: Buffer, at: number): void {
    this.#fetched ^= this.#state(this.#firstSlotOf(bytes.readUInt32LE(at)));
  }

  /** The same for {@link findMasked}. */
  expectMasked(bytes: Buffer, at: number, mask: HashMask): void {
    this.#fetched ^= this.#state(this.#firstSlotOf((bytes.readUInt32LE(at) ^ mask[0]) >>> 0));
  }

  /** Adds the hash that stands in `bytes` from `at` on, or finds it; an existing entry keeps its mark. */
  add(bytes: Buffer, mark: RecordMark, at = 0): Slot {
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

  /** Finds the hash that stands in `bytes` from `at` on. */
  find(bytes: Buffer, at = 0): Slot {
    const slot = this.#slotOf(
      bytes.readUInt32LE(at),
      bytes.readUInt32LE(at + 4),
      bytes.readUInt32LE(at + 8),
      bytes.readUInt32LE(at + 12),
    );
    return this.#isFree(slot) ? -1 : slot;
  }

  /** Finds the hash that comes of combining (exclusive or) the one in `bytes` with the mask. This runs for each record of a feed. */
  findMasked(bytes: Buffer, at: number, mask: HashMask): Slot {
    const slot = this.#slotOf(
      (bytes.readUInt32LE(at) ^ mask[0]) >>> 0,
      (bytes.readUInt32LE(at + 4) ^ mask[1]) >>> 0,
      (bytes.readUInt32LE(at + 8) ^ mask[2]) >>> 0,
      (bytes.readUInt32LE(at + 12) ^ mask[3]) >>> 0,
    );
    return this.#isFree(slot) ? -1 : slot;
  }

  mark(slot: Slot): RecordMark {
    return (this.#state(slot) >>> MARK_SHIFT) as RecordMark;
  }

  /** Ordinal of the record that was seen with this hash first, or `undefined`. */
  seenAt(slot: Slot): number | undefined {
    const seen = this.#state(slot) & SEEN;
    return seen === 0 ? undefined : seen - 1;
  }

  /** Notes where the hash was seen; an earlier note stands. Throws for an ordinal above {@link MAX_ORDINAL}. */
  see(slot: Slot, ordinal: number): void {
    if (ordinal > MAX_ORDINAL) throw new RangeError(`a feed can have ${MAX_ORDINAL + 1} records at most: split it`);
    const state = this.#state(slot);
    if ((state & SEEN) === 0) this.#setState(slot, state | (ordinal + 1));
  }

  /** Takes back that the hash was seen. */
  unsee(slot: Slot): void {
    this.#setState(slot, this.#state(slot) & ~SEEN);
  }

  /** Notes that the posting behind the hash was met, though perhaps with another record. */
  account(slot: Slot): void {
    this.#setState(slot, this.#state(slot) | ACCOUNTED);
  }

  isAccounted(slot: Slot): boolean {
    return (this.#state(slot) & ACCOUNTED) !== 0;
  }

  /** Hashes with one of the marks that were met on no path: neither seen nor accounted for. */
  *missing(marks: readonly RecordMark[]): Generator<Buffer> {
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

  /**
   * Moves all entries, as they are, into other indexes, and is empty then.
   * @param to chooses by the last four bytes of a hash, as a little-endian number.
   */
  scatter(to: (lastWord: number) => RecordIndex): void {
    for (let at = 0; at < this.#words.length; at += SLOT_WORDS) {
      const word = (i: number) => this.#words[at + i] as number;
      if (word(HASH_WORDS) === 0) continue;
      to(word(HASH_WORDS - 1)).#take(word(0), word(1), word(2), word(3), word(HASH_WORDS));
    }
    this.#words.fill(0);
    this.#size = 0;
  }

  #take(a: number, b: number, c: number, d: number, state: number): void {
    if (this.#size + 1 > this.#capacity * this.#maxLoad) this.#grow();
    this.#put(this.#slotOf(a, b, c, d), a, b, c, d, state);
    this.#size++;
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

  /** The slot that holds these words, unsigned each, or the free one where they belong. */
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

  /** Multiply and shift instead of a remainder: spreads 32 uniform bits over any capacity, without a power of two. */
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
    // By half: while both tables are there, twice as large would be the most memory that a pull takes.
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
