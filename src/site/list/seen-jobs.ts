// Keeps which jobs a reading of the list has shown, and where last, in a few bytes for each.
import { RecordIndex, RecordMark } from '../../plan/record-index.ts';
import { recordHash } from '../../posting/hash.ts';
import type { SiteJobId } from '../../posting/identifiers.ts';

/** What one page showed. */
export interface PageCounts {
  /** Jobs on it, each counted once. */
  readonly jobs: number;
  /** Of them, those that no page of this pass had shown before. */
  readonly added: number;
  /** Of them, those that the page before had shown, too. */
  readonly ofPageBefore: number;
  /**
   * Whether the page begins with just those jobs with which the page before ended, and shows no others again: jobs that
   * are made while a list is read, and that stand at its beginning, push the others on.
   */
  readonly isOverlap: boolean;
}

/** All jobs of a list, in passes of pages. A job is known by a hash of its ID, so that a million take some 30 MB. */
export class SeenJobs {
  /** Many small tables: one that grows is rebuilt in one go, during which nothing else happens. */
  readonly #tables = Array.from({ length: 256 }, () => new RecordIndex());
  #size = 0;
  /** Sightings so far; a job is noted with the last of its own. */
  #sightings = 0;
  #passStart = 0;
  #pageBefore = { start: 0, end: 0 };
  #page = emptyPage(0);
  /** Of the jobs that were known when the pass began, those that it has shown. */
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

  /** How many jobs that were known before this pass it has not shown. */
  get vanished(): number {
    return this.#knownBefore - this.#again;
  }

  /** Notes a job of the page; `true`: it was never seen before. */
  see(id: SiteJobId): boolean {
    const hash = recordHash(Buffer.from(id));
    const table = this.#tables[hash.readUInt8(hash.length - 1)] as RecordIndex;
    const slot = table.find(hash);
    const last = slot < 0 ? undefined : table.seenAt(slot);
    // Twice on one page, or in two places of a document that is read as one.
    if (last !== undefined && last >= this.#page.start) return false;
    const place = slot < 0 ? table.add(hash, RecordMark.mapped) : slot;
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
      // The first of the page says how many there will be.
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
