// Reads a site's list before the first create of a feed, so that jobs that are there already are not made a second time.
import { plural } from '../src/plan/plural.ts';
import { fieldOf } from '../src/plan/same-value.ts';
import type { FeedName } from '../src/posting/identifiers.ts';
import { type SiteJob, toCompare } from '../src/site/exchange.ts';
import {
  countNameless,
  endSearch,
  type FoundJob,
  feedsToCheck,
  forgetFound,
  forgetUnreferenced,
  keepFound,
  noteFailedSearch,
  noteSearch,
} from '../src/store/site-check.ts';
import { heedOutcome } from './heed-outcome.ts';
import type { SiteDesk } from './site-desk.ts';

const RETRY_MS = 30_000;
const KEPT_AT_ONCE = 1_000;

/** Why a site without a list can't be searched. */
export const UNSEARCHED =
  'list_path or reference_field is not set, so jobmirror can not see which jobs of this feed the site has already. It ' +
  'creates those that its database does not know a second time. To prevent that, set both, or import which posting is ' +
  'which job: jobmirror mappings import FILE';

/** One reading serves all feeds of the site that wait for it. Gives whether creates became free to be sent. */
export async function checkSite(desk: SiteDesk, signal: AbortSignal): Promise<boolean> {
  const { db, site, policy, log } = desk;
  const feeds = await feedsToCheck(db, site, RETRY_MS);
  if (feeds.length === 0) return false;
  const { referenceField } = policy;
  if (!policy.canList || referenceField === undefined) {
    for (const feed of feeds) await endSearch(db, feed, site, undefined, UNSEARCHED);
    log.warn({ site, feeds }, UNSEARCHED);
    return true;
  }
  log.info({ site, feeds }, 'the site is searched for jobs of new feeds');
  const unread = await readList(desk, feeds, referenceField, signal);
  if (signal.aborted) return false;
  if (unread !== undefined) {
    await heedFailure(desk, feeds, unread, signal);
    return false;
  }
  for (const feed of feeds) {
    const found = await endSearch(db, feed, site, referenceField, undefined);
    log[found > 0 ? 'error' : 'info']({ site, feed, found }, 'the site was searched for jobs of the feed');
  }
  return true;
}

/** Keeps the jobs that nothing owns. Gives why the list could not be read whole; `undefined`: it was. */
async function readList(
  { db, site, client, turns }: SiteDesk,
  feeds: readonly FeedName[],
  referenceField: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  await forgetFound(db, site);
  let waiting: FoundJob[] = [];
  let read = 0;
  let referenced = 0;
  const keep = async () => {
    for (let at = 0; at < waiting.length; at += KEPT_AT_ONCE) {
      await keepFound(db, site, referenceField, waiting.slice(at, at + KEPT_AT_ONCE));
    }
    waiting = [];
    await noteSearch(db, feeds, `its jobs are looked for on the site: ${plural(read, 'job')} read`);
  };
  const take = (siteJob: SiteJob): void => {
    read++;
    const [kept, reference] = [siteJob, toCompare(siteJob)].map(({ fields }) => fieldOf(fields, referenceField));
    if (reference?.trim()) referenced++;
    const { siteJobId, fields } = siteJob;
    waiting.push({ siteJobId, reference, isSecret: reference !== kept, title: fieldOf(fields, 'title') });
  };
  const listing = await client.list(take, signal, async (stop) => {
    await keep();
    await turns.take(stop);
  });
  if (signal.aborted) return undefined;
  if (listing.kind !== 'listed') return listing.message;
  await keep();
  if (referenced > 0) await forgetUnreferenced(db, site);
  const nameless = await countNameless(db, site);
  if (nameless === 0) return undefined;
  return `the list shows neither ${referenceField} nor title of ${plural(nameless, 'job')} that this database does not know`;
}

/** A site that is out of reach, asks to wait or refuses the token is treated as if a change had been sent. */
async function heedFailure(
  desk: SiteDesk,
  feeds: readonly FeedName[],
  why: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, site, client, turns, log } = desk;
  turns.spend();
  const { kind, message } = await client.probe(signal);
  if (signal.aborted) return;
  log.warn({ site, feeds, why, answer: kind }, 'the site could not be searched, nothing of these feeds is created');
  if (kind === 'unreachable') await heedOutcome({ kind, message }, undefined, desk);
  else if (kind === 'unauthorized' || kind === 'throttled') await heedOutcome({ kind }, undefined, desk);
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
