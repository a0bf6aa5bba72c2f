// A chunk of a feed with the records that end in it, each with its hash and, if there was time, its posting, packed.
// Splitting a feed produces a series of such batches.
import { CleanTextsWriter, mostUtf8Bytes, Utf8Writer } from '../../compact/clean-texts.ts';
import { HASH_BYTES, recordHash, writeRecordHash, xorHash } from '../../posting/hash.ts';
import { postingKey } from '../../posting/identifiers.ts';
import type { Problem, ReadPosting } from '../../posting/posting.ts';
import type { SplitSink } from '../format/format.ts';
import { GrowingBytes } from './growing-bytes.ts';

/** Bytes of the feed per batch. There is extra room for records that began in earlier batches. */
export const CHUNK_BYTES = 1024 * 1024;
const ROOM_BYTES = 64 * 1024;

/**
 * Facts of a record: start and end (4 bytes each), length in the feed if oversized (6), start and end of its packed posting (4
 * each; both 0: not read), and its hash.
 */
const END_AT = 4;
const OVERSIZED_AT = 8;
const OVERSIZED_BYTES = 6;
const MAX_POSITION = 0xffffffff;
const POSTING_AT = OVERSIZED_AT + OVERSIZED_BYTES;
const POSTING_END_AT = POSTING_AT + 4;
const HASH_AT = POSTING_END_AT + 4;
const FACTS_BYTES = HASH_AT + HASH_BYTES;
const FIRST_FACTS = 512 * FACTS_BYTES;

const NOTHING: Buffer = Buffer.alloc(0);

/** Records that are prefetched between two checks of the remaining time. */
const READ_PER_CHUNK = 16;

/** Memory that grew beyond this is not reused. */
const MAX_KEPT_BYTES = 5 * CHUNK_BYTES;

/** A batch in transfer to another thread. */
export interface PackedBatch {
  readonly bytes: ArrayBuffer;
  readonly bytesUsed: number;
  readonly facts: ArrayBuffer;
  readonly factsUsed: number;
  readonly postings: ArrayBuffer;
  readonly postingsUsed: number;
  readonly hashed: number;
  readonly prefix: Uint8Array;
}

export const transferredBuffersOf = (packed: PackedBatch): ArrayBuffer[] => [
  packed.bytes,
  packed.facts,
  packed.postings,
];

/** Records are in feed order and numbered from 0. */
export class RecordBatch implements SplitSink {
  readonly #bytes: GrowingBytes;
  readonly #facts: GrowingBytes;
  /** The postings of the records, one after another, in record order. */
  readonly #postings: GrowingBytes;
  /** The number of the first record without a hash. */
  #hashed: number;
  /**
   * Compared by object identity, because comparing the underlying memory costs more than all other facts of a record.
   */
  #loaded = NOTHING;
  #loadedAt = 0;
  #prefix = NOTHING;

  private constructor(bytes: GrowingBytes, facts: GrowingBytes, postings: GrowingBytes, hashed: number) {
    this.#bytes = bytes;
    this.#facts = facts;
    this.#postings = postings;
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

  /** Restores a batch from another thread, loaded with all of its bytes. */
  static unpack(packed: PackedBatch): RecordBatch {
    const batch = new RecordBatch(
      new GrowingBytes(Buffer.from(packed.bytes), packed.bytesUsed),
      new GrowingBytes(Buffer.from(packed.facts), packed.factsUsed),
      new GrowingBytes(Buffer.from(packed.postings), packed.postingsUsed),
      packed.hashed,
    );
    batch.#loaded = batch.bytes;
    batch.#prefix = Buffer.from(packed.prefix);
    return batch;
  }

  /** Prepares the batch for transfer to another thread with its {@link transferredBuffersOf}. It must not be used afterwards. */
  pack(): PackedBatch {
    return {
      bytes: memoryOf(this.#bytes),
      bytesUsed: this.#bytes.length,
      facts: memoryOf(this.#facts),
      factsUsed: this.#facts.length,
      postings: memoryOf(this.#postings),
      postingsUsed: this.#postings.length,
      hashed: this.#hashed,
      prefix: this.#prefix,
    };
  }

  get count(): number {
    return this.#facts.length / FACTS_BYTES;
  }

  /** UTF-8 bytes that contain the records; valid until the batch is changed. */
  get bytes(): Buffer {
    return this.#bytes.bytes;
  }

  /** Contains the hash of each record at {@link hashAt}; valid until the batch is changed. */
  get hashes(): Buffer {
    return this.#facts.bytes;
  }

  /** Precedes every record, and is part of it; usually empty. */
  get prefix(): Buffer {
    return this.#prefix;
  }

  /** The whole record, with its prefix; valid until the batch is changed. */
  recordOf(record: number): Buffer {
    const own = this.bytes.subarray(this.startOf(record), this.endOf(record));
    return this.#prefix.length === 0 ? own : Buffer.concat([this.#prefix, own]);
  }

  /** The start of the record, without its prefix, in {@link bytes}. */
  startOf(record: number): number {
    return this.#facts.view.getUint32(record * FACTS_BYTES, true);
  }

  endOf(record: number): number {
    return this.#facts.view.getUint32(record * FACTS_BYTES + END_AT, true);
  }

  /** The length in the feed of an oversized record, of which the batch has only the first bytes; otherwise 0. */
  oversizedLengthOf(record: number): number {
    const at = record * FACTS_BYTES + OVERSIZED_AT;
    return this.#facts.view.getUint32(at, true) + this.#facts.view.getUint16(at + 4, true) * 2 ** 32;
  }

  /** The posting of the record, for `unpackPosting`, if it was parsed ahead; valid until the batch is changed. */
  packedPostingOf(record: number): Buffer | undefined {
    const to = this.#facts.view.getUint32(record * FACTS_BYTES + POSTING_END_AT, true);
    if (to === 0) return undefined;
    return this.#postings.memory.subarray(this.#facts.view.getUint32(record * FACTS_BYTES + POSTING_AT, true), to);
  }

  /** The position of the record's hash in {@link hashes}. */
  hashAt(record: number): number {
    return record * FACTS_BYTES + HASH_AT;
  }

  /** The bytes that were loaded last. */
  get loaded(): Buffer {
    return this.#loaded;
  }

  /** Copies `chunk[from..to)`, in which to find records. */
  load(chunk: Buffer, from = 0, to = chunk.length): Buffer {
    this.#loadedAt = this.#bytes.append(chunk, from, to);
    this.#loaded = this.#bytes.bytes.subarray(this.#loadedAt);
    return this.#loaded;
  }

  /** Adds the record `buffer[start..end)`: by position if `buffer` is {@link loaded}, otherwise as a copy. */
  record(buffer: Buffer, start: number, end: number, prefix = NOTHING): void {
    if (prefix !== this.#prefix) this.#setPrefix(prefix);
    const at = buffer === this.#loaded ? this.#loadedAt + start : this.#bytes.append(buffer, start, end);
    this.#add(at, end - start, 0);
  }

  /** Adds the first bytes of an oversized record, with its full length. */
  oversized(head: Buffer, length: number, prefix = NOTHING): void {
    if (prefix !== this.#prefix) this.#setPrefix(prefix);
    this.#add(this.#bytes.append(head), head.length, length);
  }

  /** Hashes the records added since the last call. */
  hash(): void {
    const { bytes, hashes, count } = this;
    const prefixHash = this.#prefix.length === 0 ? undefined : recordHash(this.#prefix);
    for (; this.#hashed < count; this.#hashed++) {
      writeRecordHash(bytes, this.startOf(this.#hashed), this.endOf(this.#hashed), hashes, this.hashAt(this.#hashed));
      if (prefixHash !== undefined) xorHash(hashes, this.hashAt(this.#hashed), prefixHash);
    }
  }

  /**
   * Parses ahead: reads records with `read` and stores the results for {@link packedPostingOf}.
   * @param read returns `undefined` for records to leave unread.
   * @param hasTime checked every few records; once false, the rest is left unread.
   */
  prefetch(read: (record: Buffer) => ReadPosting | undefined, hasTime: () => boolean): void {
    const { count } = this;
    if (this.#postings.memory.length === 0) this.#postings.reserve(CHUNK_BYTES + ROOM_BYTES);
    for (let record = 0; record < count; record++) {
      if (record % READ_PER_CHUNK === 0 && !hasTime()) return;
      if (this.oversizedLengthOf(record) > 0) continue;
      const result = read(this.recordOf(record));
      if (result === undefined) continue;
      const start = this.#postings.length;
      packPosting(result, this.#postings);
      const facts = this.#facts.view;
      facts.setUint32(record * FACTS_BYTES + POSTING_AT, start, true);
      facts.setUint32(record * FACTS_BYTES + POSTING_END_AT, this.#postings.length, true);
    }
  }

  clear(): void {
    this.#loaded = NOTHING;
    this.#bytes.clear();
    this.#facts.clear();
    this.#postings.clear();
    this.#hashed = 0;
    this.#prefix = NOTHING;
  }

  /** Whether its memory is small enough to be reused. */
  get isWorthKeeping(): boolean {
    const memory = this.#bytes.memory.length + this.#facts.memory.length + this.#postings.memory.length;
    return memory <= MAX_KEPT_BYTES;
  }

  #setPrefix(prefix: Buffer): void {
    // After a transfer it is another object with the same bytes.
    if (this.#prefix.equals(prefix)) return;
    if (this.count > 0) throw new Error('the records of one batch have different prefixes');
    this.#prefix = prefix;
  }

  #add(start: number, length: number, oversizedLength: number): void {
    if (start + length > MAX_POSITION) throw new RangeError('a batch of records has more than 4 GiB');
    const at = this.#facts.extend(FACTS_BYTES);
    const facts = this.#facts.view;
    facts.setUint32(at, start, true);
    facts.setUint32(at + END_AT, start + length, true);
    facts.setUint32(at + OVERSIZED_AT, oversizedLength, true);
    facts.setUint16(at + OVERSIZED_AT + 4, oversizedLength / 2 ** 32, true);
    facts.setUint32(at + POSTING_AT, 0, true);
    facts.setUint32(at + POSTING_END_AT, 0, true);
  }
}

/** The memory belongs to this buffer alone: it is never allocated from a pool. */
const memoryOf = (bytes: GrowingBytes): ArrayBuffer => bytes.memory.buffer as ArrayBuffer;

// Serialises the posting of a record, to pass it from the splitting thread to the planning thread.

/**
 * Content hash, length of the key (2 bytes) and of the remarks (4), then the key, the remarks and the fields as JSON.
 */
const KEY_LENGTH_AT = HASH_BYTES;
const REMARKS_LENGTH_AT = KEY_LENGTH_AT + 2;
const KEY_AT = REMARKS_LENGTH_AT + 4;
/**
 * A truncated write may stop up to three bytes early. With these spare bytes it still ends beyond the allowed maximum.
 */
const SPARE_BYTES = 4;

/** Notes and problems, which few postings have. */
interface Remarks {
  readonly notes: readonly Problem[];
  /** Present for an invalid posting. */
  readonly problems?: readonly Problem[];
}

const texts = new CleanTextsWriter();

/** Appends a posting, whose fields must be clean as the reader leaves them. Throws rather than truncate it. */
export function packPosting(result: ReadPosting, target: GrowingBytes): void {
  const { key, fields, contentHash } = result.posting;
  const remarks = remarksOn(result);
  const most = KEY_AT + mostUtf8Bytes(key) + mostUtf8Bytes(remarks) + CleanTextsWriter.mostBytes(fields);
  const start = target.extend(most + SPARE_BYTES);
  const { memory } = target;
  contentHash.copy(memory, start);
  const keyBytes = memory.write(key, start + KEY_AT);
  const remarksBytes = memory.write(remarks, start + KEY_AT + keyBytes);
  memory.writeUInt16LE(keyBytes, start + KEY_LENGTH_AT);
  memory.writeUInt32LE(remarksBytes, start + REMARKS_LENGTH_AT);
  const json = new Utf8Writer(memory, start + KEY_AT + keyBytes + remarksBytes);
  texts.write(fields, json);
  const end = json.end();
  // Texts that do not fit are truncated silently, so never hand over a posting longer than its maximum.
  if (end - start > most)
    throw new Error(`a packed posting takes ${end - start} bytes, more than the expected ${most}`);
  target.cutTo(end);
}

/** Reads what {@link packPosting} wrote. The fields are not copied: they are valid as long as `bytes` is. */
export function unpackPosting(bytes: Buffer): ReadPosting<Buffer> {
  const keyEnd = KEY_AT + bytes.readUInt16LE(KEY_LENGTH_AT);
  const remarksEnd = keyEnd + bytes.readUInt32LE(REMARKS_LENGTH_AT);
  const { notes, problems }: Remarks =
    remarksEnd === keyEnd ? NO_REMARKS : (JSON.parse(bytes.toString('utf8', keyEnd, remarksEnd)) as Remarks);
  const posting = {
    key: postingKey(bytes.toString('utf8', KEY_AT, keyEnd)),
    fields: bytes.subarray(remarksEnd),
    contentHash: Buffer.from(bytes.subarray(0, HASH_BYTES)),
    notes,
  };
  return problems === undefined ? { kind: 'posting', posting } : { kind: 'invalid', posting, problems };
}

const NO_REMARKS: Remarks = { notes: [] };

function remarksOn(result: ReadPosting): string {
  const { notes } = result.posting;
  if (result.kind === 'invalid') return JSON.stringify({ notes, problems: result.problems } satisfies Remarks);
  return notes.length === 0 ? '' : JSON.stringify({ notes } satisfies Remarks);
}
