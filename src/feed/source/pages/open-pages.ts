// Opens a list of several pages over HTTP, and reads it a page at a time.
import { hash } from 'node:crypto';
import { rateLimiterFor } from '../../../flow/rate-limiter.ts';
import { baseAddress } from '../http/http-config.ts';
import { systemNetwork } from '../http/redirects.ts';
import { FeedReadingError, type OpenedSource, type SourceContext, type SourceDocument } from '../source.ts';
import { type FetchedPage, fetchPage, type PagePosition, type PageRequest, pageRequest } from './fetch-page.ts';
import { askedRecords, nextLink, nextTextAt, nextUrl, readMoreFlag } from './next-address.ts';
import { type PageContent, readPageContent } from './page-content.ts';
import { type PagesConfig, type Paging, pagesDescriptions } from './pages-config.ts';

/** Has no version: what a server says about its first page is not about the others. */
export async function openPages(
  config: PagesConfig,
  { signal, network = systemNetwork, limiter: shared }: SourceContext,
): Promise<OpenedSource> {
  const limiter = shared ?? rateLimiterFor(config.limits.requestsPerSecond);
  const sequence = new PageSequence(config);
  const fetch = async (request: PageRequest): Promise<Page> => {
    const fetched = await fetchPage(config, request, { signal, network, limiter });
    return {
      fetched,
      content: await readPageContent(fetched.bytes, fetched.described.charset, config.content, config.limits),
    };
  };
  try {
    const first = await fetch(sequence.first);
    return { kind: 'documents', documents: readPages(first, fetch, sequence, config) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FeedReadingError) return { kind: 'failed', message: error.message };
    throw error;
  }
}

interface Page {
  readonly fetched: FetchedPage;
  readonly content: PageContent;
}

async function* readPages(
  first: Page,
  fetch: (request: PageRequest) => Promise<Page>,
  sequence: PageSequence,
  config: PagesConfig,
): AsyncGenerator<SourceDocument> {
  const list = { pageOf: pagesDescriptions.placeOf(config), address: baseAddress(config.http) };
  for (let page = first; ; ) {
    sequence.take(page.content);
    const { bytes, described } = page.fetched;
    yield { name: `page ${sequence.pages}`, chunks: splitIntoChunks(bytes), ...described, ...list };
    const request = sequence.next(page.fetched, page.content);
    if (request === undefined) return;
    try {
      page = await fetch(request);
    } catch (error) {
      throw error instanceof FeedReadingError
        ? new FeedReadingError(`page ${sequence.pages + 1}: ${error.message}`)
        : error;
    }
  }
}

const PIECE_BYTES = 64 * 1024;

export async function* splitIntoChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

// Follows a list from page to page: where the next page is, whether the list has ended, and whether it moved meanwhile.

/** A list ends only where its pages prove it. Methods throw {@link FeedReadingError} where the list cannot be followed. */
class PageSequence {
  readonly #start: URL;
  readonly #paging: Paging;
  readonly #maxPages: number;
  readonly #total: StatedTotal;
  /** Digests of the requests so far. */
  readonly #requested = new Set<string>();
  /** The page that had these records first. */
  readonly #pageWith = new Map<string, number>();
  /** Signs that the list moved. */
  readonly #drift: string[] = [];
  #position: PagePosition = { kind: 'first' };
  #pages = 0;
  #records = 0;
  /** An empty page is asked for again: it may have been a hiccup. */
  #isRepeated = false;

  constructor({ http, paging, limits }: PagesConfig) {
    this.#start = new URL(http.url);
    this.#paging = paging;
    this.#maxPages = limits.maxPages;
    this.#total = new StatedTotal(paging.total);
  }

  get first(): PageRequest {
    return this.#request();
  }

  get pages(): number {
    return this.#pages;
  }

  /** Counts a page that was fetched. */
  take({ records, digest, declaredTotal }: PageContent): void {
    this.#pages++;
    const before = this.#pageWith.get(digest);
    if (records > 0 && before !== undefined) {
      throw new FeedReadingError(
        `page ${this.#pages} has the same records as page ${before}: the source repeats pages, as some do beyond the most that they list, or ignores what it is asked for; ${this.#howToSplit()}, or check pages`,
      );
    }
    this.#pageWith.set(digest, this.#pages);
    if (this.#isRepeated && records > 0) {
      this.#drift.push(`page ${this.#pages} was empty at first, and had records when it was asked for again`);
    }
    this.#records += records;
    const change = this.#total.take(this.#pages, declaredTotal);
    if (change !== undefined) this.#drift.push(change);
  }

  /** The request of the page after the last one; `undefined` at the proven end of the list. */
  next(page: FetchedPage, content: PageContent): PageRequest | undefined {
    const position = this.#after(page, content);
    if (position === undefined) {
      this.#conclude();
      return undefined;
    }
    if (this.#pages >= this.#maxPages) {
      throw new FeedReadingError(
        `the list did not end within ${this.#maxPages} pages; if it is that long, raise max_pages`,
      );
    }
    this.#position = position;
    return this.#request();
  }

  #request(): PageRequest {
    const request = pageRequest(this.#start, this.#paging, this.#position);
    const digest = hash('sha256', `${request.url.href} ${request.body ?? ''}`, 'hex');
    if (this.#requested.has(digest) && !this.#isRepeated) {
      throw new FeedReadingError(`page ${this.#pages} leads back to a page that was already read`);
    }
    this.#requested.add(digest);
    return request;
  }

  #after(page: FetchedPage, content: PageContent): PagePosition | undefined {
    const wasRepeated = this.#isRepeated;
    const position = this.#following(page, content);
    const isDoubtful = position === undefined && content.records === 0 && this.#records > 0;
    this.#isRepeated = isDoubtful && !wasRepeated && !this.#total.isReached(this.#records);
    return this.#isRepeated ? this.#position : position;
  }

  #following(page: FetchedPage, content: PageContent): PagePosition | undefined {
    const { by, path, more } = this.#paging;
    const follows = more === undefined ? undefined : readMoreFlag(content.around(), more);
    if (follows === false) return undefined;
    if (by === 'page' || by === 'offset') return this.#counted(by, content, follows);
    const target = by === 'link' ? nextLink(page.link) : this.#textAt(path, content);
    if (target === undefined) {
      if (follows) throw new FeedReadingError(`page ${this.#pages} says that more pages follow, but not where`);
      return undefined;
    }
    if (by === 'cursor') return { kind: 'cursor', cursor: target };
    return { kind: 'address', url: nextUrl(target, page.url, this.#start) };
  }

  /** Where a page has no place for it, the total, a shorter page than was asked for, or an earlier page with that place prove the end. */
  #textAt(path: string, content: PageContent): string | undefined {
    const isShort = content.records < (askedRecords(this.#start)?.records ?? 0);
    const isProven = this.#total.isReached(this.#records) || isShort || this.#pages > 1;
    return nextTextAt(content.around(), path, isProven);
  }

  #counted(by: 'page' | 'offset', { records }: PageContent, follows: boolean | undefined): PagePosition | undefined {
    const { end, size, first } = this.#paging;
    if (follows === undefined) {
      if (this.#total.isReached(this.#records) || records === 0) return undefined;
      if (end === 'short_page' && size !== undefined && records < size.value) return undefined;
    }
    const number = this.#position.kind === by ? this.#position.number : first;
    return { kind: by, number: number + (by === 'page' ? 1 : records) };
  }

  #conclude(): void {
    const wrong = this.#total.differs(this.#records);
    const capped = this.#capped();
    const reasons = [...this.#drift.slice(0, MAX_REASONS), ...[wrong, capped].filter((reason) => reason !== undefined)];
    if (reasons.length > 0) throw new FeedReadingError(`the list is not proven complete: ${reasons.join('; ')}`);
  }

  /** Why the source may have more records than it lists, for people; `undefined` if nothing suggests that. */
  #capped(): string | undefined {
    const { cap } = this.#paging;
    const records = this.#records;
    if (typeof cap === 'number' ? records < cap : cap === 'none' || !ROUND.test(`${records}`)) return undefined;
    const why =
      typeof cap === 'number'
        ? `the list has ${records} records, and the source lists at most ${cap}, so its total or its end proves nothing`
        : `the list ends at exactly ${records} records, a round number at which many sources stop listing`;
    return `${why}; ${this.#howToSplit()}, or set expect: { cap: none } if the source really lists all of its postings`;
  }

  #howToSplit(): string {
    return this.#paging.body === undefined
      ? 'split it: list several addresses under sources, each of which asks for another part'
      : 'split it into several feeds, each of which asks for another part in pages.body';
  }
}

const MAX_REASONS = 5;

/** Searches usually end at such a number of records, and state it as their total. */
const ROUND = /^[1-9]0{3,}$/;

/** The total that each page states. It is that of the whole list, so all pages must state the same one. */
class StatedTotal {
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
