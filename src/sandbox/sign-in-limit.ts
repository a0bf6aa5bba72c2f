// Bounds how often a password may be guessed: wrong attempts of one address for one account, within a quarter of an hour.
import { createHash } from 'node:crypto';

export interface SignInLimit {
  /**
   * Begins an attempt, which counts as wrong until it is noted as right: attempts at the same time are counted, too.
   * @returns 0: it may be made now; otherwise the seconds to wait, and it does not count
   */
  begin(address: string, email: string): number;
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
