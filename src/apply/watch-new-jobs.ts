// Finds out whether a site shows jobs right after it has created them: one of each pull is asked for. Where new jobs are hidden, what a
// site does not show may exist.
import { setTimeout as wait } from 'node:timers/promises';
import type { FeedName } from '../posting/identifiers.ts';
import type { SiteJob } from '../site/exchange.ts';
import type { Attempt } from '../store/change/attempt.ts';
import {
  noteHidesNew,
  noteNewJob,
  readNewJobs,
  recentlyAccepted,
  sampleOfAges,
} from '../store/mapping/visible-jobs.ts';
import { showJob } from './show-job.ts';
import type { SiteContext } from './site-context.ts';

/** A site that reads from a copy of its database may show a job a moment later. */
const AGAIN_MS = 1_000;

/** The pull of each feed whose first new job was asked for last. */
const watchedOf = new WeakMap<SiteContext, Map<FeedName, number | undefined>>();

/** Asks for the first job that a process creates in a pull. Returns the job if the site showed it. */
export async function watchNewJob(
  { feed, pull }: Attempt,
  { siteJobId: id }: SiteJob,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<SiteJob | undefined> {
  const { db, site, policy } = siteContext;
  const watched = watchedOf.get(siteContext) ?? new Map<FeedName, number | undefined>();
  watchedOf.set(siteContext, watched);
  if (watched.has(feed) && watched.get(feed) === pull) return undefined;
  watched.set(feed, pull);
  if ((await readNewJobs(db, site)).isCertain) return undefined;
  const shown = await showJob(siteContext, id, signal);
  await noteNewJob(db, site, id, shown !== undefined);
  if (shown !== undefined) return shown;
  // Noted at once, as the process may end meanwhile.
  await wait(Math.min(AGAIN_MS, policy.doubts.resolveAfterMs), undefined, { signal });
  const late = await showJob(siteContext, id, signal);
  if (late !== undefined) await noteNewJob(db, site, id, true);
  return late;
}

/**
 * Whether the site is known not to show each new job at once: it did not show one, but shows others of ours, or that one by now. A site
 * that shows none, such as one without a show action, proves nothing.
 */
export async function hidesNewJobs(siteContext: SiteContext, signal: AbortSignal): Promise<boolean> {
  const { db, site } = siteContext;
  const { hidden, isCertain } = await readNewJobs(db, site);
  if (hidden === undefined || isCertain) return isCertain;
  const others = [...(await recentlyAccepted(db, site, hidden)), ...(await sampleOfAges(db, site, hidden))];
  for (const id of new Set([hidden, ...others])) {
    // What cannot be asked for is asked for the next time.
    const shown = await showJob(siteContext, id, signal).catch(() => undefined);
    if (shown === undefined) continue;
    await noteHidesNew(db, site);
    return true;
  }
  return false;
}
