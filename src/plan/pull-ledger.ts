// Turns the records of one pull, as they stream by, into what has to be parsed and what is already accounted for.

import { interpretedHash } from '../posting/hash.ts';
import { KeyIndex } from './key-index.ts';
import type { Known } from './plan-posting.ts';
import { type HashMask, type RecordIndex, RecordMark, type Slot } from './record-index.ts';

/** A record that has to be parsed: its hash as it is stored, and which record of the feed it was, from 0. */
export interface SeenRecord {
  readonly hash: Buffer;
  readonly ordinal: number;
}

/** Whether a parsed posting stands, or repeats the key of another one. */
export type Sighting =
  | { readonly kind: 'first' }
  /** Its key came before, with the same content. */
  | { readonly kind: 'identical' }
  /** Its key came before, with other content: the first one stands. */
  | { readonly kind: 'conflicting' }
  /** It came first, but one with the content that is known already came later and was taken for it. */
  | { readonly kind: 'first_of_conflicting' };

/**
 * Keeps count of one pull, by record hashes as they are stored: under one interpretation each stands for one key, and one
 * of another interpretation meets no record. So what is seen or parsed accounts for its own key only. Records with a known hash never leave the fast path; the others are parsed in batches and
 * met again by key. "The first one stands" holds across both paths, whatever the size of the batches.
 */
export class PullLedger {
  readonly #index: RecordIndex;
  readonly #interpretation: Buffer;
  readonly #mask: HashMask;
  readonly #keys = new KeyIndex();
  seen = 0;
  /** Known records whose postings are as the site has them. */
  unchanged = 0;
  /** Records of open changes, met on the fast path. */
  openRecords = 0;
  /** Postings that were parsed and found to be wished so already. */
  pendingSame = 0;
  duplicates = 0;
  unreadable = 0;

  /** @param interpretation how this pull reads records, by `interpretationOf`. */
  constructor(index: RecordIndex, interpretation: Buffer) {
    this.#index = index;
    this.#interpretation = interpretation;
    const word = (at: number) => interpretation.readUInt32LE(at);
    this.#mask = [word(0), word(4), word(8), word(12)];
  }

  /** Says that the record whose bytes' hash stands in `hashes` from `at` on will be met soon. */
  expectRecord(hashes: Buffer, at: number): void {
    this.#index.expectMasked(hashes, at, this.#mask);
  }

  /** Meets a record by the hash of its bytes, which stands in `hashes` from `at` on. `undefined`: accounted for; otherwise it is to be parsed. */
  seeRecord(hashes: Buffer, at = 0): SeenRecord | undefined {
    const ordinal = this.seen++;
    const slot = this.#index.findMasked(hashes, at, this.#mask);
    const mark = slot < 0 || this.#index.isAccounted(slot) ? undefined : this.#index.mark(slot);
    if (mark === undefined || mark === RecordMark.superseding) {
      return { hash: interpretedHash(hashes, at, this.#interpretation), ordinal };
    }
    if (this.#index.seenAt(slot) !== undefined) {
      this.duplicates++;
      return undefined;
    }
    this.#index.see(slot, ordinal);
    if (mark === RecordMark.mapped) this.unchanged++;
    else this.openRecords++;
    return undefined;
  }

  /**
   * Meets a posting that was parsed.
   * @param keyHash 16 bytes over its key. @param contentHash of the posting. @param known what the books have for its key.
   */
  seePosting(seenRecord: SeenRecord, keyHash: Buffer, contentHash: Buffer, known: Known): Sighting {
    const content = contentHash.readUInt32LE(0) >>> 4;
    const prior = this.#keys.noted(keyHash);
    if (prior !== undefined) {
      this.duplicates++;
      return { kind: prior === content ? 'identical' : 'conflicting' };
    }
    const slots = this.#slotsOf(known);
    const fast = slots.find(({ slot }) => this.#index.seenAt(slot) !== undefined);
    if (fast !== undefined) {
      const same = fast.contentHash?.equals(contentHash) === true;
      this.duplicates++;
      if (same || (this.#index.seenAt(fast.slot) as number) < seenRecord.ordinal) {
        return { kind: same ? 'identical' : 'conflicting' };
      }
      this.#takeBack(fast.slot);
    }
    this.#keys.note(keyHash, content);
    for (const { slot } of slots) this.#index.account(slot);
    return { kind: fast === undefined ? 'first' : 'first_of_conflicting' };
  }

  /**
   * Record hashes that were not met on either path. Those of open changes are among them: a change that was accepted
   * while the feed streamed has made its record the mapping's.
   */
  missingRecords(): Generator<Buffer> {
    return this.#index.missing([RecordMark.mapped, RecordMark.superseding, RecordMark.open]);
  }

  /** Whether the open change with this record hash was met on the fast path. */
  hasSeenChange(recordHash: Buffer): boolean {
    const slot = this.#index.find(recordHash);
    return slot >= 0 && this.#index.mark(slot) === RecordMark.open && this.#index.seenAt(slot) !== undefined;
  }

  /** Whether the posting with this record hash was met on either path. */
  hasSeen(recordHash: Buffer): boolean {
    const slot = this.#index.find(recordHash);
    return slot >= 0 && (this.#index.isAccounted(slot) || this.#index.seenAt(slot) !== undefined);
  }

  #slotsOf(known: Known): { slot: Slot; contentHash: Buffer | undefined }[] {
    return [known.mapping, known.open].flatMap((entry) => {
      const slot = entry?.recordHash === undefined ? -1 : this.#index.find(entry.recordHash);
      return slot < 0 ? [] : [{ slot, contentHash: entry?.contentHash }];
    });
  }

  #takeBack(slot: Slot): void {
    this.#index.unsee(slot);
    if (this.#index.mark(slot) === RecordMark.mapped) this.unchanged--;
    else this.openRecords--;
  }
}
