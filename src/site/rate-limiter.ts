// Turns a rate into turns: the requests of one process to one site go out no faster, whatever they are for.

/** Turns in the order in which they were asked for. */
export interface RateLimiter {
  /** Resolves when it is one's turn, or at once when `signal` aborts. */
  take(signal?: AbortSignal): Promise<void>;
  /** Takes a turn without waiting for it: those that come later wait longer. For what must not wait any more. */
  spend(): void;
  /** The site has just asked to wait: a rate that it taught is to be looked up with the next turn. */
  slowDown?(): void;
}

/** What the queue lets through at once, it may: see `limiterFor`. */
const WINDOW_MS = 100;

/** @param requestsPerSecond above 0; `Infinity`: nobody waits. */
export function rateLimiterFor(requestsPerSecond: number): RateLimiter {
  const everyMs = 1000 / requestsPerSecond;
  const prefetched = Math.max(0, WINDOW_MS - everyMs);
  let free = Number.NEGATIVE_INFINITY;

  /** Milliseconds until the turn. */
  function next(): number {
    const now = performance.now();
    const turn = Math.max(free, now - prefetched);
    free = turn + everyMs;
    return turn - now;
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
