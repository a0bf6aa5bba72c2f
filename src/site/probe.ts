// Turns the answer to one harmless GET into what it says of the site: does it take the token again, is it there?
import type { Outcome } from './exchange.ts';
import type { Answer } from './transport.ts';

/**
 * Judges by the status alone. Everything that is neither about the token nor a failure of the site is `accepted`, a 404
 * too: where no list action is configured, there may be nothing to read, but the token was not refused.
 */
export function judgeProbe(answer: Pick<Answer, 'status' | 'header'>): Outcome['kind'] {
  if (answer.status === 0) return 'unreachable';
  if (answer.status === 401) return 'unauthorized';
  if (answer.status === 403) return 'forbidden';
  if (answer.status === 429 || answer.status === 503) return 'throttled';
  if (answer.status >= 500) return 'unknown';
  if (answer.status >= 300 && answer.status < 400) return 'misconfigured';
  return 'accepted';
}
