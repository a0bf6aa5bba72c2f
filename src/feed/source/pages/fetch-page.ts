// Fetches one page as a whole: within the rate limit, and again after failures that pass.
import type { RateLimiter } from '../../../flow/rate-limiter.ts';
import { retry } from '../../../flow/retry.ts';
import { readRetryAfter } from '../../../flow/retry-after.ts';
import { backoffMs } from '../../../flow/retry-policy.ts';
import { startPace } from '../../decode/pace.ts';
import { type HttpConditions, type HttpExchange, readBody } from '../http/exchange.ts';
import { requestResource } from '../http/request-resource.ts';
import { describeBody, responseRefusal } from '../http/response.ts';
import { BrokenOff } from '../source.ts';
import { pageTooLarge } from './page-content.ts';
import type { PageRequest } from './page-request.ts';
import type { PageLimits, PagesConfig } from './pages-config.ts';

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
}

interface FetchContext extends HttpConditions {
  readonly limiter: RateLimiter;
}

/** A failure that another try may not have. */
class PassingFailure extends BrokenOff {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

const RATE_WINDOW_MS = 30_000;

/** Throws {@link BrokenOff} if all tries failed, and the reason of the signal. */
export async function fetchPage(
  config: PagesConfig,
  request: PageRequest,
  context: FetchContext,
): Promise<FetchedPage> {
  const { signal, limiter } = context;
  const attempt = async (): Promise<FetchedPage> => {
    await limiter.take(signal);
    signal.throwIfAborted();
    return fetchOnce(config, request, context);
  };
  const waitOf = (error: unknown): number => (error instanceof PassingFailure ? error.retryAfterMs : 0);
  return retry(attempt, config.retry, {
    signal,
    worthAgain: (error) => error instanceof PassingFailure && error.retryAfterMs <= config.retry.maxDelayMs,
    delayMs: (tried, error) => Math.max(backoffMs(config.retry, tried, Math.random()), waitOf(error)),
  });
}

async function fetchOnce(
  { http, limits }: PagesConfig,
  { url, body }: PageRequest,
  { signal, network }: FetchContext,
): Promise<FetchedPage> {
  const pace = startPace({ ...limits, totalTimeoutMs: Number.POSITIVE_INFINITY, rateWindowMs: RATE_WINDOW_MS }, signal);
  try {
    const method = body === undefined ? 'GET' : 'POST';
    const answer = await requestResource(http, { url, method, body }, { signal: pace.signal, network });
    if (answer.kind === 'failed') {
      throw answer.isPassing ? new PassingFailure(answer.message) : new BrokenOff(answer.message);
    }
    const { exchange } = answer;
    const refusal = refusalOf(answer.url, exchange);
    if (refusal !== undefined) {
      exchange.response.destroy();
      throw refusal;
    }
    const bytes = await readWhole(
      pace.watch(readBody(exchange, pace.signal), (chunk) => chunk.length),
      limits,
    );
    const link = [exchange.response.headers.link ?? []].flat().join(', ');
    const { charset, isEndProven = false } = describeBody(exchange);
    return { url: answer.url, link, bytes, charset, isEndProven };
  } catch (error) {
    signal.throwIfAborted();
    // The page took too long: the reason of its own signal.
    throw error === pace.signal.reason && error instanceof BrokenOff ? new PassingFailure(error.message) : error;
  } finally {
    pace.stop();
  }
}

function refusalOf(url: URL, exchange: HttpExchange): BrokenOff | undefined {
  const message = responseRefusal(url, exchange);
  if (message === undefined) return undefined;
  const { statusCode = 0, headers } = exchange.response;
  if (statusCode !== 429 && statusCode < 500) return new BrokenOff(message);
  const retryAfterMs = readRetryAfter(headers['retry-after'], headers.date, Date.now());
  const wait = retryAfterMs === undefined ? '' : `; it asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
  return new PassingFailure(message + wait, retryAfterMs);
}

async function readWhole(body: AsyncIterable<Buffer>, { maxPageBytes }: PageLimits): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxPageBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    // No record of the page was handed over yet.
    throw error instanceof BrokenOff ? new PassingFailure(error.message) : error;
  }
  if (bytes > maxPageBytes) throw new BrokenOff(pageTooLarge(maxPageBytes));
  return Buffer.concat(chunks);
}
