// Asks the site to show one job.
import type { SiteJobId } from '../posting/identifiers.ts';
import type { SiteJob } from '../site/exchange.ts';
import { unlessDeleted } from '../site/states-deletion.ts';
import { type JobAsker, noteShownJobs } from '../store/mapping/visible-jobs.ts';
import type { SiteContext } from './site-context.ts';

/** Does not wait for the rate limiter, because the attempt is under way: later requests wait longer instead. */
export async function showJob(
  siteContext: SiteContext,
  id: SiteJobId,
  signal: AbortSignal,
): Promise<SiteJob | undefined> {
  const { db, site, client, rateLimiter, log } = siteContext;
  rateLimiter.spend();
  const shown = await client.show(id, signal);
  // Not noted, it counts as hidden for longer.
  if (shown !== undefined)
    await noteShownJobs(db, site, [id]).catch((error) => log.warn({ err: error, site }, 'shown job not noted'));
  return shown;
}

/** Asks whether the site shows jobs of ours, and not as deleted; unlike {@link showJob}, outside an attempt. */
export const askerInTurn = ({ db, site, client, rateLimiter }: SiteContext): Omit<JobAsker, 'probe'> => ({
  db,
  site,
  async ask(id, signal) {
    await rateLimiter.take(signal);
    return unlessDeleted(await client.show(id, signal));
  },
});
