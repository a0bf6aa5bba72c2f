// What a list of several pages over HTTP is configured with, the limits of fetching one, and what of it may be shown.
import type { RetryPolicy } from '../../../flow/retry.ts';
import type { SplittingOptions } from '../../batch/splitting.ts';
import { type HttpConfig, httpDescriptions } from '../http/http-config.ts';
import type { SourceKind } from '../source.ts';

export interface PagesConfig {
  readonly kind: 'pages';
  /** The first page, and what is sent with each request. */
  readonly http: HttpConfig;
  readonly paging: Paging;
  /** How the records and totals of a page are found. */
  readonly content: PageFormat;
  readonly limits: PageLimits;
  readonly retry: RetryPolicy;
}

/** How one page leads to the next. */
export interface Paging {
  readonly by: PagingMethod;
  /** Of the query: it carries the number, the offset or the cursor, unless the body does. */
  readonly parameter: string;
  /** The first page's number or offset. */
  readonly first: number;
  readonly size?: { readonly value: number; readonly parameter?: string };
  /** Where a page's JSON has the next address or cursor. */
  readonly path: string;
  /** Where a page's JSON says whether more pages follow. */
  readonly more?: string;
  /** What ends a list of numbered pages that declares no total. */
  readonly end: 'empty_page' | 'short_page';
  /** `first_page`: later pages may state no total, or 0. */
  readonly total: 'every_page' | 'first_page';
  /** The most records that the source lists: a list that reaches it may go on. Absent: round numbers are suspected. */
  readonly cap?: number | 'none';
  /** Of a sitemap index: only the sitemaps whose addresses match this regular expression (RE2). */
  readonly only?: string;
  /** JSON that is sent with POST, with placeholders; absent: GET. */
  readonly body?: unknown;
}

/**
 * `link`: the Link header. `next`: an address in the page. `cursor`: a text in the page. `sitemap`: the entries of a sitemap
 * index. The others count.
 */
export const PAGING_METHODS = ['link', 'next', 'page', 'offset', 'cursor', 'sitemap'] as const;
type PagingMethod = (typeof PAGING_METHODS)[number];

/** How a page is split; its totals are those of all pages. */
export interface PageFormat extends SplittingOptions {
  readonly encoding?: string;
}

interface PageLimits extends FetchLimits {
  readonly maxPages: number;
  readonly requestsPerSecond: number;
}

type Descriptions = Pick<SourceKind<PagesConfig>, 'request' | 'placeOf' | 'secretsOf' | 'publicConfig'>;

export const pagesDescriptions: Descriptions = {
  request: ({ kind, http, paging, content, limits }) => ({
    kind,
    http: httpDescriptions.request(http),
    paging,
    content,
    maxPageBytes: limits.maxPageBytes,
  }),
  placeOf: ({ http }) => httpDescriptions.placeOf(http),
  secretsOf: ({ http }) => httpDescriptions.secretsOf(http),
  publicConfig({ http, ...settings }) {
    const { place, settings: httpSettings } = httpDescriptions.publicConfig(http);
    return { place, settings: { ...settings, http: httpSettings } };
  },
};

// Limits on what is fetched as a whole, and the message where it is too large.
export interface FetchLimits {
  /** Of one page, decompressed. */
  readonly maxPageBytes: number;
  /** The setting of that limit, for people; by default that of pages. */
  readonly sizeSetting?: string;
  /** Until the first byte of one page, in milliseconds. */
  readonly firstByteTimeoutMs: number;
  /** Averaged over 30 s. */
  readonly minBytesPerSecond: number;
}

export const pageTooLarge = ({ maxPageBytes, sizeSetting }: FetchLimits): string =>
  sizeSetting === undefined
    ? `a page is larger than the limit of ${maxPageBytes} bytes; ask for smaller pages, or raise max_page_bytes`
    : `it is larger than the limit of ${maxPageBytes} bytes; raise ${sizeSetting}`;
