// Requests the details of the first postings of a tried feed; the others are only counted.
import { compileDetailReader, type ReadDetail } from '../feed/detail-record.ts';
import { httpOf, openDetailFetcher } from '../feed/source/sources.ts';
import { rateLimiterFor } from '../flow/rate-limiter.ts';
import { pathsInto } from '../posting/mapping-paths.ts';
import type { FeedSetup } from './feed-setup.ts';
import type { ListedRecord } from './read-record.ts';

export type RequestDetail = (listed: Pick<ListedRecord, 'tree' | 'asSent'>) => Promise<ReadDetail>;

/** `undefined`: the feed has no details. */
export async function openTrialDetails(
  { source: { from, details }, mapping, mask }: Pick<FeedSetup, 'source' | 'mapping' | 'mask'>,
  signal: AbortSignal,
): Promise<RequestDetail | undefined> {
  const http = httpOf(from);
  if (details === undefined || http === undefined) return undefined;
  const limiter = rateLimiterFor(details.requestsPerSecond);
  const fetcher = await openDetailFetcher(http, details, { limiter, mask });
  const read = compileDetailReader(details, pathsInto(details.name, mapping));
  return async ({ tree, asSent }) => {
    const fetched = await fetcher.fetch(asSent, signal);
    return fetched.kind === 'failed' ? fetched : read(tree, fetched.bytes, fetched);
  };
}
