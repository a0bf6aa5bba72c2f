// Tells how old the pages of a list are that caches answer with, and whether they can stand for one list that did not move.
import type { PageAnswer } from './read-page.ts';

// A cache says in the header `Age` for how many seconds it has kept a copy (RFC 9111, 5.1). So each page is of a span of
// time: a fresh one of the time between question and answer, a copy of a second that long ago. What readList proves of the
// order in which pages are read holds for copies whose spans follow each other in the same order, and for no others: of two
// copies the first may be the newer one, so that a job went from the second page to the first between them, and is on
// neither. A cache that sends no `Age` betrays itself only where its pages' `Date` lags behind that of fresh ones.

/** `Age` counts whole seconds. */
const AGE_STEP_MS = 1_000;
/** Servers of one site may differ as much in their clocks. */
const DATE_LAG_MS = 30_000;

/** When a page was asked for, and when its last byte was read, by `performance.now()`. */
export interface PageTimes {
  readonly askedAt: number;
  readonly endedAt: number;
}

/** The pages of one reading, over all of its passes. */
export class PageCopies {
  readonly #startedAt: number;
  readonly #maxAgeMs: number;
  /** The latest time that the page before may be of. */
  #before = Number.NEGATIVE_INFINITY;
  #oldest: number;
  #dateLag = { least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY };
  /** Whether any page came from a cache. */
  any = false;

  constructor(startedAt: number, maxAgeMs: number) {
    this.#startedAt = startedAt;
    this.#oldest = startedAt;
    this.#maxAgeMs = maxAgeMs;
  }

  /** How long before the reading began its oldest page was made. */
  get ageMs(): number {
    return Math.max(0, this.#startedAt - this.#oldest);
  }

  /** Takes the next page. Gives what speaks against it. */
  add({ header, answeredAt }: Pick<PageAnswer, 'header' | 'answeredAt'>, times: PageTimes): string | undefined {
    const age = header('age').trim();
    const ageMs = readAge(age);
    const since = ageMs > 0 ? times.askedAt - ageMs - AGE_STEP_MS : times.askedAt;
    const kept = `it comes from a cache, ${age.slice(0, 20)} s old`;
    if (this.#startedAt - since > this.#maxAgeMs) return `${kept}; let no cache keep it`;
    if (since < this.#before) {
      return `${kept}, and may be older than the page before, so that it may have moved between them; let no cache keep it`;
    }
    this.#before = times.endedAt - ageMs;
    this.#oldest = Math.min(this.#oldest, since);
    if (ageMs > 0) this.any = true;
    else if (!this.#isOfOneTime(answeredAt, header('date'))) {
      return 'the header Date of its pages says that some are older than others: a cache keeps them; let none do so';
    }
    return undefined;
  }

  #isOfOneTime(answeredAt: number, date: string): boolean {
    const made = Date.parse(date);
    if (Number.isNaN(made)) return true;
    const lag = answeredAt - made;
    const { least, most } = this.#dateLag;
    this.#dateLag = { least: Math.min(least, lag), most: Math.max(most, lag) };
    return this.#dateLag.most - this.#dateLag.least <= DATE_LAG_MS;
  }
}

/** In milliseconds. What is no number, and not empty, is of no known age. */
function readAge(age: string): number {
  if (!/[1-9]/.test(age)) return 0;
  return /^\d{1,9}$/.test(age) ? Number(age) * 1000 : Number.POSITIVE_INFINITY;
}
