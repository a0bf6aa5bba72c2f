// Notes where keys occur again in a feed of several pages: a key on two pages of one list means that the list moved while it
// was read, so other postings may have been missed.
import type { PageRecords } from '../feed/feed-reading.ts';

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
      if (other === undefined || (one !== undefined && (one === other || one.list !== other.list))) return [];
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
