// Counts the records of one pull as they stream in and decides which of them have to be parsed.
import { KeyIndex } from '../compact/key-index.ts';
import { type HashMask, maskOf, RecordIndex, RecordMark, type Slot } from '../compact/record-index.ts';
import type { PageRecords } from '../feed/feed-reading.ts';
import type { Known } from '../plan/plan-posting.ts';
import { interpretedHash } from '../posting/hash.ts';
import type { PostingKey } from '../posting/identifiers.ts';
import { SkippedMark } from '../store/pull/record-hashes.ts';
import { PlaceSlots } from './pull-slots.ts';

/** A record that has to be parsed: its hash as stored, and its position in the feed, from 0. */
export interface SeenRecord {
  readonly hash: Buffer;
  readonly ordinal: number;
}

/** Whether a parsed posting counts, or repeats the key of another one. */
export type Sighting =
  | { readonly kind: 'first' }
  /** The key of the record was seen before, with the same content. */
  | { readonly kind: 'identical' }
  /** The key of the record was seen before, with different content: the other posting counts. */
  | { readonly kind: 'conflicting' }
  /** The key was seen before, with different content, but the job has the content of this record: it counts, and the other one does not. */
  | { readonly kind: 'known_of_conflicting' }
  /** The record is the first with its key, but a later one with known content was counted in its place. */
  | { readonly kind: 'first_of_conflicting' };

interface LedgerOptions {
  readonly isPaged?: boolean;
  /** A record may stand for a posting in each of several places. */
  readonly hasPlaces?: boolean;
  /** The records that earlier pulls skipped; those of expired postings are marked `superseding`. */
  readonly skipped?: RecordIndex;
  /** A record may be skipped later without being changed: then it is still that of a mapping, but no posting. */
  readonly isDated?: boolean;
}

const MOST_SKIPPED_KEYS = 10_000;

/**
 * Counts one pull by record hashes as they are stored. Under one interpretation each hash belongs to one key, and a
 * hash of another interpretation matches no record, so a record accounts for its own key only. Records with a known
 * hash stay on the fast path; the others are parsed in batches and matched by key. Of several records with one key the one counts
 * that the job has, wherever it is in the feed, so that records which change places cause no update; otherwise the first one. That holds
 * across both paths, whatever the batch size.
 */
export class PullLedger {
  readonly #index: RecordIndex;
  /** Records that are no postings; `undefined`: none is known. */
  #skippedIndex: RecordIndex | undefined;
  readonly #isDated: boolean;
  readonly #interpretation: Buffer;
  readonly #mask: HashMask;
  readonly #keys = new KeyIndex();
  /** Records, where a record with several places counts once for each. */
  seen = 0;
  records = 0;
  /** Known records whose postings the site already has unchanged. */
  unchanged = 0;
  /** Records of open changes, seen on the fast path. */
  openRecords = 0;
  /** Parsed postings whose open change already has the same desired state. */
  pendingSame = 0;
  duplicates = 0;
  unreadable = 0;
  skipped = 0;
  /** Keys of records that this pull has begun to skip; further ones count as not listed. */
  readonly skippedKeys: PostingKey[] = [];
  /** The number of skipped records whose postings have expired. */
  expired = 0;
  /** Where keys occur again; only for a feed that consists of pages. */
  readonly repeats: RepeatedKeys | undefined;
  readonly #places: PlaceSlots | undefined;

  /** @param interpretation how this pull reads records; see `interpretationOf`. */
  constructor(
    index: RecordIndex,
    interpretation: Buffer,
    { isPaged = false, hasPlaces = false, skipped, isDated = false }: LedgerOptions = {},
  ) {
    this.#isDated = isDated;
    this.#index = index;
    this.#skippedIndex = skipped;
    this.#places = hasPlaces ? new PlaceSlots(index, interpretation) : undefined;
    this.repeats = isPaged ? new RepeatedKeys() : undefined;
    this.#interpretation = interpretation;
    this.#mask = maskOf(interpretation);
  }

  /** Prefetches the slot of a record that will be seen soon. Its hash starts at `at` in `hashes`. */
  expectRecord(hashes: Buffer, at: number): void {
    this.#index.expectMasked(hashes, at, this.#mask);
  }

  /**
   * Counts a record by the hash of its bytes, which starts at `at` in `hashes`. `undefined`: the record is accounted
   * for; otherwise it must be parsed.
   */
  seeRecord(hashes: Buffer, at = 0): SeenRecord | undefined {
    const ordinal = this.countRecord();
    if (this.#isDated && this.#seeSkippedByDate(hashes, at, ordinal)) return undefined;
    if (this.#places !== undefined) return this.#seePlaces(this.#places, hashes, at, ordinal);
    const slot = this.#index.findMasked(hashes, at, this.#mask);
    if (slot < 0 && this.#skippedIndex !== undefined && this.#seeSkipped(this.#skippedIndex, hashes, at, ordinal)) {
      return undefined;
    }
    const mark = slot < 0 || this.#index.isAccounted(slot) ? undefined : this.#index.mark(slot);
    if (mark === undefined || mark === RecordMark.superseding) {
      return { hash: interpretedHash(hashes, at, this.#interpretation), ordinal };
    }
    this.#seeKnown(slot, ordinal);
    return undefined;
  }

  /** Counts a record that is to be parsed although it may be known. */
  seeDue(hashes: Buffer, at: number): SeenRecord {
    return { hash: interpretedHash(hashes, at, this.#interpretation), ordinal: this.countRecord() };
  }

  /** Counts a record, which is not parsed. Returns its position in the feed, from 0. */
  countRecord(): number {
    this.seen++;
    return this.records++;
  }

  /** Counts the further postings of a parsed record. @param places at least 1 */
  countPlaces(places: number): void {
    this.seen += places - 1;
  }

  /** Counts a parsed record that is no posting. Returns whether its hash is new. */
  skipRecord({ hash, ordinal }: SeenRecord): boolean {
    this.#skippedIndex ??= new RecordIndex();
    const isNew = this.#skippedIndex.find(hash) < 0;
    this.#countSkipped(this.#skippedIndex, this.#skippedIndex.add(hash, SkippedMark.added), ordinal);
    return isNew;
  }

  noteSkippedKey(key: PostingKey | undefined): void {
    if (key !== undefined && this.skippedKeys.length < MOST_SKIPPED_KEYS) this.skippedKeys.push(key);
  }

  /** Counts a parsed posting that has expired. Its key was seen. */
  skipExpired(): void {
    this.skipped++;
    this.expired++;
  }

  /** Whether the record of an expired posting was seen without being parsed. */
  hasSeenExpired(recordHash: Buffer): boolean {
    const slot = this.#skippedIndex?.find(recordHash) ?? -1;
    return slot >= 0 && this.#skippedIndex?.seenAt(slot) !== undefined;
  }

  /** Whether an earlier pull skipped a parsed record that is not skipped any more, because of a date. */
  wasSkipped({ hash }: SeenRecord): boolean {
    const slot = this.#skippedIndex?.find(hash) ?? -1;
    return slot >= 0 && this.#skippedIndex?.mark(slot) === SkippedMark.skipped;
  }

  /** Hashes of records that earlier pulls skipped and this one did not see. */
  unseenSkipped(): Iterable<Buffer> {
    return this.#skippedIndex?.missing([SkippedMark.skipped]) ?? [];
  }

  /** Whether any record was read by an earlier pull, in the same way. */
  get hasSeenKnown(): boolean {
    return this.unchanged + this.openRecords > 0;
  }

  /** Whether the feed has no posting, expired or not: it has no record, or its rule skips all that can be read. */
  get isEmpty(): boolean {
    return this.seen === 0 || (this.skipped > 0 && this.expired === 0 && this.skipped + this.unreadable === this.seen);
  }

  /**
   * Counts a parsed posting.
   * @param keyHash 16 bytes over its key. @param contentHash of the posting. @param known what the database has for its
   * key. @param isOfJob whether the job has this content.
   */
  seePosting(seenRecord: SeenRecord, keyHash: Buffer, contentHash: Buffer, known: Known, isOfJob = false): Sighting {
    const content = contentHash.readUInt32LE(0) >>> 4;
    const prior = this.#keys.markOf(keyHash);
    if (prior !== undefined) {
      this.duplicates++;
      this.repeats?.noteKey(keyHash, seenRecord.ordinal);
      if (prior === content) return { kind: 'identical' };
      if (!isOfJob || known.open !== undefined) return { kind: 'conflicting' };
      this.#keys.replace(keyHash, content);
      return { kind: 'known_of_conflicting' };
    }
    const slots = this.#slotsOf(known);
    const fast = slots.find(({ slot }) => this.#index.seenAt(slot) !== undefined);
    if (fast !== undefined) {
      const same = fast.contentHash?.equals(contentHash) === true;
      const first = this.#index.seenAt(fast.slot) as number;
      this.duplicates++;
      this.repeats?.note(first, seenRecord.ordinal);
      const isJobs = this.#index.mark(fast.slot) === RecordMark.mapped;
      if (same || isJobs || first < seenRecord.ordinal) {
        return { kind: same ? 'identical' : 'conflicting' };
      }
      this.#unsee(fast.slot);
    }
    this.#keys.add(keyHash, content);
    this.repeats?.see(keyHash, seenRecord.ordinal);
    for (const { slot } of slots) this.#index.account(slot);
    return { kind: fast === undefined ? 'first' : 'first_of_conflicting' };
  }

  /**
   * Record hashes not seen on either path. They include those of open changes: a change that was accepted while the
   * feed streamed has moved its record hash to the mapping.
   */
  missingRecords(): Generator<Buffer> {
    return this.#index.missing([RecordMark.mapped, RecordMark.superseding, RecordMark.open]);
  }

  /** Whether the open change with this record hash was seen on the fast path. */
  hasSeenChange(recordHash: Buffer): boolean {
    const slot = this.#index.find(recordHash);
    return slot >= 0 && this.#index.mark(slot) === RecordMark.open && this.#index.seenAt(slot) !== undefined;
  }

  /** Whether the posting with this record hash was seen on either path. */
  hasSeen(recordHash: Buffer): boolean {
    const slot = this.#index.find(recordHash);
    return slot >= 0 && (this.#index.isAccounted(slot) || this.#index.seenAt(slot) !== undefined);
  }

  /**
   * Like {@link seeRecord}: the record is accounted for if all of its postings are. If one is missing, or must be planned again,
   * the record is parsed.
   */
  #seePlaces(places: PlaceSlots, hashes: Buffer, at: number, ordinal: number): SeenRecord | undefined {
    const slots = places.find(hashes, at);
    if (slots === undefined && this.#skippedIndex !== undefined) {
      if (this.#seeSkipped(this.#skippedIndex, hashes, at, ordinal)) return undefined;
    }
    const isKnown = (slot: Slot) => !this.#index.isAccounted(slot) && this.#index.mark(slot) !== RecordMark.superseding;
    if (slots === undefined || !slots.every(isKnown)) {
      return { hash: interpretedHash(hashes, at, this.#interpretation), ordinal };
    }
    this.countPlaces(slots.length);
    for (const slot of slots) this.#seeKnown(slot, ordinal);
    return undefined;
  }

  #seeKnown(slot: Slot, ordinal: number): void {
    const first = this.#index.seenAt(slot);
    if (first !== undefined) {
      this.duplicates++;
      this.repeats?.note(first, ordinal);
      return;
    }
    this.#index.see(slot, ordinal);
    if (this.#index.mark(slot) === RecordMark.mapped) this.unchanged++;
    else this.openRecords++;
  }

  #slotsOf(known: Known): { slot: Slot; contentHash: Buffer | undefined }[] {
    return [known.mapping, known.open].flatMap((entry) => {
      const slot = entry?.recordHash === undefined ? -1 : this.#index.find(entry.recordHash);
      return slot < 0 ? [] : [{ slot, contentHash: entry?.contentHash }];
    });
  }

  #seeSkipped(index: RecordIndex, hashes: Buffer, at: number, ordinal: number): boolean {
    const slot = index.findMasked(hashes, at, this.#mask);
    if (slot >= 0) this.#countSkipped(index, slot, ordinal);
    return slot >= 0;
  }

  /** The record of a mapping was skipped since: the decision counts that was the last one. */
  #seeSkippedByDate(hashes: Buffer, at: number, ordinal: number): boolean {
    const index = this.#skippedIndex;
    const slot = index?.findMasked(hashes, at, this.#mask) ?? -1;
    if (index === undefined || slot < 0 || index.mark(slot) === SkippedMark.expired) return false;
    this.#countSkipped(index, slot, ordinal);
    return true;
  }

  #countSkipped(index: RecordIndex, slot: Slot, ordinal: number): void {
    this.skipped++;
    if (index.mark(slot) === SkippedMark.expired) this.expired++;
    const first = index.seenAt(slot);
    if (first === undefined) index.see(slot, ordinal);
    else this.repeats?.note(first, ordinal);
  }

  #unsee(slot: Slot): void {
    this.#index.unsee(slot);
    if (this.#index.mark(slot) === RecordMark.mapped) this.unchanged--;
    else this.openRecords--;
  }
}

// Notes where keys occur again in a feed of several pages: a key on two pages of one list means that the list moved while it
// was read, so other postings may have been missed.

/** The positions of two records in the feed, from 0; `undefined`: too far before the other one to be on its page. */
type Repeat = readonly [number | undefined, number];

/** No page has more postings. Older keys are forgotten, which limits the memory. */
const REMEMBERED_KEYS = 50_000;
/** One repeated key makes a reading incomplete; further ones are only counted, up to this number. */
const MAX_REPEATS = 10_000;

export class RepeatedKeys {
  readonly #firstOf = new Map<string, number>();
  readonly #repeats: Repeat[] = [];
  #isAnyLeftOut = false;

  /** Notes where a key occurs first. */
  see(keyHash: Buffer, ordinal: number): void {
    this.#firstOf.set(keyHash.toString('latin1'), ordinal);
    if (this.#firstOf.size <= REMEMBERED_KEYS) return;
    const [oldest] = this.#firstOf.keys();
    if (oldest !== undefined) this.#firstOf.delete(oldest);
  }

  /** Notes that a key occurs again. */
  noteKey(keyHash: Buffer, ordinal: number): void {
    this.#add(this.#firstOf.get(keyHash.toString('latin1')), ordinal);
  }

  /** Notes that two records have one key. */
  note(one: number, other: number): void {
    this.#add(one, other);
  }

  /** Why the pages overlap, for people; `undefined` if no key is on two pages of a list. */
  shortfall(pages: readonly PageRecords[]): string | undefined {
    const across = this.#repeats.flatMap(([first, second]) => {
      const [one, other] = [first, second].map((ordinal) => pageWith(pages, ordinal));
      // The pages are those of lists with several: a first record that is known but on none of them is of an only page.
      if (
        other === undefined ||
        (first !== undefined && (one === undefined || one === other || one.list !== other.list))
      )
        return [];
      return [one === undefined ? other.name : `${one.name} and ${other.name}`];
    });
    const [example] = across;
    if (example === undefined) return undefined;
    const count = across.length === 1 && !this.#isAnyLeftOut ? '1 posting is' : `${across.length} postings are`;
    const more = this.#isAnyLeftOut ? 'more than ' : '';
    return `${more}${count} on more than one page (${example}): the list changed while it was read, so others may have been missed`;
  }

  #add(first: number | undefined, second: number): void {
    if (this.#repeats.length < MAX_REPEATS) this.#repeats.push([first, second]);
    else this.#isAnyLeftOut = true;
  }
}

/** By binary search: the pages are in the order of the feed. */
function pageWith(pages: readonly PageRecords[], ordinal: number | undefined): PageRecords | undefined {
  if (ordinal === undefined) return undefined;
  let [low, high] = [0, pages.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pages[middle]?.end ?? 0) <= ordinal) low = middle + 1;
    else high = middle;
  }
  const page = pages[low];
  return page !== undefined && page.start <= ordinal ? page : undefined;
}
