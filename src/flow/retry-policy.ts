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
export const mayRetry = (
  { attempts = Number.POSITIVE_INFINITY, forMs = Number.POSITIVE_INFINITY }: RetryPolicy,
  attempt: number,
  failingMs: number,
): boolean => attempt < attempts && failingMs <= forMs;
