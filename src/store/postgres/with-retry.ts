// Tries work again while the database is away for a moment: restarted, read-only, full, or without a connection to spare.
import { isPassing } from './transient-error.ts';

/** Longer than a restart or a failover takes, shorter than a person waits. */
const RETRY_FOR_MS = 2 * 60_000;
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 5_000;

export interface RetryOptions {
  /** Whether an error is worth another try; by default each that passes by itself. */
  readonly worthAgain?: (error: unknown) => boolean;
  /** Hears of each failure that is followed by another try. */
  readonly onRetry?: (error: unknown) => void;
}

/**
 * Does work that may be done twice; throws what does not pass by itself, and what has not passed two minutes after the
 * first failure.
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

/** Ends early when the signal aborts. */
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
