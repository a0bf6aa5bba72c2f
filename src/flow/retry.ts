// Repeats work until it succeeds, fails for good, or has been tried for long enough.
// Not p-retry: when the signal aborts it throws the signal's reason, and the error of the last try is lost.
import { pause } from './pause.ts';

export interface RetryOptions {
  /** Ends a wait at once. A running try goes on; its error is the last. */
  readonly signal?: AbortSignal;
  /** Whether another try can help. Asked after each failure, unless the signal has aborted. */
  readonly worthAgain: (error: unknown) => boolean;
  /** Called for each failure that is followed by another try. */
  readonly onRetry?: (error: unknown) => void;
  /** The delay after a failure, where the policy alone does not decide. */
  readonly delayMs?: (attempt: number, error: unknown) => number;
  /** Whether waiting keeps the process alive. Default: it does. */
  readonly keepsAlive?: boolean;
}

/** Runs work that is safe to repeat. Throws the error of the last try. */
export async function retry<Result>(
  work: () => Promise<Result>,
  policy: RetryPolicy,
  { signal, worthAgain, onRetry, delayMs = (attempt) => backoffMs(policy, attempt), keepsAlive }: RetryOptions,
): Promise<Result> {
  let failedAt: number | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      failedAt ??= performance.now();
      if (signal?.aborted || !mayRetry(policy, attempt, performance.now() - failedAt) || !worthAgain(error))
        throw error;
      onRetry?.(error);
      await pause(delayMs(attempt, error), signal, { keepsAlive });
    }
  }
}

// How long to wait before the next try: exponential backoff, up to a limit, with jitter. Computes only.

export interface RetryPolicy {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** By what each delay is multiplied for the next one. Default: 2. */
  readonly factor?: number;
  /** How many tries there are, with the first one. Default: any number. */
  readonly attempts?: number;
  /** How long after the first failure tries may still begin. Default: forever. */
  readonly forMs?: number;
}

/** Beyond this many tries, every delay has reached its limit; a power of more could be infinite. */
const MOST_DOUBLINGS = 30;

/**
 * The delay after a failed try.
 * @param attempt which try has failed, from 1.
 * @param random in [0, 1): between half and all of the delay. Without it, all of the delay.
 */
export function backoffMs(policy: RetryPolicy, attempt: number, random = 1): number {
  const { firstDelayMs, maxDelayMs, factor = 2 } = policy;
  const delayMs = Math.min(maxDelayMs, firstDelayMs * factor ** Math.min(attempt - 1, MOST_DOUBLINGS));
  return delayMs * (0.5 + random / 2);
}

/** Whether there may be another try, after this many tries and this long after the first of them failed. */
const mayRetry = (
  { attempts = Number.POSITIVE_INFINITY, forMs = Number.POSITIVE_INFINITY }: RetryPolicy,
  attempt: number,
  failingMs: number,
): boolean => attempt < attempts && failingMs <= forMs;

/** The longest wait at a time, whatever the site asks for. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Reads `Retry-After` (RFC 9110, 10.2.3): seconds, or an HTTP date. A date is relative to the answer's own `Date` if it
 * has one, so a wrong clock does no harm. Returns 0 up to one hour, or `undefined` if the header is absent or
 * unreadable. `now` is in milliseconds since the epoch.
 */
export function readRetryAfter(header: string | undefined, date: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return bounded(Number(text) * 1000);
  const until = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(until)) return undefined;
  const answeredAt = Date.parse(date ?? '');
  return bounded(until - (Number.isNaN(answeredAt) ? now : answeredAt));
}

const bounded = (ms: number): number => Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
