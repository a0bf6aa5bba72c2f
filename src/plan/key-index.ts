// Keeps the keys of the postings that one pull has parsed, each with a mark of its content: which keys came before.
import { HASH_BYTES } from '../posting/hash.ts';
import { RecordIndex, RecordMark } from './record-index.ts';

const SHARDS = 16;

/**
 * Hashes of keys in several small tables instead of a large one: how many keys will come is not known, and while a table
 * grows, it is there twice. They grow one after the other, so that the peak is little above what they hold in the end.
 */
export class KeyIndex {
  readonly #shards: readonly RecordIndex[] = Array.from({ length: SHARDS }, () => new RecordIndex());

  /** What was noted with the key, or `undefined`. @param keyHash 16 bytes. */
  noted(keyHash: Buffer): number | undefined {
    const shard = this.#shardOf(keyHash);
    const slot = shard.find(keyHash);
    return slot < 0 ? undefined : shard.seenAt(slot);
  }

  /** Notes a key that was not there. @param mark below 2^28. */
  note(keyHash: Buffer, mark: number): void {
    const shard = this.#shardOf(keyHash);
    shard.see(shard.add(keyHash, RecordMark.settled), mark);
  }

  /** By the last byte: within a shard the first ones choose the slot. */
  #shardOf(keyHash: Buffer): RecordIndex {
    return this.#shards[(keyHash[HASH_BYTES - 1] as number) % SHARDS] as RecordIndex;
  }
}
