// Converts requests per second into the options of BullMQ's rate limiter, which all workers of a queue share.
import type { RateLimiterOptions } from 'bullmq';
import { RATE_WINDOW_MS } from '../flow/rate-limiter.ts';

/**
 * A window of whole jobs and milliseconds that never exceeds the rate: 0.5/s is one job in 2,000 ms, 10/s one in 100 ms,
 * 1,000/s a hundred in 100 ms.
 *
 * @param requestsPerSecond above 0; `Infinity` for no limit.
 * @throws RangeError for anything else.
 */
export function limiterFor(requestsPerSecond: number): RateLimiterOptions | undefined {
  if (!(requestsPerSecond > 0)) throw new RangeError(`requests per second must be above 0, not ${requestsPerSecond}`);
  if (requestsPerSecond === Number.POSITIVE_INFINITY) return undefined;
  const max = Math.max(1, Math.floor((requestsPerSecond * RATE_WINDOW_MS) / 1000));
  return { max, duration: Math.ceil((max * 1000) / requestsPerSecond) };
}
