// Has a site show one job to a command: within the site's rate, and again where the failure may pass.
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

/** `undefined`: the site says that it is not there. @throws the last failure, where that can't be told. */
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
      const mayPass = status === 0 || status === 429 || (status ?? 0) >= 500;
      if (!mayPass || tries >= site.retry.attempts) throw error;
      await pause(retryAfterMs ?? Math.min(delayMs, site.retry.maxDelayMs), signal);
    }
  }
}
