// Limits how often someone may ask: requests of the API, and wrong attempts to sign in; and how many may wait for costly work.

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

/** Slots for costly work that anybody may ask for. */
export interface ContestedSlots {
  /** Resolves to the function that releases the slot; `undefined`: too many wait. @param who the network that asks */
  take(who: string): Promise<(() => void) | undefined>;
}

interface Waiting {
  readonly who: string;
  /** Without a slot, it is refused. */
  answer(release: (() => void) | undefined): void;
}

/**
 * A flood of those who ask fills no queue for the others: of each network only a few wait, the one who asked last is served as often as
 * the one who has waited longest, and where too many wait, one from the middle is refused.
 * @param ofOne how many of one network may wait
 */
export function contestedSlots({
  atOnce,
  waiting: most,
  ofOne,
}: {
  readonly atOnce: number;
  readonly waiting: number;
  readonly ofOne: number;
}): ContestedSlots {
  const waiting: Waiting[] = [];
  let free = atOnce;
  let newestNext = true;
  const release = (): void => {
    const next = newestNext ? waiting.pop() : waiting.shift();
    newestNext = !newestNext;
    if (next === undefined) free += 1;
    else next.answer(release);
  };
  return {
    async take(who) {
      if (free > 0) {
        free -= 1;
        return release;
      }
      if (waiting.filter((each) => each.who === who).length >= ofOne) return undefined;
      if (waiting.length >= most) waiting.splice(Math.floor(most / 2), 1)[0]?.answer(undefined);
      return new Promise((resolve) => waiting.push({ who, answer: resolve }));
    },
  };
}
