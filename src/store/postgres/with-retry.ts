// Retries work while the database is briefly unavailable: restarting, read-only, full or out of connections.
import { isPassing } from './transient-error.ts';

/** Longer than a restart or a failover takes, shorter than a person waits. */
const RETRY_FOR_MS = 2 * 60_000;
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 5_000;

export interface RetryOptions {
  /** Whether to retry after an error; by default after transient errors. */
  readonly worthAgain?: (error: unknown) => boolean;
  /** Called for each failure that is followed by a retry. */
  readonly onRetry?: (error: unknown) => void;
}

/**
 * Runs work that is safe to repeat. Throws errors that are not transient, and any error two minutes after the first failure.
 */
export async function withRetry<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
  { worthAgain = isPassing, onRetry }: RetryOptions = {},
): Promise<Result> {
  let giveUpAt: number | undefined;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(LONGEST_DELAY_MS, delayMs * 1.5)) {
    try {
      return await work();
    } catch (error) {
      giveUpAt ??= performance.now() + RETRY_FOR_MS;
      if (signal.aborted || !worthAgain(error) || performance.now() > giveUpAt) throw error;
      onRetry?.(error);
      await pause(delayMs, signal);
    }
  }
}

/** Resolves early when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
