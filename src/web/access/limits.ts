// Limits how often someone may ask: requests of the API, and wrong attempts to sign in.

export interface Limiter {
  /** Counts one. Returns 0 if it is allowed, otherwise the seconds to wait; what is refused does not count. */
  take(who: string): number;
  /** Gives the last one back. */
  giveBack(who: string): void;
}

interface Bucket {
  left: number;
  at: number;
}

/** Bounds the memory; the longest unused go first. */
const MOST_KNOWN = 10_000;

/** A bucket of `most`, filled evenly within `windowMs`. @param now a monotonic clock, in milliseconds */
export function limiter(most: number, windowMs: number, now: () => number = () => performance.now()): Limiter {
  const buckets = new Map<string, Bucket>();
  const current = (who: string): Bucket => {
    const bucket = buckets.get(who) ?? { left: most, at: now() };
    buckets.delete(who);
    buckets.set(who, bucket);
    for (const oldest of buckets.keys()) {
      if (buckets.size <= MOST_KNOWN) break;
      buckets.delete(oldest);
    }
    bucket.left = Math.min(most, bucket.left + ((now() - bucket.at) * most) / windowMs);
    bucket.at = now();
    return bucket;
  };
  return {
    take(who) {
      const bucket = current(who);
      if (bucket.left < 1) return Math.max(1, Math.ceil(((1 - bucket.left) * windowMs) / most / 1000));
      bucket.left -= 1;
      return 0;
    },
    giveBack(who) {
      const bucket = current(who);
      bucket.left = Math.min(most, bucket.left + 1);
    },
  };
}
