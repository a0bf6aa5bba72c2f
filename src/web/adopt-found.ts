// Shows which jobs a search of the site found for a feed, and has the certain ones adopted, for somebody on a page or through the API.
import type { SiteConfig } from '../config/config.ts';
import type { OperationContext } from '../operations/operation.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { type FoundJobsOfFeed, readFoundJobs, startAdoptingFound } from '../review/adopt-found.ts';
import type { BulkStart } from '../review/bulk/start-bulk.ts';
import type { App } from '../runtime/app.ts';
import { type FoundOf, foundFingerprint } from '../store/review/found-entries.ts';
import { ProblemError } from './problem.ts';
import { expectNotMoved } from './site-of-entry.ts';

/** For so long, what was read of a large site is shown again. An action reads anew what is certain, when it starts and now and then. */
const SHOWN_AGAIN_MS = 60_000;

interface Shown {
  readonly fingerprint: string;
  readonly until: number;
  readonly found: Promise<FoundJobsOfFeed>;
}

const shown = new WeakMap<App, Map<FeedName, Shown>>();

/**
 * Reads them, or shows again what was read of a large site in the last minute, unless jobs were found or decided since.
 * @throws {ProblemError} 409 if its site is not configured
 */
export async function foundJobsOf(app: App, feed: FeedName): Promise<FoundJobsOfFeed> {
  const of = foundOf(feed, siteOf(app, feed));
  const read = () => readFoundJobs(app.db, of);
  const { fingerprint, takesLong } = await foundFingerprint(app.db, feed);
  if (!takesLong) return read();
  const ofFeeds = shown.get(app) ?? new Map<FeedName, Shown>();
  shown.set(app, ofFeeds);
  const last = ofFeeds.get(feed);
  if (last !== undefined && last.fingerprint === fingerprint && performance.now() < last.until) return last.found;
  const found = read();
  ofFeeds.set(feed, { fingerprint, until: performance.now() + SHOWN_AGAIN_MS, found });
  found.catch(() => ofFeeds.delete(feed));
  return found;
}

/**
 * Starts the action that adopts the certain jobs.
 * @param mark of the jobs that were shown: it is refused if others are certain now
 * @throws {ProblemError} 409 as above, or if the site's jobs were made at another address
 */
export async function startAdoptingFor(
  { app, control, actor }: OperationContext,
  feed: FeedName,
  mark: string,
): Promise<BulkStart> {
  const site = siteOf(app, feed);
  const of = foundOf(feed, site);
  await expectNotMoved(app, site);
  // If others are certain now, these are shown next.
  shown.get(app)?.delete(feed);
  const start = await startAdoptingFound(app.db, app.config, { of, mark, actor, unattended: true });
  if (start.kind === 'started') control.bulk(start.bulk.id);
  return start;
}

function siteOf({ config }: App, feed: FeedName): SiteConfig {
  const configured = config.feeds.get(feed);
  const site = configured && config.sites.get(configured.siteName);
  if (site !== undefined) return site;
  throw new ProblemError({ status: 409, detail: `feed ${feed} is not in the configuration` });
}

const foundOf = (feed: FeedName, { name, options: { referenceField } }: SiteConfig): FoundOf => ({
  feed,
  site: name,
  referenceField,
});
