// Limits the rate of one process's requests to one site, whatever they are for.

/** Grants slots in the order of the calls. */
export interface RateLimiter {
  /** Resolves when the caller may send, or at once when `signal` aborts. */
  take(signal?: AbortSignal): Promise<void>;
  /** Takes a slot without waiting for it: later callers wait longer. For requests that must not wait. */
  spend(): void;
  /** The site has just asked to wait: look up the learnt rate with the next slot. */
  slowDown?(): void;
}

/** The burst that the queue's own limiter allows: see `limiterFor`. */
const WINDOW_MS = 100;

/** @param requestsPerSecond above 0; `Infinity`: nobody waits. */
export function rateLimiterFor(requestsPerSecond: number): RateLimiter {
  const everyMs = 1000 / requestsPerSecond;
  const burstMs = Math.max(0, WINDOW_MS - everyMs);
  let free = Number.NEGATIVE_INFINITY;

  /** Milliseconds until the slot. */
  function next(): number {
    const now = performance.now();
    const slot = Math.max(free, now - burstMs);
    free = slot + everyMs;
    return slot - now;
  }

  return {
    take: (signal) => wait(next(), signal),
    spend: () => {
      next();
    },
  };
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms <= 0 || signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
