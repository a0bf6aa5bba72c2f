// Remembers the keys of the postings that one pull has parsed, each with a content mark, to detect duplicates.
import { HASH_BYTES } from '../posting/hash.ts';
import { ONLY_MARK, RecordIndex } from './record-index.ts';

const TABLE_ENTRIES = 4_096;
const TABLE_LOAD = 0.85;

/** A table, and how many trailing bits all of its hashes share. */
interface Table {
  readonly entries: RecordIndex;
  readonly depth: number;
}

/**
 * Key hashes in many tables of equal size (extendible hashing). The number of keys is not known in advance: a full
 * table is split in two by the next bit of its hashes, and the memory it frees fits the next table exactly. One growing
 * table would leave holes of every size, which used to be a quarter of a large pull's memory.
 */
export class KeyIndex {
  /** Table by the last bits of a hash. A table of less depth than others has several entries. */
  #directory: Table[] = [{ entries: emptyTable(), depth: 0 }];
  #spare: RecordIndex | undefined;

  /** The mark stored with the key, or `undefined`. @param keyHash 16 bytes. */
  markOf(keyHash: Buffer): number | undefined {
    const { entries } = this.#tableOf(keyHash);
    const slot = entries.find(keyHash);
    return slot < 0 ? undefined : entries.seenAt(slot);
  }

  /** Adds a key that is not in the index yet. @param mark below 2^28. */
  add(keyHash: Buffer, mark: number): void {
    let table = this.#tableOf(keyHash);
    // Splitting does not help when hashes share their last bits; such a table grows instead.
    for (; table.entries.size >= TABLE_ENTRIES && table.depth < DEEPEST; table = this.#tableOf(keyHash)) {
      this.#split(table, lastWordOf(keyHash));
    }
    table.entries.see(table.entries.add(keyHash, ONLY_MARK), mark);
  }

  /** Gives a key of the index another mark. */
  replace(keyHash: Buffer, mark: number): void {
    const { entries } = this.#tableOf(keyHash);
    const slot = entries.find(keyHash);
    entries.unsee(slot);
    entries.see(slot, mark);
  }

  #tableOf(keyHash: Buffer): Table {
    // The directory's length is a power of two.
    return this.#directory[lastWordOf(keyHash) & (this.#directory.length - 1)] as Table;
  }

  /** @param lastWord the last four bytes of a hash that belongs in this table. */
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

/** 100 million keys need 15. Beyond 20, the hashes are not uniform and the directory would outgrow its tables. */
const DEEPEST = 20;

const emptyTable = (): RecordIndex => new RecordIndex(TABLE_ENTRIES, TABLE_LOAD);

const lastWordOf = (keyHash: Buffer): number => keyHash.readUInt32LE(HASH_BYTES - 4);
