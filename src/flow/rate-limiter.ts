// Limits the rate of one process's requests to one site, whatever they are for. Not a library such as limiter or bottleneck:
// none takes a slot without waiting for it, and the burst must be the one of BullMQ's limiter.
import { pause } from './pause.ts';

/** Grants slots in the order of the calls. */
export interface RateLimiter {
  /** Resolves when the caller may send, or at once when `signal` aborts. */
  take(signal?: AbortSignal): Promise<void>;
  /** Takes a slot without waiting for it: later callers wait longer. For requests that must not wait. */
  spend(): void;
  /** The site has just asked to wait: look up the learnt rate with the next slot. */
  slowDown?(): void;
}

/**
 * The burst: as many slots as the rate grants in this time. Long enough that waiting for the next window costs little, short
 * enough that requests are spread evenly. The queue's limiter has windows of this length.
 */
export const RATE_WINDOW_MS = 100;

/** @param requestsPerSecond above 0; `Infinity`: nobody waits. */
export function rateLimiterFor(requestsPerSecond: number): RateLimiter {
  const everyMs = 1000 / requestsPerSecond;
  const burstMs = Math.max(0, RATE_WINDOW_MS - everyMs);
  let free = Number.NEGATIVE_INFINITY;

  /** Milliseconds until the slot. */
  function next(): number {
    const now = performance.now();
    const slot = Math.max(free, now - burstMs);
    free = slot + everyMs;
    return slot - now;
  }

  return {
    take: (signal) => pause(next(), signal),
    spend: () => {
      next();
    },
  };
}
