// Reads a site's list before the first create of a feed, and whenever the site may know more than the database, so that
// existing jobs are not created a second time.
import { merge, messageOf, tell } from '../../plan/message.ts';
import { plural } from '../../plan/plural.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { SiteJob } from '../../site/exchange.ts';
import { releaseOwned } from '../../store/change/put-in-doubt.ts';
import {
  endSearch,
  feedsToCheck,
  feedsWaitingLong,
  noteFailedSearch,
  noteSearch,
  restoredFeeds,
} from '../../store/change/site-search.ts';
import { expectedJobs } from '../../store/mapping/visible-jobs.ts';
import { noticeRestore, takeSigns } from '../../store/site/ahead-signs.ts';
import { isSiteElsewhere } from '../../store/site/known-address.ts';
import { countNameless, forgetUnread } from '../../store/site/unowned-jobs.ts';
import { crossStep } from '../../telemetry/steps.ts';
import { rateLimitedJobAsker } from '../show-job.ts';
import type { SiteContext } from '../site-context.ts';
import { updateSiteHealth } from '../update-site-health.ts';
import { foundJobs } from './found-jobs.ts';

const RETRY_MS = 30_000;
/** A page may be of any length, so progress is also recorded while one is read. */
const PROGRESS_EVERY_MS = 2_000;

const AHEAD = 'a job on the site differs from what this database recorded: the database may be older than the site';

/** Why a site without a list can't be searched. */
export const CANNOT_SEARCH = messageOf(
  'list_path is not set, so jobmirror cannot see which jobs of this feed the site already has. It creates those missing from its ' +
    'database a second time',
  [
    {
      words: 'To prevent that, set it, or import which posting is which job',
      action: { kind: 'import_mappings' },
    },
  ],
);

const unsearchedAfterRestore = (feed: FeedName) =>
  messageOf(
    'no new jobs are created: the database was restored from a backup, and list_path is not set, so jobmirror cannot see which jobs ' +
      'it made since',
    [{ words: 'set it; or if it made none, run', action: { kind: 'declare_feed_new', feed } }],
  );

/** Reads the list once for all feeds of the site that wait for it. Returns whether creates became free to be sent. */
export async function checkSite(siteContext: SiteContext, signal: AbortSignal): Promise<boolean> {
  const { db, site, policy, log } = siteContext;
  const canSearch = policy.canList;
  const released = await releaseOwned(db, site);
  if (released > 0) log.info({ site, released }, 'other postings own the jobs that these creates resemble');
  if (await noticeRestore(db, undefined))
    log.warn({ site }, 'the database was restored from a backup: searching all sites again');
  const signs = await takeSigns(db, site, canSearch ? undefined : merge([AHEAD, CANNOT_SEARCH]));
  if (signs.length > 0) log.warn({ site, siteJobIds: signs.slice(0, 20), canSearch }, AHEAD);
  const feeds = await feedsToCheck(db, site, RETRY_MS);
  if (feeds.length === 0) return signs.length > 0 || released > 0;
  if (!canSearch) return endUnsearched(siteContext, feeds);
  log.info({ site, feeds }, 'searching the site for jobs of these feeds');
  const unread = await readList(siteContext, feeds, signal);
  if (signal.aborted || unread === 'elsewhere') return false;
  if (unread !== undefined) {
    await recordSiteFailure(siteContext, feeds, unread, signal);
    return false;
  }
  crossStep('site-read');
  for (const feed of feeds) {
    const found = await endSearch(
      db,
      feed,
      siteContext,
      { referenceField: policy.referenceField, ...policy.places },
      undefined,
    );
    if (found === undefined) return false;
    log[found > 0 ? 'error' : 'info']({ site, feed, found }, 'site searched for jobs of the feed');
    crossStep('site-searched');
  }
  return true;
}

/** After a restore, jobmirror has made jobs that its database does not know: then a person decides. Returns as {@link checkSite}. */
async function endUnsearched(siteContext: SiteContext, feeds: readonly FeedName[]): Promise<boolean> {
  const { db, site, log, writeAction } = siteContext;
  const restored = await restoredFeeds(db, feeds);
  for (const feed of restored) await noteFailedSearch(db, feed, unsearchedAfterRestore(feed));
  const others = feeds.filter((feed) => !restored.has(feed));
  for (const feed of others) await endSearch(db, feed, siteContext, undefined, CANNOT_SEARCH);
  if (others.length > 0) log.warn({ site, feeds: others }, tell(CANNOT_SEARCH, writeAction));
  return others.length > 0;
}

/**
 * Stores the jobs that no posting owns. Returns why the list could not be read completely; `undefined`: it was. `elsewhere`: it was
 * read at an address that is no longer the site's, so it does not show which jobs the site has now.
 */
async function readList(
  siteContext: SiteContext,
  feeds: readonly FeedName[],
  signal: AbortSignal,
): Promise<string | 'elsewhere' | undefined> {
  const { db, site, address, client, rateLimiter } = siteContext;
  const found = await foundJobs(siteContext, { isSearch: true });
  const expected = await expectedJobs(rateLimitedJobAsker(siteContext));
  const take = (siteJob: SiteJob): void => {
    expected.take(siteJob);
    found.take(siteJob);
  };
  const recordProgress = () =>
    noteSearch(db, feeds, `searching the site for its jobs: ${plural(found.read, 'job')} read`);
  // Progress that cannot be recorded now is recorded next time.
  const progress = setInterval(() => void recordProgress().catch(() => undefined), PROGRESS_EVERY_MS);
  const listing = await client
    .list(take, signal, async (stop) => {
      await found.keep();
      await expected.keep();
      await recordProgress();
      crossStep('site-page-kept');
      await rateLimiter.take(stop);
    })
    .finally(() => clearInterval(progress));
  if (signal.aborted) return undefined;
  // Reading it may take minutes.
  if (await isSiteElsewhere(db, site, address)) return 'elsewhere';
  if (listing.kind !== 'listed') return listing.message;
  await found.keep();
  await found.end();
  const leftOut = await expected.tellLeftOut(signal);
  if (signal.aborted || leftOut !== undefined) return leftOut;
  const unproven = await listing.whyUnproven?.();
  // Where nothing was ever accepted, only a create could prove the token.
  if (unproven?.mayHide === true) return unproven.message;
  // Results of an earlier search are kept until now: creates of other feeds are compared with them.
  await forgetUnread(db, site, found.since);
  const nameless = await countNameless(db, site);
  if (nameless === 0) return undefined;
  const { referenceField } = siteContext.policy;
  const reference = referenceField === undefined ? '' : `${referenceField}, `;
  return `the list shows neither ${reference}title nor text of ${plural(nameless, 'job')} that this database does not know`;
}

/** Treats a site that is unreachable, asks to wait or refuses the token as if a change had been sent. */
async function recordSiteFailure(
  siteContext: SiteContext,
  feeds: readonly FeedName[],
  why: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, site, client, rateLimiter, log } = siteContext;
  rateLimiter.spend();
  const { kind, message } = await client.probe(signal);
  if (signal.aborted) return;
  log.warn({ site, feeds, why, answer: kind }, 'site could not be searched, no jobs of these feeds are created');
  if (kind === 'unreachable') return updateSiteHealth({ kind, message }, undefined, siteContext);
  if (kind === 'unauthorized') return updateSiteHealth({ kind }, undefined, siteContext);
  if (kind === 'throttled') await updateSiteHealth({ kind }, undefined, siteContext);
  // A site may ask for a little time, but not for ever.
  const failed = kind === 'throttled' ? await feedsWaitingLong(db, feeds) : feeds;
  for (const feed of failed) {
    const text = `no new jobs are created, because the site could not be searched for jobs of this feed: ${why}`;
    const next = [{ words: 'if the site has none of them, run', action: { kind: 'declare_feed_new', feed } as const }];
    await noteFailedSearch(db, feed, messageOf(text, next));
  }
}
