// Opens a list of several pages over HTTP, and reads it a page at a time.
import { rateLimiterFor } from '../../../flow/rate-limiter.ts';
import { systemNetwork } from '../http/redirect-guard.ts';
import { BrokenOff, type OpenedSource, type SourceContext, type SourceDocument } from '../source.ts';
import { type FetchedPage, fetchPage } from './fetch-page.ts';
import { type PageContent, readPageContent } from './page-content.ts';
import type { PageRequest } from './page-request.ts';
import { PageSequence } from './page-sequence.ts';
import { type PagesConfig, pagesDescriptions } from './pages-config.ts';

/** Has no version: what a server says about its first page is not about the others. */
export async function openPages(
  config: PagesConfig,
  { signal, network = systemNetwork }: SourceContext,
): Promise<OpenedSource> {
  const limiter = rateLimiterFor(config.limits.requestsPerSecond);
  const sequence = new PageSequence(config);
  const fetch = async (request: PageRequest): Promise<Page> => {
    const fetched = await fetchPage(config, request, { signal, network, limiter });
    return { fetched, content: await readPageContent(fetched.bytes, fetched.charset, config.content, config.limits) };
  };
  try {
    const first = await fetch(sequence.first);
    return { kind: 'documents', documents: readPages(first, fetch, sequence, pagesDescriptions.placeOf(config)) };
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
  pageOf: string,
): AsyncGenerator<SourceDocument> {
  for (let page = first; ; ) {
    sequence.take(page.content);
    const { bytes, charset, isEndProven } = page.fetched;
    const { length: totalBytes } = bytes;
    yield { name: `page ${sequence.pages}`, chunks: inPieces(bytes), charset, isEndProven, totalBytes, pageOf };
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

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
