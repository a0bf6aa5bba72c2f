// Tracks the age of cached list pages, and whether together they can represent one unchanged list.
import type { PageAnswer } from './read-page.ts';

// A cache states in the `Age` header for how many seconds it has kept a copy (RFC 9111, 5.1). So each page dates from a
// span of time: an uncached one from between request and answer, a copy from a one-second span that long ago.
// readList's proof relies on the order in which pages are read, so it holds only for copies whose spans follow in the
// same order. Of two other copies the first may be the newer one: a job that moved from the second page to the first
// between them is on neither. A cache that sends no `Age` is detected only if its pages' `Date` lags behind that of
// uncached ones.

/** `Age` counts whole seconds. */
const AGE_STEP_MS = 1_000;
/** Tolerated clock difference between the servers of one site. */
const DATE_LAG_MS = 30_000;

/** When a page was requested, and when its last byte was read, by `performance.now()`. */
export interface PageTimes {
  readonly askedAt: number;
  readonly endedAt: number;
}

/** The pages of one reading, across all of its passes. */
export class PageCopies {
  readonly #startedAt: number;
  readonly #maxAgeMs: number;
  /** The latest moment that the previous page may date from. */
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

  /** How old the oldest page was when the reading started. */
  get ageMs(): number {
    return Math.max(0, this.#startedAt - this.#oldest);
  }

  /** Adds the next page. Returns the reason to distrust it, if any. */
  add({ header, answeredAt }: Pick<PageAnswer, 'header' | 'answeredAt'>, times: PageTimes): string | undefined {
    const age = header('age').trim();
    const ageMs = readAge(age);
    const since = ageMs > 0 ? times.askedAt - ageMs - AGE_STEP_MS : times.askedAt;
    const kept = `it comes from a cache, ${age.slice(0, 20)} s old`;
    if (this.#startedAt - since > this.#maxAgeMs) return `${kept}; exclude the list from caching`;
    if (since < this.#before) {
      return `${kept}, and may be older than the page before, so the list may have changed between them; exclude it from caching`;
    }
    this.#before = times.endedAt - ageMs;
    this.#oldest = Math.min(this.#oldest, since);
    if (ageMs > 0) this.any = true;
    else if (!this.#isOfOneTime(answeredAt, header('date'))) {
      return 'the Date headers of its pages show that some come from a cache; exclude the list from caching';
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

/** In milliseconds. A value that is not empty and not a number is of unknown age. */
function readAge(age: string): number {
  if (!/[1-9]/.test(age)) return 0;
  return /^\d{1,9}$/.test(age) ? Number(age) * 1000 : Number.POSITIVE_INFINITY;
}
