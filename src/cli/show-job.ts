// Reads one job from a site for a command, within the site's rate limit, and retries transient failures.
import type { SiteConfig } from '../config/config.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import { NotShownError, type SiteClient, type SiteJob } from '../site/exchange.ts';
import type { RateLimiter } from '../site/rate-limiter.ts';
import { pause } from '../store/postgres/with-retry.ts';

export interface AskedSite {
  readonly site: SiteConfig;
  readonly client: SiteClient;
  readonly rateLimiter: RateLimiter;
  readonly signal: AbortSignal;
}

/** `undefined`: the site says that the job does not exist. @throws the last failure if the site gave no clear answer. */
export async function showJob(
  { site, client, rateLimiter, signal }: AskedSite,
  id: SiteJobId,
): Promise<SiteJob | undefined> {
  for (let tries = 1, delayMs = site.retry.firstDelayMs; ; tries++, delayMs *= 2) {
    await rateLimiter.take(signal);
    signal.throwIfAborted();
    try {
      return await client.show(id, signal);
    } catch (error) {
      signal.throwIfAborted();
      const { status = undefined, retryAfterMs } = error instanceof NotShownError ? error : { retryAfterMs: undefined };
      const isTransient = status === 0 || status === 429 || (status ?? 0) >= 500;
      if (!isTransient || tries >= site.retry.attempts) throw error;
      await pause(retryAfterMs ?? Math.min(delayMs, site.retry.maxDelayMs), signal);
    }
  }
}
