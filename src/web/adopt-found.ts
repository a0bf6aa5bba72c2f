// Shows which jobs a search of the site found for a feed, and has the certain ones adopted, for somebody on a page or through the API.
import type { SiteConfig } from '../config/config.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { type FoundJobsOfFeed, readFoundJobs, startAdoptingFound } from '../review/adopt-found.ts';
import type { BulkStart } from '../review/bulk/start-bulk.ts';
import type { App } from '../runtime/app.ts';
import { ProblemError } from './problem.ts';
import { expectNotMoved } from './site-of-entry.ts';
import type { PullAsker } from './start-pull.ts';

/** @throws {ProblemError} 409 if its site is not configured, or has no field that tells jobs apart */
export function foundJobsOf(app: App, feed: FeedName): Promise<FoundJobsOfFeed> {
  return readFoundJobs(app.db, feed, referenceFieldOf(siteOf(app, feed)));
}

/**
 * Starts the action that adopts the certain jobs.
 * @param mark of the jobs that were shown: it is refused if others are certain now
 * @throws {ProblemError} 409 as above, or if the site's jobs were made at another address
 */
export async function startAdoptingFor(
  { app, control, actor }: PullAsker,
  feed: FeedName,
  mark: string,
): Promise<BulkStart> {
  const site = siteOf(app, feed);
  const referenceField = referenceFieldOf(site);
  await expectNotMoved(app, site);
  const start = await startAdoptingFound(app.db, { feed, referenceField, mark, actor, unattended: true });
  if (start.kind === 'started') control.bulk(start.bulk.id);
  return start;
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
