// Compares the total that each page of a list states with the others, and with the number of records.
import type { Paging } from './pages-config.ts';

/** The total is that of the whole list, so all pages must state the same one. */
export class StatedTotal {
  readonly #rule: Paging['total'];
  #total: number | undefined;

  constructor(rule: Paging['total']) {
    this.#rule = rule;
  }

  /** Returns why the list must have changed since the first page, if so. */
  take(page: number, stated: number | undefined): string | undefined {
    if (page === 1) {
      this.#total = stated;
      return undefined;
    }
    const before = this.#total;
    if (stated === before) return undefined;
    if (this.#rule === 'first_page' && (stated === undefined || stated === 0)) return undefined;
    if (stated === undefined) return `page ${page} states no total, although the first page states ${before}`;
    this.#total = stated;
    if (before === undefined) return `page ${page} states a total of ${stated}, which the first page does not`;
    return `the total changed from ${before} to ${stated} on page ${page}`;
  }

  /** Whether these are all records, by the last total that was stated. */
  isReached(records: number): boolean {
    return this.#total !== undefined && records >= this.#total;
  }

  differs(records: number): string | undefined {
    if (this.#total === undefined || this.#total === records) return undefined;
    return `the source states a total of ${this.#total} records, and its pages have ${records}`;
  }
}
