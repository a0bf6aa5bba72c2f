// Fetches one page as a whole: within the rate limit, and again after failures that pass.
import type { RateLimiter } from '../../../flow/rate-limiter.ts';
import { type RetryPolicy, retry } from '../../../flow/retry.ts';
import { SOURCE_RATE_WINDOW_MS, startPace } from '../../decode/pace.ts';
import { type HttpConditions, readBody } from '../http/exchange.ts';
import type { HttpConfig } from '../http/http-config.ts';
import { requestResource } from '../http/request-resource.ts';
import { answerRefusal, describeBody, retryOptionsOf, TransientFailure } from '../http/response.ts';
import { BrokenOff, type SourceDocument } from '../source.ts';
import type { PageRequest } from './page-request.ts';
import { type FetchLimits, pageTooLarge } from './pages-config.ts';

/** A page whose body has arrived to its proven end. */
export interface FetchedPage {
  /** After redirects. */
  readonly url: URL;
  /** The Link header. */
  readonly link: string;
  readonly bytes: Buffer;
  readonly charset: string | undefined;
  /** See `SourceDocument`. */
  readonly isEndProven: boolean;
  readonly relayed: SourceDocument['relayed'];
  readonly mark: SourceDocument['mark'];
  readonly sentAt: number | undefined;
}

/** What every page of a source is requested with. */
interface FetchConfig {
  readonly http: HttpConfig;
  readonly limits: FetchLimits;
  readonly retry: RetryPolicy;
  /** What to do if there is nothing at the address, for people. */
  readonly ifMissing?: string;
}

interface FetchContext extends HttpConditions {
  readonly limiter: RateLimiter;
}

/** Throws {@link BrokenOff} if all tries failed, and the reason of the signal. */
export async function fetchPage(
  config: FetchConfig,
  request: PageRequest,
  context: FetchContext,
): Promise<FetchedPage> {
  const { signal, limiter } = context;
  const attempt = async (): Promise<FetchedPage> => {
    await limiter.take(signal);
    signal.throwIfAborted();
    return fetchOnce(config, request, context);
  };
  return retry(attempt, config.retry, retryOptionsOf(config.retry, signal));
}

async function fetchOnce(
  { http, limits, ifMissing }: FetchConfig,
  { url, body }: PageRequest,
  { signal, network }: FetchContext,
): Promise<FetchedPage> {
  const pace = startPace(
    { ...limits, totalTimeoutMs: Number.POSITIVE_INFINITY, rateWindowMs: SOURCE_RATE_WINDOW_MS },
    signal,
  );
  try {
    const method = body === undefined ? 'GET' : 'POST';
    const answer = await requestResource(http, { url, method, body }, { signal: pace.signal, network });
    if (answer.kind === 'failed') {
      throw answer.isPassing ? new TransientFailure(answer.message) : new BrokenOff(answer.message);
    }
    const { exchange } = answer;
    const refusal = answerRefusal(answer.url, exchange, ifMissing);
    if (refusal !== undefined) {
      exchange.response.destroy();
      throw refusal;
    }
    const bytes = await readWhole(
      pace.watch(readBody(exchange, pace.signal), (chunk) => chunk.length),
      limits,
    );
    const link = [exchange.response.headers.link ?? []].flat().join(', ');
    const { charset, isEndProven = false, relayed, mark, sentAt } = describeBody(exchange);
    return { url: answer.url, link, bytes, charset, isEndProven, relayed, mark, sentAt };
  } catch (error) {
    signal.throwIfAborted();
    // The page took too long: the reason of its own signal.
    throw error === pace.signal.reason && error instanceof BrokenOff ? new TransientFailure(error.message) : error;
  } finally {
    pace.stop();
  }
}

async function readWhole(body: AsyncIterable<Buffer>, limits: FetchLimits): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > limits.maxPageBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    // No record of the page was handed over yet.
    throw error instanceof BrokenOff ? new TransientFailure(error.message) : error;
  }
  if (bytes > limits.maxPageBytes) throw new BrokenOff(pageTooLarge(limits));
  return Buffer.concat(chunks);
}
