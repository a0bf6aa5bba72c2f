// Bounds how often a password may be guessed: wrong attempts of one address for one account, within a quarter of an hour.
import { createHash } from 'node:crypto';

export interface SignInLimit {
  /** Seconds to wait before the next attempt; 0: it may be made now. */
  waitSeconds(address: string, email: string): number;
  noteWrong(address: string, email: string): void;
  noteRight(address: string, email: string): void;
}

const WRONG_ATTEMPTS = 10;
const WINDOW_MS = 15 * 60_000;
/** The oldest are forgotten first: memory stays bounded, whoever tries. */
const MAX_ENTRIES = 10_000;

interface Attempts {
  count: number;
  readonly endsAt: number;
}

/** @param now milliseconds of a clock that never goes back. */
export function createSignInLimit(now: () => number = () => performance.now()): SignInLimit {
  const wrong = new Map<string, Attempts>();
  const current = (key: string): Attempts | undefined => {
    const found = wrong.get(key);
    if (found === undefined || found.endsAt > now()) return found;
    wrong.delete(key);
    return undefined;
  };
  return {
    waitSeconds(address, email) {
      const found = current(keyOf(address, email));
      if (found === undefined || found.count < WRONG_ATTEMPTS) return 0;
      return Math.max(1, Math.ceil((found.endsAt - now()) / 1000));
    },
    noteWrong(address, email) {
      const key = keyOf(address, email);
      const found = current(key);
      if (found !== undefined) {
        found.count++;
        return;
      }
      wrong.set(key, { count: 1, endsAt: now() + WINDOW_MS });
      for (const oldest of wrong.keys()) {
        if (wrong.size <= MAX_ENTRIES) break;
        wrong.delete(oldest);
      }
    },
    noteRight(address, email) {
      wrong.delete(keyOf(address, email));
    },
  };
}

/** Of fixed length, whatever is entered. */
const keyOf = (address: string, email: string): string =>
  createHash('sha256')
    .update(JSON.stringify([address, email.trim().toLowerCase()]))
    .digest('base64');
