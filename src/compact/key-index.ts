// Remembers the keys of the postings that one pull has parsed, each with a content mark, to detect duplicates.
import { HASH_BYTES } from '../posting/hash.ts';

/** A slot: the hash in four words, then the mark plus one; 0: free. */
const HASH_WORDS = HASH_BYTES / 4;
const SLOT_WORDS = HASH_WORDS + 1;
/** 20 kB. */
const SEGMENT_BITS = 10;
const SEGMENT_SLOTS = 1 << SEGMENT_BITS;
/** A table with as many is split; each half begins with one more than half of them, as hashes divide unevenly. */
const MOST_SEGMENTS = 8;
/** Share of occupied slots; fuller tables take less memory and more probing. */
const MAX_LOAD = 0.85;
const ROOM = Math.floor(SEGMENT_SLOTS * MAX_LOAD);

/**
 * Key hashes in many small tables (extendible hashing), which grow by one segment at a time: 26 bytes a key, however many there are. The
 * number of keys is not known in advance. One growing table would leave holes of every size, which used to be a quarter of a large pull's
 * memory, and tables of one size are all split at about the same time, which doubled it.
 */
export class KeyIndex {
  /** Table by the last bits of a hash. A table of less depth than others has several entries. */
  #directory: Table[] = [new Table(0, [emptySegment()])];

  /** The mark stored with the key, or `undefined`. @param keyHash 16 bytes. */
  markOf(keyHash: Buffer): number | undefined {
    return this.#tableOf(keyHash).markOf(keyHash);
  }

  /** Adds a key that is not in the index yet. @param mark below 2^32 - 1. */
  add(keyHash: Buffer, mark: number): void {
    let table = this.#tableOf(keyHash);
    while (table.isFull) {
      // Splitting does not help when hashes share their last bits; such a table grows instead.
      if (table.segments.length < MOST_SEGMENTS || table.depth >= DEEPEST) table.grow();
      else this.#split(table, lastWordOf(keyHash));
      table = this.#tableOf(keyHash);
    }
    table.put(keyHash, mark);
  }

  /** Gives a key of the index another mark. */
  replace(keyHash: Buffer, mark: number): void {
    this.#tableOf(keyHash).put(keyHash, mark);
  }

  #tableOf(keyHash: Buffer): Table {
    // The directory's length is a power of two.
    return this.#directory[lastWordOf(keyHash) & (this.#directory.length - 1)] as Table;
  }

  /** @param lastWord the last four bytes of a hash that belongs in this table. */
  #split(table: Table, lastWord: number): void {
    const { depth, segments } = table;
    if (2 ** depth === this.#directory.length) this.#directory = [...this.#directory, ...this.#directory];
    const slots = table.takeSlots();
    const half = segments.length / 2;
    const low = new Table(depth + 1, [...segments.slice(0, half), emptySegment()]);
    const high = new Table(depth + 1, [...segments.slice(half), emptySegment()]);
    const bit = 1 << depth;
    for (let at = 0; at < slots.length; at += SLOT_WORDS) {
      const half = ((slots[at + HASH_WORDS - 1] as number) & bit) === 0 ? low : high;
      if (half.isFull) half.grow();
      half.putSlot(slots, at);
    }
    for (let at = lastWord & (bit - 1); at < this.#directory.length; at += bit) {
      this.#directory[at] = (at & bit) === 0 ? low : high;
    }
  }
}

/** 100 million keys need 15. Beyond 20, the hashes are not uniform and the directory would outgrow its tables. */
const DEEPEST = 20;

const emptySegment = (): Uint32Array => new Uint32Array(SEGMENT_SLOTS * SLOT_WORDS);

const lastWordOf = (keyHash: Buffer): number => keyHash.readUInt32LE(HASH_BYTES - 4);

/** An open-addressing hash table whose slots are in segments of equal size, so that freed memory fits whatever grows next. */
class Table {
  /** How many trailing bits all of its hashes share. */
  readonly depth: number;
  readonly segments: Uint32Array[];
  #size = 0;
  /** The slot that is looked up or written. */
  readonly #wanted = new Uint32Array(SLOT_WORDS);

  constructor(depth: number, segments: Uint32Array[]) {
    this.depth = depth;
    this.segments = segments;
  }

  get isFull(): boolean {
    return this.#size >= this.segments.length * ROOM;
  }

  markOf(keyHash: Buffer): number | undefined {
    this.#want(keyHash, 0);
    const slot = this.#find();
    const state = this.#segmentOf(slot)[wordOf(slot) + HASH_WORDS] as number;
    return state === 0 ? undefined : state - 1;
  }

  put(keyHash: Buffer, mark: number): void {
    this.#want(keyHash, mark + 1);
    this.#write();
  }

  /** Adds the slot that starts at `from` in these words. */
  putSlot(words: Uint32Array, from: number): void {
    for (let word = 0; word < SLOT_WORDS; word++) this.#wanted[word] = words[from + word] as number;
    this.#write();
  }

  grow(): void {
    const slots = this.takeSlots();
    this.segments.push(emptySegment());
    for (let at = 0; at < slots.length; at += SLOT_WORDS) this.putSlot(slots, at);
  }

  /** Empties the table. Returns its occupied slots. */
  takeSlots(): Uint32Array {
    const slots = new Uint32Array(this.#size * SLOT_WORDS);
    let end = 0;
    for (const segment of this.segments) {
      for (let at = 0; at < segment.length; at += SLOT_WORDS) {
        if (segment[at + HASH_WORDS] === 0) continue;
        for (let word = 0; word < SLOT_WORDS; word++) slots[end++] = segment[at + word] as number;
      }
      segment.fill(0);
    }
    this.#size = 0;
    return slots;
  }

  #want(keyHash: Buffer, state: number): void {
    for (let word = 0; word < HASH_WORDS; word++) this.#wanted[word] = keyHash.readUInt32LE(word * 4);
    this.#wanted[HASH_WORDS] = state;
  }

  #write(): void {
    const slot = this.#find();
    const segment = this.#segmentOf(slot);
    const at = wordOf(slot);
    if (segment[at + HASH_WORDS] === 0) this.#size++;
    for (let word = 0; word < SLOT_WORDS; word++) segment[at + word] = this.#wanted[word] as number;
  }

  /** The slot that holds the wanted hash, or the free one where it belongs. Hashes are uniform, so their first word selects the slot. */
  #find(): number {
    const a = this.#wanted[0] as number;
    const b = this.#wanted[1] as number;
    const c = this.#wanted[2] as number;
    const d = this.#wanted[3] as number;
    const capacity = this.segments.length * SEGMENT_SLOTS;
    let slot = Math.floor((a / 0x100000000) * capacity);
    for (;;) {
      const segment = this.#segmentOf(slot);
      const at = wordOf(slot);
      if (segment[at + HASH_WORDS] === 0) return slot;
      if (segment[at] === a && segment[at + 1] === b && segment[at + 2] === c && segment[at + 3] === d) return slot;
      slot = slot + 1 === capacity ? 0 : slot + 1;
    }
  }

  #segmentOf(slot: number): Uint32Array {
    return this.segments[slot >>> SEGMENT_BITS] as Uint32Array;
  }
}

/** Where a slot begins in its segment. */
const wordOf = (slot: number): number => (slot & (SEGMENT_SLOTS - 1)) * SLOT_WORDS;
