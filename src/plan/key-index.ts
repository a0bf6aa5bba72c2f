// Keeps the keys of the postings that one pull has parsed, each with a mark of its content: which keys came before.
import { HASH_BYTES } from '../posting/hash.ts';
import { RecordIndex, RecordMark } from './record-index.ts';

const TABLE_ENTRIES = 4_096;
const TABLE_LOAD = 0.85;

/** A table, and by how many of the last bits all of its hashes are alike. */
interface Table {
  readonly entries: RecordIndex;
  readonly depth: number;
}

/**
 * Hashes of keys in many tables of one size. How many keys will come is not known: a table that is full becomes two, by
 * the next bit of its hashes (extendible hashing). So nothing is there twice for long, and memory that is given back is
 * just what the next table takes. A table that grows leaves holes of every size behind: they were a quarter of a large
 * pull's memory.
 */
export class KeyIndex {
  /** Which table it is, by the last bits of a hash; a table of less depth than others is there several times. */
  #directory: Table[] = [{ entries: emptyTable(), depth: 0 }];
  #spare: RecordIndex | undefined;

  /** What was noted with the key, or `undefined`. @param keyHash 16 bytes. */
  noted(keyHash: Buffer): number | undefined {
    const { entries } = this.#tableOf(keyHash);
    const slot = entries.find(keyHash);
    return slot < 0 ? undefined : entries.seenAt(slot);
  }

  /** Notes a key that was not there. @param mark below 2^28. */
  note(keyHash: Buffer, mark: number): void {
    let table = this.#tableOf(keyHash);
    // With hashes that end alike no split helps; such a table grows.
    for (; table.entries.size >= TABLE_ENTRIES && table.depth < DEEPEST; table = this.#tableOf(keyHash)) {
      this.#split(table, lastWordOf(keyHash));
    }
    table.entries.see(table.entries.add(keyHash, RecordMark.mapped), mark);
  }

  #tableOf(keyHash: Buffer): Table {
    // The directory's length is a power of two.
    return this.#directory[lastWordOf(keyHash) & (this.#directory.length - 1)] as Table;
  }

  /** @param lastWord the last four bytes of a hash that belongs into it. */
  #split({ entries, depth }: Table, lastWord: number): void {
    if (2 ** depth === this.#directory.length) this.#directory = [...this.#directory, ...this.#directory];
    const low = { entries: this.#spare ?? emptyTable(), depth: depth + 1 };
    const high = { entries: emptyTable(), depth: depth + 1 };
    const bit = 1 << depth;
    entries.scatter((word) => ((word & bit) === 0 ? low : high).entries);
    this.#spare = entries;
    for (let at = lastWord & (bit - 1); at < this.#directory.length; at += bit) {
      this.#directory[at] = (at & bit) === 0 ? low : high;
    }
  }
}

/** 100 million keys need 15; beyond, hashes are no hashes, and the directory would be larger than what it points at. */
const DEEPEST = 20;

const emptyTable = (): RecordIndex => new RecordIndex(TABLE_ENTRIES, TABLE_LOAD);

const lastWordOf = (keyHash: Buffer): number => keyHash.readUInt32LE(HASH_BYTES - 4);
