// Opens a list of several pages over HTTP, and reads it a page at a time.
import { rateLimiterFor } from '../../../flow/rate-limiter.ts';
import { baseAddress } from '../http/http-config.ts';
import { systemNetwork } from '../http/redirects.ts';
import { BrokenOff, type OpenedSource, type SourceContext, type SourceDocument } from '../source.ts';
import { type FetchedPage, fetchPage } from './fetch-page.ts';
import { type PageContent, readPageContent } from './page-content.ts';
import type { PageRequest } from './page-request.ts';
import { PageSequence } from './page-sequence.ts';
import { type PagesConfig, pagesDescriptions } from './pages-config.ts';

/** Has no version: what a server says about its first page is not about the others. */
export async function openPages(
  config: PagesConfig,
  { signal, network = systemNetwork, limiter: shared }: SourceContext,
): Promise<OpenedSource> {
  const limiter = shared ?? rateLimiterFor(config.limits.requestsPerSecond);
  const sequence = new PageSequence(config);
  const fetch = async (request: PageRequest): Promise<Page> => {
    const fetched = await fetchPage(config, request, { signal, network, limiter });
    return { fetched, content: await readPageContent(fetched.bytes, fetched.charset, config.content, config.limits) };
  };
  try {
    const first = await fetch(sequence.first);
    return { kind: 'documents', documents: readPages(first, fetch, sequence, config) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BrokenOff) return { kind: 'failed', message: error.message };
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
    const { bytes, charset, isEndProven, relayed, mark, sentAt } = page.fetched;
    const { length: totalBytes } = bytes;
    const chunks = inPieces(bytes);
    yield { name: `page ${sequence.pages}`, chunks, charset, isEndProven, relayed, mark, totalBytes, sentAt, ...list };
    const request = sequence.next(page.fetched, page.content);
    if (request === undefined) return;
    try {
      page = await fetch(request);
    } catch (error) {
      throw error instanceof BrokenOff ? new BrokenOff(`page ${sequence.pages + 1}: ${error.message}`) : error;
    }
  }
}

const PIECE_BYTES = 64 * 1024;

export async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
