// Reads one job from a site, within the site's rate limit, and retries transient failures.
import type { RateLimiter } from '../flow/rate-limiter.ts';
import { retry } from '../flow/retry.ts';
import { backoffMs, type RetryPolicy } from '../flow/retry-policy.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import { NotShownError, type SiteClient, type SiteJob } from '../site/exchange.ts';

export interface AskedSite {
  readonly site: { readonly retry: RetryPolicy };
  readonly client: SiteClient;
  readonly rateLimiter: RateLimiter;
  readonly signal: AbortSignal;
  /** If the site asks to wait for longer than this, that failure is the last. */
  readonly longestWaitMs?: number;
}

/** `undefined`: the site says that the job does not exist. @throws the last failure if the site gave no clear answer. */
export async function askForJob(
  { site, client, rateLimiter, signal, longestWaitMs = Number.POSITIVE_INFINITY }: AskedSite,
  id: SiteJobId,
): Promise<SiteJob | undefined> {
  const show = async (): Promise<SiteJob | undefined> => {
    await rateLimiter.take(signal);
    signal.throwIfAborted();
    try {
      return await client.show(id, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  };
  return retry(show, site.retry, {
    signal,
    worthAgain: (error) => isTransient(error) && (error.retryAfterMs ?? 0) <= longestWaitMs,
    delayMs: (attempt, error) =>
      (error instanceof NotShownError ? error.retryAfterMs : undefined) ?? backoffMs(site.retry, attempt),
  });
}

const isTransient = (error: unknown): error is NotShownError =>
  error instanceof NotShownError && (error.status === 0 || error.status === 429 || error.status >= 500);
