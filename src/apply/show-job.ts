// Asks the site to show one job.
import type { SiteJobId } from '../posting/identifiers.ts';
import type { SiteJob } from '../site/exchange.ts';
import type { SiteContext } from './site-context.ts';

/** Does not wait for the rate limiter, because the attempt is under way: later requests wait longer instead. */
export function showJob(siteContext: SiteContext, id: SiteJobId, signal: AbortSignal): Promise<SiteJob | undefined> {
  siteContext.rateLimiter.spend();
  return siteContext.client.show(id, signal);
}
