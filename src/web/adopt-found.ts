// Shows which jobs a search of the site found for a feed, and adopts the certain ones, for somebody on a page or through the API.
import type { SiteConfig } from '../config/config.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { type AdoptedFound, adoptFoundJobs, type FoundJobsOfFeed, readFoundJobs } from '../review/adopt-found.ts';
import type { App } from '../runtime/app.ts';
import { ProblemError } from './problem.ts';
import { openCheckedSite } from './site-of-entry.ts';
import type { PullAsker } from './start-pull.ts';

/** So that a request ends soon; the rest is adopted by the next one. */
const MOST_MS = 20_000;

/** @throws {ProblemError} 409 if its site is not configured, or has no field that tells jobs apart */
export function foundJobsOf(app: App, feed: FeedName): Promise<FoundJobsOfFeed> {
  return readFoundJobs(app.db, feed, referenceFieldOf(siteOf(app, feed)));
}

/**
 * Adopts as many of the certain jobs as can be checked in a short time.
 * @param mark of the jobs that were shown
 * @throws {ProblemError} 409 if others are certain now, or as above; nothing was adopted then
 */
export async function adoptFoundFor(
  { app, control, actor }: PullAsker,
  feed: FeedName,
  mark: string,
  within = AbortSignal.timeout(MOST_MS),
): Promise<AdoptedFound> {
  const site = siteOf(app, feed);
  const found = await readFoundJobs(app.db, feed, referenceFieldOf(site));
  if (found.mark !== mark)
    throw new ProblemError({
      status: 409,
      detail: 'other jobs are certain than those that were shown; look at them again. Nothing was adopted',
    });
  const opened = await openCheckedSite(app, site);
  try {
    const end = await adoptFoundJobs(app.db, beginningAnywhere(found.sure), opened, {
      actor,
      signal: within,
    });
    if (end.adopted.length > 0) control.wake();
    return end;
  } finally {
    await opened.client.close();
  }
}

/** Jobs that are refused each time must not keep others from being reached. */
function beginningAnywhere<One>(all: readonly One[]): One[] {
  const at = Math.floor(Math.random() * all.length);
  return [...all.slice(at), ...all.slice(0, at)];
}

function siteOf({ config }: App, feed: FeedName): SiteConfig {
  const configured = config.feeds.get(feed);
  const site = configured && config.sites.get(configured.siteName);
  if (site !== undefined) return site;
  throw new ProblemError({ status: 409, detail: `feed ${feed} is not in the configuration` });
}

function referenceFieldOf({ name, options: { referenceField } }: SiteConfig): string {
  if (referenceField !== undefined) return referenceField;
  throw new ProblemError({ status: 409, detail: `site ${name} has no reference_field to tell jobs by` });
}
