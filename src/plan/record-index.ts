// Turns the record hashes of a feed's mappings into a compact index: which records are known, and where each was seen.
import { HASH_BYTES } from '../posting/hash.ts';

/** A record hash that the index knows, by its place in the table; -1 says that it is not there. */
export type Slot = number;

/** What a known record hash stands for. */
export const RecordMark = {
  /** The mapping's record, and nothing is open for the posting: seeing it again is all there is to do. */
  settled: 1,
  /** The mapping's record, and a change is open for the posting: it must be planned again. */
  contested: 2,
  /** The record of an open change: the wish stands as it is. */
  wished: 3,
} as const;
export type RecordMark = (typeof RecordMark)[keyof typeof RecordMark];

const NOT_SEEN = 0xffffffff;
const ACCOUNTED = 0x80;
const WORDS = HASH_BYTES / 4;
const MAX_LOAD = 0.7;

/**
 * An open-addressing hash table over 16-byte hashes in three typed arrays: 21 bytes a slot, 30 bytes an entry at the
 * fullest. Hashes are uniform already, so their first word chooses the slot. Entries are never removed.
 */
export class RecordIndex {
  #capacity: number;
  #words: Uint32Array;
  #seenAt: Uint32Array;
  #marks: Uint8Array;
  #size = 0;

  /** @param expected how many entries will come; more only cost a rebuild. */
  constructor(expected = 0) {
    this.#capacity = Math.max(64, Math.ceil(expected / MAX_LOAD) + 1);
    this.#words = new Uint32Array(this.#capacity * WORDS);
    this.#seenAt = new Uint32Array(this.#capacity).fill(NOT_SEEN);
    this.#marks = new Uint8Array(this.#capacity);
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes that the table holds. */
  get byteLength(): number {
    return this.#words.byteLength + this.#seenAt.byteLength + this.#marks.byteLength;
  }

  /** Adds the hash that stands in `bytes` from `at` on, or finds it; an existing entry keeps its mark. */
  add(bytes: Buffer, mark: RecordMark, at = 0): Slot {
    if (this.#size + 1 > this.#capacity * MAX_LOAD) this.#grow();
    const a = bytes.readUInt32LE(at);
    const b = bytes.readUInt32LE(at + 4);
    const c = bytes.readUInt32LE(at + 8);
    const d = bytes.readUInt32LE(at + 12);
    let slot = this.#start(a);
    while (this.#marks[slot] !== 0) {
      if (this.#matches(slot, a, b, c, d)) return slot;
      slot = slot + 1 === this.#capacity ? 0 : slot + 1;
    }
    this.#put(slot, a, b, c, d, mark);
    this.#size++;
    return slot;
  }

  find(hash: Buffer): Slot {
    const words = this.#words;
    const first = hash.readUInt32LE(0);
    let slot = this.#start(first);
    while (this.#marks[slot] !== 0) {
      // The other words are read only where the first one fits: this runs for each record of a feed.
      const at = slot * WORDS;
      if (words[at] === first && words[at + 1] === hash.readUInt32LE(4)) {
        if (words[at + 2] === hash.readUInt32LE(8) && words[at + 3] === hash.readUInt32LE(12)) return slot;
      }
      slot = slot + 1 === this.#capacity ? 0 : slot + 1;
    }
    return -1;
  }

  mark(slot: Slot): RecordMark {
    return ((this.#marks[slot] as number) & ~ACCOUNTED) as RecordMark;
  }

  /** Ordinal of the record that was seen with this hash first, or `undefined`. */
  seenAt(slot: Slot): number | undefined {
    const ordinal = this.#seenAt[slot] as number;
    return ordinal === NOT_SEEN ? undefined : ordinal;
  }

  /** Notes where the hash was seen; an earlier note stands. Ordinals stay below 2^32 - 1. */
  see(slot: Slot, ordinal: number): void {
    if (this.#seenAt[slot] === NOT_SEEN) this.#seenAt[slot] = ordinal;
  }

  /** Takes back that the hash was seen. */
  unsee(slot: Slot): void {
    this.#seenAt[slot] = NOT_SEEN;
  }

  /** Notes that the posting behind the hash was met, though perhaps with another record. */
  account(slot: Slot): void {
    this.#marks[slot] = (this.#marks[slot] as number) | ACCOUNTED;
  }

  isAccounted(slot: Slot): boolean {
    return ((this.#marks[slot] as number) & ACCOUNTED) !== 0;
  }

  /** Hashes with one of the marks that were met on no path: neither seen nor accounted for. */
  *unmet(marks: readonly RecordMark[]): Generator<Buffer> {
    for (let slot = 0; slot < this.#capacity; slot++) {
      if (this.#marks[slot] === 0 || this.#seenAt[slot] !== NOT_SEEN) continue;
      if (this.isAccounted(slot) || !marks.includes(this.mark(slot))) continue;
      const hash = Buffer.allocUnsafe(HASH_BYTES);
      for (let word = 0; word < WORDS; word++) hash.writeUInt32LE(this.#words[slot * WORDS + word] as number, word * 4);
      yield hash;
    }
  }

  #start(firstWord: number): Slot {
    // Multiply and shift instead of a remainder: spreads 32 uniform bits over any capacity, without a power of two.
    return Math.floor((firstWord / 0x100000000) * this.#capacity);
  }

  #matches(slot: Slot, a: number, b: number, c: number, d: number): boolean {
    const at = slot * WORDS;
    const words = this.#words;
    return words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d;
  }

  #put(slot: Slot, a: number, b: number, c: number, d: number, mark: RecordMark): void {
    const at = slot * WORDS;
    this.#words[at] = a;
    this.#words[at + 1] = b;
    this.#words[at + 2] = c;
    this.#words[at + 3] = d;
    this.#marks[slot] = mark;
  }

  #grow(): void {
    const old = { capacity: this.#capacity, words: this.#words, seenAt: this.#seenAt, marks: this.#marks };
    // By half: while both tables are there, twice as large would be the most memory that a pull takes.
    this.#capacity = Math.ceil(old.capacity * 1.5);
    this.#words = new Uint32Array(this.#capacity * WORDS);
    this.#seenAt = new Uint32Array(this.#capacity).fill(NOT_SEEN);
    this.#marks = new Uint8Array(this.#capacity);
    for (let from = 0; from < old.capacity; from++) {
      const mark = old.marks[from] as RecordMark;
      if ((mark as number) === 0) continue;
      const at = from * WORDS;
      const word = (i: number) => old.words[at + i] as number;
      let slot = this.#start(word(0));
      while (this.#marks[slot] !== 0) slot = slot + 1 === this.#capacity ? 0 : slot + 1;
      this.#put(slot, word(0), word(1), word(2), word(3), mark);
      this.#seenAt[slot] = old.seenAt[from] as number;
    }
  }
}
