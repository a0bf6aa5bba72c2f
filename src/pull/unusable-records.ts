// Collects the records of a pull that get a review entry of their own: unreadable ones and conflicting duplicates.
import type { RecordBatch } from '../feed/batch/record-batch.ts';
import type { SecretMask } from '../feed/source/sources.ts';
import { faultOf, shapeOf } from '../plan/match-unreadable.ts';
import { HASH_BYTES, recordHash } from '../posting/hash.ts';
import type { PostingKey } from '../posting/identifiers.ts';
import type { Problem } from '../posting/posting.ts';
import type { RecordProblem, UnreadableRecords } from '../store/pull/record-problems.ts';
import type { SeenRecord } from './pull-ledger.ts';

/** An object, so that a test can lower the limit. */
export const PULL_LIMITS = {
  /** Maximum number of review entries per pull; beyond that, a single entry says that there are more. */
  entries: 5_000,
};
/** First bytes of a record that its review entry shows. */
export const EXCERPT_BYTES = 2_048;
/** Hash of the single entry for all records without their own; no record has this hash. */
const REST = Buffer.alloc(HASH_BYTES);

export type Mask = SecretMask | undefined;

/** A record that could not be read into a posting. */
export interface UnreadableRecord {
  /** Hash of its bytes: a reviewer's decision on a record applies to its bytes, however they are interpreted. */
  readonly hash: Buffer;
  readonly bytes: Buffer;
  readonly problems: readonly Problem[];
  readonly key: PostingKey | undefined;
  /** The position of the record in the feed, from 0. */
  readonly ordinal: number;
}

/** Records without their own entry. */
export interface LeftOut {
  readonly records: number;
  /** How many of them have no known key. */
  readonly withoutKey: number;
}

/** The unusable records of one pull. */
export class UnusableRecords {
  readonly #duplicates: RecordProblem[] = [];
  /** Number of duplicates recorded per key. */
  readonly #duplicatesOf = new Map<PostingKey, number>();
  /** By key, or by the hash of the bytes if there is no key. */
  readonly #unreadable = new Map<string, UnreadableRecords>();
  #newKeys: PostingKey[] = [];
  readonly #mask: Mask;
  #isAnyLeftOut = false;
  #unreadableLeftOut: LeftOut = { records: 0, withoutKey: 0 };

  /** @param mask removes what excerpts must not show. */
  constructor(mask?: SecretMask) {
    this.#mask = mask;
  }

  noteUnreadable({ hash, bytes, problems, key, ordinal }: UnreadableRecord): void {
    if (key !== undefined) this.#newKeys.push(key);
    const identity = key === undefined ? `bytes ${hash.toString('hex')}` : `key ${key}`;
    const known = this.#unreadable.get(identity);
    if (known !== undefined) {
      this.#unreadable.set(identity, { ...known, count: known.count + 1 });
    } else if (this.#hasRoom()) {
      const marks = { recordHash: hash, shape: shapeOf(bytes), fault: faultOf(problems) };
      const place = { excerpt: this.excerptOf(bytes), recordNumber: ordinal + 1 };
      this.#unreadable.set(identity, { key, ...marks, problems, ...place, count: 1 });
    } else {
      this.#isAnyLeftOut = true;
      const { records, withoutKey } = this.#unreadableLeftOut;
      this.#unreadableLeftOut = { records: records + 1, withoutKey: withoutKey + (key === undefined ? 1 : 0) };
    }
  }

  /** Notes the key of a posting without an entry of its own, whose job stays as it is. */
  noteKey(key: PostingKey): void {
    this.#newKeys.push(key);
  }

  /** The entry belongs to the key's first, second … duplicate, so it stays the same when the bytes change. */
  noteDuplicate({ bytes, ordinal }: Pick<UnreadableRecord, 'bytes' | 'ordinal'>, key: PostingKey): void {
    if (!this.#hasRoom()) {
      this.#isAnyLeftOut = true;
      return;
    }
    const nth = (this.#duplicatesOf.get(key) ?? 0) + 1;
    this.#duplicatesOf.set(key, nth);
    const message = `the key ${key} appears more than once in the feed with different content; the one that the job has counts, otherwise the first one`;
    const problems = [{ value: key, message }];
    const identity = recordHash(Buffer.from(`duplicate ${nth} of ${key}`));
    this.#duplicates.push({
      kind: 'duplicate',
      recordHash: identity,
      key,
      problems,
      excerpt: this.excerptOf(bytes),
      recordNumber: ordinal + 1,
      records: 1,
    });
  }

  /** How many further records with other content were noted of each key. */
  get duplicatesOf(): ReadonlyMap<PostingKey, number> {
    return this.#duplicatesOf;
  }

  /** Keys of the unreadable records since the last call. */
  takeNewKeys(): readonly PostingKey[] {
    const keys = this.#newKeys;
    this.#newKeys = [];
    return keys;
  }

  /** Unreadable records in feed order. */
  unreadable(): { readonly records: readonly UnreadableRecords[]; readonly leftOut: LeftOut } {
    return { records: [...this.#unreadable.values()], leftOut: this.#unreadableLeftOut };
  }

  /**
   * Other unusable records in feed order. `all`: none was left out, so existing entries not among them are resolved.
   */
  problems(): { readonly recorded: readonly RecordProblem[]; readonly all: boolean } {
    if (!this.#isAnyLeftOut) return { recorded: this.#duplicates, all: true };
    const message = `more than ${PULL_LIMITS.entries} records can't be used; the others have no review entries: fix these first`;
    const kind = this.#unreadable.size > 0 ? 'unreadable' : 'duplicate';
    const problems = [{ message }];
    const rest: RecordProblem = {
      kind,
      recordHash: REST,
      key: undefined,
      problems,
      excerpt: '',
      recordNumber: undefined,
      records: 0,
    };
    return { recorded: [...this.#duplicates, rest], all: false };
  }

  /** The beginning of a record, also of one whose posting is rejected. */
  excerptOf(bytes: Buffer): string {
    return beginningOf(bytes, EXCERPT_BYTES, this.#mask).toString('utf8');
  }

  #hasRoom(): boolean {
    return this.#duplicates.length + this.#unreadable.size < PULL_LIMITS.entries;
  }
}

/** Bytes beyond an excerpt in which a text that begins in it ends. */
const MASK_BYTES = 2_048;

/** The first bytes, masked before they are cut: a text that is cut in half would not be found. */
export function beginningOf(bytes: Buffer, most: number, mask: Mask): Buffer {
  const beginning = bytes.subarray(0, most + MASK_BYTES);
  if (mask?.mayHold(beginning) !== true) return bytes.subarray(0, most);
  const text = beginning.toString();
  const masked = mask.text(text);
  return (masked === text ? bytes : Buffer.from(masked)).subarray(0, most);
}

// Keeps copies of the records that have to be parsed, in memory that is reused from batch to batch.

/** A batch of records to parse is full at either limit; the bytes limit memory. */
const BATCH_RECORDS = 128;
const BATCH_BYTES = 1 << 20;
/** A batch can exceed its bytes by the records that end in one more chunk, or by their packed postings and excerpts. */
const BATCH_MEMORY = 2 * BATCH_BYTES;
/** Enough for the batch of a small pull: megabytes for each pull of many small feeds would mostly occupy the garbage collector. */
const FIRST_MEMORY = 1 << 16;

const NO_MEMORY: Buffer = Buffer.alloc(0);

/** A record that has to be parsed and planned. */
export interface WaitingRecord extends SeenRecord {
  /** The record's bytes; only an excerpt if it was parsed ahead. */
  readonly bytes: Buffer;
  /** For `unpackPosting`, if the record was parsed ahead. */
  readonly packedPosting: Buffer | undefined;
}

/** Collects records until a batch is taken. The copies of a batch stay valid until the batch after the next is taken. */
export class WaitingRecords {
  readonly #mask: SecretMask | undefined;
  #records: WaitingRecord[] = [];
  #bytes = 0;
  /**
   * Three buffers in rotation: the first holds the waiting records, the second the batch being planned, and the third
   * the batch before it, whose last records may still be in use by the database.
   */
  #memories: [Buffer, Buffer, Buffer] = [NO_MEMORY, NO_MEMORY, NO_MEMORY];

  constructor(mask?: SecretMask) {
    this.#mask = mask;
  }

  get isFull(): boolean {
    return this.#records.length >= BATCH_RECORDS || this.#bytes >= BATCH_BYTES;
  }

  /** Copies the parts of a record that planning needs, because the record batch is reused at once. */
  add({ hash, ordinal }: SeenRecord, batch: RecordBatch, record: number): void {
    const [start, end] = [batch.startOf(record), batch.endOf(record)];
    // What was parsed ahead was read with the secrets that the record may hold.
    const ahead = batch.packedPostingOf(record);
    const mustParse = ahead !== undefined && this.#mask?.mayHold(batch.bytes.subarray(start, end)) === true;
    const packedPosting = mustParse ? undefined : ahead;
    if (packedPosting === undefined) {
      this.#records.push({ hash, ordinal, bytes: this.#keep(batch.bytes, start, end, batch.prefix), packedPosting });
      return;
    }
    this.#records.push({
      hash,
      ordinal,
      bytes: this.#keep(batch.bytes, start, Math.min(end, start + EXCERPT_BYTES), batch.prefix),
      packedPosting: this.#keep(packedPosting, 0, packedPosting.length, NOTHING),
    });
  }

  /** Takes the records that are waiting; more may be added at once. */
  takeBatch(): readonly WaitingRecord[] {
    const batch = this.#records;
    this.#records = [];
    this.#bytes = 0;
    const [filled, planned, written] = this.#memories;
    this.#memories = [written, filled, planned];
    return batch;
  }

  /** Bytes that do not fit in the batch's memory get their own. */
  #keep(buffer: Buffer, start: number, end: number, prefix: Buffer): Buffer {
    const from = this.#bytes;
    this.#bytes += prefix.length + end - start;
    if (this.#bytes > this.#memories[0].length) this.#grow();
    const [memory] = this.#memories;
    if (this.#bytes > memory.length) return Buffer.concat([prefix, buffer.subarray(start, end)]);
    if (prefix.length > 0) prefix.copy(memory, from);
    buffer.copy(memory, from + prefix.length, start, end);
    return memory.subarray(from, this.#bytes);
  }

  /** Makes room for the whole batch, up to its limit. What was kept before stays valid in its former memory. */
  #grow(): void {
    const [{ length }] = this.#memories;
    if (length === BATCH_MEMORY) return;
    const isSmall = length === 0 && this.#bytes <= FIRST_MEMORY;
    this.#memories[0] = Buffer.allocUnsafeSlow(isSmall ? FIRST_MEMORY : BATCH_MEMORY);
  }
}

const NOTHING = Buffer.alloc(0);
