// Requests the details of the first postings of a tried feed; the others are only counted.
import { compileDetailReader, type ReadDetail } from '../feed/detail-record.ts';
import { httpOf, openDetailFetcher } from '../feed/source/sources.ts';
import { rateLimiterFor } from '../flow/rate-limiter.ts';
import { pathsInto } from '../posting/mapping-paths.ts';
import type { RecordTree } from '../posting/posting.ts';
import type { FeedSetup } from './feed-setup.ts';

export type RequestDetail = (tree: RecordTree) => Promise<ReadDetail>;

/** `undefined`: the feed has no details. */
export async function openTrialDetails(
  { source: { from, details }, mapping }: Pick<FeedSetup, 'source' | 'mapping'>,
  signal: AbortSignal,
): Promise<RequestDetail | undefined> {
  const http = httpOf(from);
  if (details === undefined || http === undefined) return undefined;
  const limiter = rateLimiterFor(details.requestsPerSecond);
  const fetcher = await openDetailFetcher(http, details, { limiter });
  const read = compileDetailReader(details, pathsInto(details.name, mapping));
  return async (tree) => {
    const fetched = await fetcher.fetch(tree, signal);
    return fetched.kind === 'failed' ? fetched : read(tree, fetched.bytes, fetched);
  };
}
