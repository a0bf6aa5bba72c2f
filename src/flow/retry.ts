// Repeats work until it succeeds, fails for good, or has been tried for long enough.
// Not p-retry: when the signal aborts it throws the signal's reason, and the error of the last try is lost.
import { pause } from './pause.ts';
import { backoffMs, mayRetry, type RetryPolicy } from './retry-policy.ts';

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
