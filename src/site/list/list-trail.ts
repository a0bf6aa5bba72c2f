// Follows what the pages of one pass through the site's list say, and finds its end, or what speaks against it.
import type { PageHints } from './list-page.ts';
import { type Asked, findMixUp, findNext, type Onward } from './paging.ts';
import type { PageCounts } from './seen-jobs.ts';

/** One page, read. `number` counts the pages of the pass from 1. */
export interface ReadPage {
  readonly number: number;
  readonly asked: Asked;
  readonly hints: PageHints;
  readonly counts: PageCounts;
}

/** `ended`: by the site's word, by pages that bring nothing more, or because the site knows no pages. */
export type Step =
  | { readonly kind: 'ended'; readonly by: 'word' | 'nothing more' | 'no paging' }
  | Asked
  | { readonly kind: 'doubtful'; readonly why: string };

const MOVED = 'it changed while it was read';

/** The pages of one pass, in order. */
export class ListTrail {
  /** The last page that brought jobs. */
  lastPage = 1;
  #jobs = 0;
  #least: { readonly total?: number; readonly pages?: number } = {};
  #jobsOnPageBefore = 0;
  /** What the last page showed, if it may be behind the end; of a list without a word of paging. */
  #closing: 'empty' | 'repeated' | undefined;

  /** Where a page leads. */
  follow(page: ReadPage): Step {
    const { hints, counts, asked } = page;
    const before = this.#jobsOnPageBefore;
    this.#jobs += counts.added;
    this.#jobsOnPageBefore = counts.jobs;
    if (counts.added > 0) this.lastPage = page.number;
    const next = findNext(hints, asked, counts.jobs, this.#jobs);
    if (next.kind === 'nowhere') return doubtful(next.why);
    const saysNothing = next.kind === 'page' && next.promise === undefined;
    if (saysNothing) return this.#followSilence(page, before) ?? next;
    const against =
      this.#checkTotals(hints) ?? this.#checkNews(page, next) ?? findMixUp(hints, asked.url) ?? findMove(page);
    if (against !== undefined) return doubtful(against);
    const isEnd = next.kind === 'end' || counts.jobs === 0;
    return isEnd ? this.#end(hints) : next;
  }

  /** What a list says of its size may grow while jobs are made; what shrinks has lost some, and others moved up. */
  #checkTotals({ total, totalPages }: PageHints): string | undefined {
    const least = { total: this.#least.total ?? total, pages: this.#least.pages ?? totalPages };
    this.#least = least;
    if (total !== undefined && least.total !== undefined && total < least.total) {
      return `it named ${least.total} jobs and then ${total}: ${MOVED}`;
    }
    if (totalPages !== undefined && least.pages !== undefined && totalPages < least.pages) {
      return `it named ${least.pages} pages and then ${totalPages}: ${MOVED}`;
    }
    return undefined;
  }

  /** A page that was promised, or that promises another one, has to bring something. */
  #checkNews({ number, asked, hints, counts }: ReadPage, next: Onward): string | undefined {
    if (counts.added > 0 || (counts.jobs === 0 && next.kind === 'end' && asked.promise !== 'numbered'))
      return undefined;
    const mixUp = findMixUp(hints, asked.url);
    if (mixUp !== undefined) return mixUp;
    if (next.kind === 'page' && next.promise === 'counted') {
      // Jobs that are made meanwhile are counted and stand on pages that were read before.
      const isEnough = counts.jobs === 0 && this.#least.total !== undefined && this.#jobs >= this.#least.total;
      return isEnough ? undefined : this.#missing(hints);
    }
    const promise = hints.totalPages === undefined ? 'it promises more' : `it names ${hints.totalPages} pages`;
    return `${promise}, and page ${number} brought nothing new`;
  }

  #missing({ total }: PageHints): string | undefined {
    return total === undefined ? undefined : `it names ${total} jobs and gave ${this.#jobs}`;
  }

  #end(hints: PageHints): Step {
    const { total } = hints;
    const least = this.#least.total;
    const isOff = (least !== undefined && this.#jobs < least) || (total !== undefined && this.#jobs > total);
    const against = isOff ? (this.#missing(hints) ?? `it named ${least} jobs and gave ${this.#jobs}`) : undefined;
    return against === undefined ? { kind: 'ended', by: 'word' } : doubtful(against);
  }

  /** A list without a word of paging ends where two pages in a row bring nothing more: no accident looks like that. */
  #followSilence(page: ReadPage, before: number): Step | undefined {
    const { number, counts } = page;
    const closing = this.#closing;
    const isRepeated = before > 0 && counts.ofPageBefore === before;
    if (isRepeated && number === 2) return { kind: 'ended', by: 'no paging' };
    if (counts.jobs > 0 && closing !== undefined && counts.added > 0) {
      return doubtful(`page ${number - 1} brought nothing new, and page ${number} brought more`);
    }
    this.#closing = counts.jobs === 0 ? 'empty' : isRepeated && counts.added === 0 ? 'repeated' : undefined;
    if (this.#closing !== undefined) {
      return closing === this.#closing ? { kind: 'ended', by: 'nothing more' } : undefined;
    }
    const against = findMove(page);
    return against === undefined ? undefined : doubtful(against);
  }
}

const findMove = ({ number, counts }: ReadPage): string | undefined =>
  counts.jobs > counts.added && !counts.isOverlap
    ? `jobs of page ${number} were on a page before: ${MOVED}`
    : undefined;

const doubtful = (why: string): Step => ({ kind: 'doubtful', why });
