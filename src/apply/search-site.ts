// Reads a site's list before the first create of a feed, and where the site may know more than the database, so that jobs
// that are there already are not made a second time.
import { plural } from '../plan/plural.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { noticeRestore, takeSigns } from '../store/site/ahead-signs.ts';
import {
  countNameless,
  endSearch,
  feedsToCheck,
  forgetUnread,
  forgetUnreferenced,
  noteFailedSearch,
  noteSearch,
} from '../store/site/site-search.ts';
import { crossStep } from '../telemetry/fault-hook.ts';
import { foundJobs } from './found-jobs.ts';
import type { SiteContext } from './site-context.ts';
import { updateSiteHealth } from './update-site-health.ts';

const RETRY_MS = 30_000;
/** A page of a list may have any length: how far it is read is written down meanwhile, too. */
const NOTE_EVERY_MS = 2_000;

const AHEAD = 'a job on the site is not what this database knows of it: the database may know less than the site';

/** Why a site without a list can't be searched. */
export const UNSEARCHED =
  'list_path or reference_field is not set, so jobmirror can not see which jobs of this feed the site has already. It ' +
  'creates those that its database does not know a second time. To prevent that, set both, or import which posting is ' +
  'which job: jobmirror mappings import FILE';

/** One reading serves all feeds of the site that wait for it. Gives whether creates became free to be sent. */
export async function checkSite(siteContext: SiteContext, signal: AbortSignal): Promise<boolean> {
  const { db, site, policy, log } = siteContext;
  const { referenceField } = policy;
  const canSearch = policy.canList && referenceField !== undefined;
  if (await noticeRestore(db, undefined)) log.warn({ site }, 'the data was restored: all sites are searched anew');
  const signs = await takeSigns(db, site, canSearch ? undefined : `${AHEAD}; ${UNSEARCHED}`);
  if (signs.length > 0) log.warn({ site, siteJobIds: signs.slice(0, 20), canSearch }, AHEAD);
  const feeds = await feedsToCheck(db, site, RETRY_MS);
  if (feeds.length === 0) return signs.length > 0;
  if (!canSearch) {
    for (const feed of feeds) await endSearch(db, feed, site, undefined, UNSEARCHED);
    log.warn({ site, feeds }, UNSEARCHED);
    return true;
  }
  log.info({ site, feeds }, 'the site is searched for jobs of these feeds');
  const unread = await readList(siteContext, feeds, referenceField, signal);
  if (signal.aborted) return false;
  if (unread !== undefined) {
    await recordSiteFailure(siteContext, feeds, unread, signal);
    return false;
  }
  crossStep('site-read');
  for (const feed of feeds) {
    const found = await endSearch(db, feed, site, referenceField, undefined);
    log[found > 0 ? 'error' : 'info']({ site, feed, found }, 'the site was searched for jobs of the feed');
    crossStep('site-searched');
  }
  return true;
}

/** Keeps the jobs that nothing owns. Gives why the list could not be read whole; `undefined`: it was. */
async function readList(
  siteContext: SiteContext,
  feeds: readonly FeedName[],
  referenceField: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { db, site, client, rateLimiter } = siteContext;
  const found = await foundJobs(siteContext, referenceField, true);
  const noteProgress = () =>
    noteSearch(db, feeds, `its jobs are looked for on the site: ${plural(found.read, 'job')} read`);
  // A note that can't be written is written with the next one.
  const progress = setInterval(() => void noteProgress().catch(() => undefined), NOTE_EVERY_MS);
  const listing = await client
    .list(found.take, signal, async (stop) => {
      await found.keep();
      await noteProgress();
      crossStep('site-page-kept');
      await rateLimiter.take(stop);
    })
    .finally(() => clearInterval(progress));
  if (signal.aborted) return undefined;
  if (listing.kind !== 'listed') return listing.message;
  await found.keep();
  // What an earlier search found stays until then: creates of other feeds are compared with it.
  await forgetUnread(db, site, found.since);
  if (found.referenced > 0) await forgetUnreferenced(db, site);
  const nameless = await countNameless(db, site);
  if (nameless === 0) return undefined;
  return `the list shows neither ${referenceField} nor title of ${plural(nameless, 'job')} that this database does not know`;
}

/** A site that is out of reach, asks to wait or refuses the token is treated as if a change had been sent. */
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
  log.warn({ site, feeds, why, answer: kind }, 'the site could not be searched, nothing of these feeds is created');
  if (kind === 'unreachable') await updateSiteHealth({ kind, message }, undefined, siteContext);
  else if (kind === 'unauthorized' || kind === 'throttled') await updateSiteHealth({ kind }, undefined, siteContext);
  else {
    for (const feed of feeds) {
      await noteFailedSearch(
        db,
        feed,
        `nothing new is created, as the site could not be searched for jobs of this feed: ${why}; ` +
          `if the site has none of them, say so with: jobmirror feeds new ${feed}`,
      );
    }
  }
}
