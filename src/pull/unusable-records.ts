// Collects the records of a pull that get a review entry of their own: unreadable ones and conflicting duplicates.
import { faultOf, shapeOf } from '../plan/match-unreadable.ts';
import { HASH_BYTES, recordHash } from '../posting/hash.ts';
import type { PostingKey } from '../posting/identifiers.ts';
import type { Problem } from '../posting/posting.ts';
import type { RecordProblem, UnreadableRecords } from '../store/pull/record-problems.ts';

/** Maximum number of review entries per pull; beyond that, a single entry says that there are more. */
export const MAX_PROBLEMS = 5_000;
/** First bytes of a record that its review entry shows. */
export const EXCERPT_BYTES = 2_048;
/** Hash of the single entry for all records without their own; no record has this hash. */
const REST = Buffer.alloc(HASH_BYTES);

/** A record that could not be read into a posting. */
export interface UnreadableRecord {
  /** Hash of its bytes: a reviewer's decision on a record applies to its bytes, however they are interpreted. */
  readonly hash: Buffer;
  readonly bytes: Buffer;
  readonly problems: readonly Problem[];
  readonly key: PostingKey | undefined;
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
  #isAnyLeftOut = false;
  #unreadableLeftOut: LeftOut = { records: 0, withoutKey: 0 };

  noteUnreadable({ hash, bytes, problems, key }: UnreadableRecord): void {
    if (key !== undefined) this.#newKeys.push(key);
    const identity = key === undefined ? `bytes ${hash.toString('hex')}` : `key ${key}`;
    const known = this.#unreadable.get(identity);
    if (known !== undefined) {
      this.#unreadable.set(identity, { ...known, count: known.count + 1 });
    } else if (this.#hasRoom()) {
      const marks = { recordHash: hash, shape: shapeOf(bytes), fault: faultOf(problems) };
      this.#unreadable.set(identity, { key, ...marks, problems, excerpt: excerptOf(bytes), count: 1 });
    } else {
      this.#isAnyLeftOut = true;
      const { records, withoutKey } = this.#unreadableLeftOut;
      this.#unreadableLeftOut = { records: records + 1, withoutKey: withoutKey + (key === undefined ? 1 : 0) };
    }
  }

  /** The entry belongs to the key's first, second … duplicate, so it stays the same when the bytes change. */
  noteDuplicate(bytes: Buffer, key: PostingKey): void {
    if (!this.#hasRoom()) {
      this.#isAnyLeftOut = true;
      return;
    }
    const nth = (this.#duplicatesOf.get(key) ?? 0) + 1;
    this.#duplicatesOf.set(key, nth);
    const message = `the key ${key} appears more than once in the feed with different content; the first one counts`;
    const problems = [{ value: key, message }];
    const identity = recordHash(Buffer.from(`duplicate ${nth} of ${key}`));
    this.#duplicates.push({
      kind: 'duplicate',
      recordHash: identity,
      key,
      problems,
      excerpt: excerptOf(bytes),
      records: 1,
    });
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
    const message = `more than ${MAX_PROBLEMS} records can't be used; the others have no review entries: fix these first`;
    const kind = this.#unreadable.size > 0 ? 'unreadable' : 'duplicate';
    const problems = [{ message }];
    const rest: RecordProblem = { kind, recordHash: REST, key: undefined, problems, excerpt: '', records: 0 };
    return { recorded: [...this.#duplicates, rest], all: false };
  }

  #hasRoom(): boolean {
    return this.#duplicates.length + this.#unreadable.size < MAX_PROBLEMS;
  }
}

const excerptOf = (bytes: Buffer): string => bytes.subarray(0, EXCERPT_BYTES).toString('utf8');
