// Remembers which jobs a reading of the list has shown, and where last, in a few bytes each.
import { ONLY_MARK, RecordIndex } from '../../compact/record-index.ts';
import { recordHash } from '../../posting/hash.ts';
import type { SiteJobId } from '../../posting/identifiers.ts';

/** What one page showed. */
export interface PageCounts {
  /** Jobs on it, each counted once. */
  readonly jobs: number;
  /** Jobs that no earlier page of this pass showed. */
  readonly added: number;
  /** Jobs that the previous page showed too. */
  readonly ofPageBefore: number;
  /**
   * Whether the page begins with exactly the jobs that ended the previous page, and repeats no others: jobs created at
   * the beginning of a list while it is read push the others on.
   */
  readonly isOverlap: boolean;
}

/** All jobs of a list, across passes. A job is identified by a hash of its ID; a million take about 30 MB. */
export class SeenJobs {
  /** Many small tables, because a growing table is rebuilt in one go, which blocks the process. */
  readonly #tables = Array.from({ length: 256 }, () => new RecordIndex());
  #size = 0;
  /** Sightings so far; each job keeps the number of its last one. */
  #sightings = 0;
  #passStart = 0;
  #pageBefore = { start: 0, end: 0 };
  #page = emptyPage(0);
  /** How many of the jobs known before this pass it has shown. */
  #again = 0;
  #knownBefore = 0;

  get size(): number {
    return this.#size;
  }

  beginPass(): void {
    this.#passStart = this.#sightings;
    this.#pageBefore = { start: this.#sightings, end: this.#sightings };
    this.#page = emptyPage(this.#sightings);
    this.#again = 0;
    this.#knownBefore = this.#size;
  }

  /** How many jobs known before this pass it has not shown. */
  get vanished(): number {
    return this.#knownBefore - this.#again;
  }

  /** Adds a job of the page; `true`: it was never seen before. */
  see(id: SiteJobId): boolean {
    const hash = recordHash(Buffer.from(id));
    const table = this.#tables[hash.readUInt8(hash.length - 1)] as RecordIndex;
    const slot = table.find(hash);
    const last = slot < 0 ? undefined : table.seenAt(slot);
    // The job appears twice on one page, or twice in a document read as one.
    if (last !== undefined && last >= this.#page.start) return false;
    const place = slot < 0 ? table.add(hash, ONLY_MARK) : slot;
    this.#count(last);
    table.unsee(place);
    table.see(place, this.#sightings++);
    if (last === undefined) this.#size++;
    return last === undefined;
  }

  #count(last: number | undefined): void {
    const page = this.#page;
    if (last === undefined || last < this.#passStart) {
      if (last !== undefined) this.#again++;
      page.added++;
    } else if (last >= this.#pageBefore.start) {
      page.ofPageBefore++;
      // The first repeated job tells how long the overlap must be.
      if (page.jobs === 0) page.overlap = this.#pageBefore.end - last;
      if (page.jobs >= page.overlap || last !== this.#pageBefore.end - page.overlap + page.jobs) page.isOverlap = false;
    } else page.isOverlap = false;
    page.jobs++;
  }

  endPage(): PageCounts {
    const { start, overlap, isOverlap, ...counts } = this.#page;
    this.#pageBefore = { start, end: this.#sightings };
    this.#page = emptyPage(this.#sightings);
    return { ...counts, isOverlap: isOverlap && counts.ofPageBefore === overlap };
  }
}

const emptyPage = (start: number) => ({ start, jobs: 0, added: 0, ofPageBefore: 0, overlap: 0, isOverlap: true });
