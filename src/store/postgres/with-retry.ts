// Retries work while the database is briefly unavailable: restarting, read-only, full or out of connections.
import { type RetryPolicy, retry } from '../../flow/retry.ts';
import { isPassing } from './transient-error.ts';

/** Longer than a restart or a failover takes, shorter than a person waits. */
const OUTAGE: RetryPolicy = { firstDelayMs: 1_000, maxDelayMs: 5_000, factor: 1.5, forMs: 2 * 60_000 };

export interface DatabaseRetryOptions {
  /** Whether to retry after an error; by default after transient errors. */
  readonly worthAgain?: (error: unknown) => boolean;
  /** Called for each failure that is followed by a retry. */
  readonly onRetry?: (error: unknown) => void;
}

/**
 * Runs work that is safe to repeat. Throws errors that are not transient, and any error two minutes after the first failure.
 */
export const withRetry = <Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
  { worthAgain = isPassing, onRetry }: DatabaseRetryOptions = {},
): Promise<Result> => retry(work, OUTAGE, { signal, worthAgain, onRetry });
