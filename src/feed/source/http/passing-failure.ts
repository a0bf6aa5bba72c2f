// Tells which failures of a request may pass, and how long to wait before it is repeated.

import type { RetryOptions } from '../../../flow/retry.ts';
import { readRetryAfter } from '../../../flow/retry-after.ts';
import { backoffMs, type RetryPolicy } from '../../../flow/retry-policy.ts';
import { BrokenOff } from '../source.ts';
import type { HttpExchange } from './exchange.ts';
import { responseRefusal } from './response.ts';

/** A failure that another try may not have. */
export class PassingFailure extends BrokenOff {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** There is nothing at the address. */
export class NothingThere extends BrokenOff {}

/** How requests are repeated: as the policy says, unless the source asks for a longer wait. */
export const repeating = (
  policy: RetryPolicy,
  signal: AbortSignal,
): Required<Pick<RetryOptions, 'signal' | 'worthAgain' | 'delayMs'>> => ({
  signal,
  worthAgain: (error) => error instanceof PassingFailure && error.retryAfterMs <= policy.maxDelayMs,
  delayMs: (tried, error) =>
    Math.max(backoffMs(policy, tried, Math.random()), error instanceof PassingFailure ? error.retryAfterMs : 0),
});

/** Why a response is refused; `undefined` if it may be a feed. @param ifMissing what to do if there is nothing, for people. */
export function answerRefusal(url: URL, exchange: HttpExchange, ifMissing?: string): BrokenOff | undefined {
  const message = responseRefusal(url, exchange, ifMissing);
  if (message === undefined) return undefined;
  const { statusCode = 0, headers } = exchange.response;
  if (statusCode === 404 || statusCode === 410) return new NothingThere(message);
  if (statusCode !== 429 && statusCode < 500) return new BrokenOff(message);
  const retryAfterMs = readRetryAfter(headers['retry-after'], headers.date, Date.now());
  const wait = retryAfterMs === undefined ? '' : `; it asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
  return new PassingFailure(message + wait, retryAfterMs);
}
