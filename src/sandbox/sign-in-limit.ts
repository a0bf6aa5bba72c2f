// Limits password guessing: counts wrong attempts per client address and account within 15 minutes.
// Not rate-limiter-flexible: its memory grows with every address that tries.
import { createHash } from 'node:crypto';

export interface SignInLimit {
  /**
   * Begins an attempt. It counts as wrong until `recordSuccess`, so concurrent attempts count too.
   * @returns 0 if the attempt is allowed; otherwise the seconds to wait, and the attempt is not counted
   */
  begin(address: string, email: string): number;
  recordSuccess(address: string, email: string): void;
}

const WRONG_ATTEMPTS = 10;
const WINDOW_MS = 15 * 60_000;
/** Bounds the memory; the oldest entries are dropped first. */
const MAX_ENTRIES = 10_000;

interface Attempts {
  count: number;
  readonly endsAt: number;
}

/** @param now a monotonic clock, in milliseconds. */
export function createSignInLimit(now: () => number = () => performance.now()): SignInLimit {
  const wrong = new Map<string, Attempts>();
  const current = (key: string): Attempts | undefined => {
    const found = wrong.get(key);
    if (found === undefined || found.endsAt > now()) return found;
    wrong.delete(key);
    return undefined;
  };
  return {
    begin(address, email) {
      const key = keyOf(address, email);
      const found = current(key);
      if (found !== undefined) {
        if (found.count >= WRONG_ATTEMPTS) return Math.max(1, Math.ceil((found.endsAt - now()) / 1000));
        found.count++;
        return 0;
      }
      wrong.set(key, { count: 1, endsAt: now() + WINDOW_MS });
      for (const oldest of wrong.keys()) {
        if (wrong.size <= MAX_ENTRIES) break;
        wrong.delete(oldest);
      }
      return 0;
    },
    recordSuccess(address, email) {
      wrong.delete(keyOf(address, email));
    },
  };
}

/** A key of fixed length, whatever is entered. */
const keyOf = (address: string, email: string): string =>
  createHash('sha256')
    .update(JSON.stringify([address, email.trim().toLowerCase()]))
    .digest('base64');
