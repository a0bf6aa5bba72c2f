// Follows the paging hints of one pass through the site's list; finds its end, or a reason to distrust it.
import type { PageHints } from './list-page.ts';
import { type Asked, findMixUp, findNext, type Onward } from './paging.ts';
import type { PageCounts } from './seen-jobs.ts';

/** One parsed page. `number` counts the pages of the pass from 1. */
export interface ReadPage {
  readonly number: number;
  readonly asked: Asked;
  readonly hints: PageHints;
  readonly counts: PageCounts;
}

/** `ended`: by what the site says, by pages without further jobs, or because the site does not page. */
export type TrailStep =
  | { readonly kind: 'ended'; readonly by: 'hints' | 'nothing more' | 'no paging' }
  | Asked
  | { readonly kind: 'doubtful'; readonly why: string };

const MOVED = 'it changed while it was read';

/** The pages of one pass, in order. */
export class ListTrail {
  /** The last page that had new jobs. */
  lastPage = 1;
  #jobs = 0;
  #least: { readonly total?: number; readonly pages?: number } = {};
  #jobsOnPageBefore = 0;
  /** What the last page showed if it may be past the end; only for a list without paging hints. */
  #closing: 'empty' | 'repeated' | undefined;

  /** Decides where to go after a page. */
  follow(page: ReadPage): TrailStep {
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

  /** The announced size may grow while jobs are created; if it shrinks, jobs left the list and others moved up. */
  #checkTotals({ total, totalPages }: PageHints): string | undefined {
    const least = { total: this.#least.total ?? total, pages: this.#least.pages ?? totalPages };
    this.#least = least;
    if (total !== undefined && least.total !== undefined && total < least.total) {
      return `it announced ${least.total} jobs and then ${total}: ${MOVED}`;
    }
    if (totalPages !== undefined && least.pages !== undefined && totalPages < least.pages) {
      return `it announced ${least.pages} pages and then ${totalPages}: ${MOVED}`;
    }
    return undefined;
  }

  /** A page that was promised, or that promises another one, must have new jobs. */
  #checkNews({ number, asked, hints, counts }: ReadPage, next: Onward): string | undefined {
    if (counts.added > 0 || (counts.jobs === 0 && next.kind === 'end' && asked.promise !== 'numbered'))
      return undefined;
    const mixUp = findMixUp(hints, asked.url);
    if (mixUp !== undefined) return mixUp;
    if (next.kind === 'page' && next.promise === 'counted') {
      // Jobs created meanwhile are counted, but appear on pages that were already read.
      const isEnough = counts.jobs === 0 && this.#least.total !== undefined && this.#jobs >= this.#least.total;
      return isEnough ? undefined : this.#missing(hints);
    }
    const promise = hints.totalPages === undefined ? 'it promises more' : `it announces ${hints.totalPages} pages`;
    return `${promise}, but page ${number} had nothing new`;
  }

  #missing({ total }: PageHints): string | undefined {
    return total === undefined ? undefined : `it announces ${total} jobs but returned ${this.#jobs}`;
  }

  #end(hints: PageHints): TrailStep {
    const { total } = hints;
    const least = this.#least.total;
    const isOff = (least !== undefined && this.#jobs < least) || (total !== undefined && this.#jobs > total);
    const against = isOff
      ? (this.#missing(hints) ?? `it announced ${least} jobs but returned ${this.#jobs}`)
      : undefined;
    return against === undefined ? { kind: 'ended', by: 'hints' } : doubtful(against);
  }

  /** A list without paging hints ends after two pages in a row without new jobs: that does not happen by accident. */
  #followSilence(page: ReadPage, before: number): TrailStep | undefined {
    const { number, counts } = page;
    const closing = this.#closing;
    const isRepeated = before > 0 && counts.ofPageBefore === before;
    if (isRepeated && number === 2) return { kind: 'ended', by: 'no paging' };
    if (counts.jobs > 0 && closing !== undefined && counts.added > 0) {
      return doubtful(`page ${number - 1} had nothing new, but page ${number} had more`);
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
    ? `jobs of page ${number} were already on an earlier page: ${MOVED}`
    : undefined;

const doubtful = (why: string): TrailStep => ({ kind: 'doubtful', why });
