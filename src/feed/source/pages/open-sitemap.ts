// Opens a sitemap, or a sitemap index with all of its sitemaps (sitemaps.org), each of which is a document of the feed.
import { rateLimiterFor } from '../../../flow/rate-limiter.ts';
import { parseValuePath, textsAt } from '../../../posting/paths/value-path.ts';
import { compilePattern } from '../../../posting/pattern.ts';
import { formatOf } from '../../format/formats.ts';
import { systemNetwork } from '../http/redirects.ts';
import { FeedReadingError, type OpenedSource, type SourceContext, type SourceDocument } from '../source.ts';
import { type FetchedPage, fetchPage } from './fetch-page.ts';
import { sameOrigin } from './next-address.ts';
import { splitIntoChunks } from './open-pages.ts';
import { decodedPage } from './page-content.ts';
import { type FetchLimits, type PageFormat, type PagesConfig, pagesDescriptions } from './pages-config.ts';

/** Failures that are named; more are only counted. */
const MAX_FAILURES = 5;

type Fetch = (url: URL) => Promise<FetchedPage>;

/** Has no version: what a server says about the index is not about its sitemaps. */
export async function openSitemap(
  config: PagesConfig,
  { signal, network = systemNetwork, limiter: shared }: SourceContext,
): Promise<OpenedSource> {
  const limiter = shared ?? rateLimiterFor(config.limits.requestsPerSecond);
  const fetch: Fetch = (url) => fetchPage(config, { url }, { signal, network, limiter });
  const start = new URL(config.http.url);
  try {
    return { kind: 'documents', documents: new Sitemaps(config, fetch).documents(start, await fetch(start)) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FeedReadingError) return { kind: 'failed', message: error.message };
    throw error;
  }
}

/** Follows an index to its sitemaps. A sitemap that fails does not keep the others from being read. */
class Sitemaps {
  readonly #config: PagesConfig;
  readonly #fetch: Fetch;
  readonly #isMeant: (address: string) => boolean;
  readonly #waiting: URL[] = [];
  readonly #known = new Set<string>();
  readonly #failures: string[] = [];
  #further = 0;

  constructor(config: PagesConfig, fetch: Fetch) {
    this.#config = config;
    this.#fetch = fetch;
    const pattern = config.paging.only === undefined ? undefined : compilePattern(config.paging.only);
    this.#isMeant = (address) => pattern?.occursIn(address) !== false;
  }

  async *documents(start: URL, first: FetchedPage): AsyncGenerator<SourceDocument> {
    this.#known.add(start.href);
    let read = 0;
    for (let url: URL | undefined = start, page: FetchedPage | undefined = first; url !== undefined; page = undefined) {
      if (read++ >= this.#config.limits.maxPages) {
        throw new FeedReadingError(
          `the sitemap index has more than ${this.#config.limits.maxPages} sitemaps; raise max_pages`,
        );
      }
      const document = await this.#read(url, page);
      if (document !== undefined) yield document;
      url = this.#waiting.shift();
    }
    if (this.#further > 0) this.#failures.push(`and ${this.#further} more`);
    if (this.#failures.length > 0) throw new FeedReadingError(this.#failures.join('; '));
  }

  /** `undefined` for an index, whose sitemaps wait from then on, and for one that fails. */
  async #read(url: URL, fetched: FetchedPage | undefined): Promise<SourceDocument | undefined> {
    const { content, limits } = this.#config;
    try {
      const page = fetched ?? (await this.#fetch(url));
      const index = await readSitemapIndex(page, content, limits);
      // The sitemaps are parts of one list, which may be divided otherwise the next time.
      if (index === undefined) return { ...documentOf(url, page), id: pagesDescriptions.placeOf(this.#config) };
      for (const fault of index.faults) this.#fail(`${nameOf(url)}: ${fault}`);
      for (const address of index.addresses) if (this.#isMeant(address)) this.#enqueue(address, page.url, url);
    } catch (error) {
      if (!(error instanceof FeedReadingError)) throw error;
      this.#fail(`${nameOf(url)}: ${error.message}`);
    }
    return undefined;
  }

  #enqueue(address: string, base: URL, index: URL): void {
    try {
      if (!URL.canParse(address, base.href)) throw new FeedReadingError('an entry is not an address');
      const url = sameOrigin(new URL(address, base), new URL(this.#config.http.url), 'one of its sitemaps is');
      // More addresses than the limit are known already, so the reading breaks off.
      if (this.#known.has(url.href) || this.#known.size > this.#config.limits.maxPages) return;
      this.#known.add(url.href);
      this.#waiting.push(url);
    } catch (error) {
      if (!(error instanceof FeedReadingError)) throw error;
      this.#fail(`${nameOf(index)}: ${error.message}`);
    }
  }

  #fail(message: string): void {
    if (this.#failures.length < MAX_FAILURES) this.#failures.push(message);
    else this.#further++;
  }
}

const nameOf = ({ pathname }: URL): string => `sitemap ${pathname}`;

const documentOf = (url: URL, { bytes, described }: FetchedPage): SourceDocument => ({
  name: nameOf(url),
  chunks: splitIntoChunks(bytes),
  ...described,
});

// Reads a sitemap index: the addresses of its sitemaps, and why it may not have all of them.

interface SitemapIndex {
  readonly addresses: readonly string[];
  readonly faults: readonly string[];
}

const ENTRIES = { recordPath: 'sitemapindex/sitemap', totalPaths: [] } as const;
const LOCATION = parseValuePath('loc');

/** `undefined`: the page is no index. Throws `FeedReadingError` if its bytes cannot be decoded. */
async function readSitemapIndex(
  { bytes, described: { charset } }: FetchedPage,
  { encoding, maxRecordBytes }: PageFormat,
  limits: FetchLimits,
): Promise<SitemapIndex | undefined> {
  const xml = formatOf('xml');
  const addresses: string[] = [];
  let unreadable = 0;
  const splitter = xml.createSplitter(
    { ...ENTRIES, maxRecordBytes },
    {
      record(buffer, start, end) {
        const parsed = xml.parseRecord(buffer.subarray(start, end));
        const address = parsed.kind === 'tree' ? textsAt(LOCATION, parsed.tree)[0]?.trim() : undefined;
        if (address) addresses.push(address);
        else unreadable++;
      },
      oversized: () => void unreadable++,
    },
  );
  splitter.push(await decodedPage(bytes, { configured: encoding, transport: charset }, limits));
  const { records, refusal, shortfalls } = splitter.finish(true);
  const faults = [...(refusal === undefined ? [] : [refusal]), ...shortfalls];
  // Without an entry, only a document that is whole is an index; the format of the feed reads others.
  if (records === 0 && faults.length > 0) return undefined;
  if (unreadable > 0) faults.push(`${unreadable} of its entries have no address that can be read`);
  return { addresses, faults };
}
