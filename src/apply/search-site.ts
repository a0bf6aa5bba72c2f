// Reads a site's list before the first create of a feed, and whenever the site may know more than the database, so that
// existing jobs are not created a second time.
import { featuresOfJob } from '../plan/match/job-features.ts';
import { type Advice, type Message, merge, messageOf, plural, tell } from '../plan/message.ts';
import { isRewriting } from '../plan/observe-values.ts';
import { compareReferences, fieldOf } from '../plan/same-meaning.ts';
import type { FeedName, SiteJobId } from '../posting/identifiers.ts';
import { type SiteJob, statesDeletion, withRevealedFields } from '../site/exchange.ts';
import { ownedJobIds } from '../store/change/candidate-owners.ts';
import { releaseOwned } from '../store/change/doubt.ts';
import {
  databaseTime,
  endSearch,
  type FormerFeed,
  feedsToCheck,
  feedsWaitingLong,
  noteFailedSearch,
  noteSearch,
  possibleFormerFeeds,
  restoredFeeds,
} from '../store/change/site-search.ts';
import { expectedJobs } from '../store/mapping/visible-jobs.ts';
import { noticeRestore, takeSigns } from '../store/site/ahead-signs.ts';
import { learntRewrites } from '../store/site/kept-values.ts';
import { isSiteElsewhere } from '../store/site/known-address.ts';
import {
  countNameless,
  type FoundJob,
  forgetUnread,
  keepFound,
  markForeign,
  ownReferences,
} from '../store/site/unowned-jobs.ts';
import { crossStep } from '../telemetry/times.ts';
import { rateLimitedJobAsker } from './show-job.ts';
import type { SiteContext } from './site-context.ts';
import { noteShownReference, updateSiteHealth } from './site-health.ts';

const RETRY_MS = 30_000;
/** A page may be of any length, so progress is also recorded while one is read. */
const PROGRESS_EVERY_MS = 2_000;

const AHEAD = 'a job on the site differs from what this database recorded: the database may be older than the site';

/** Why a site without a list can't be searched. */
export const SITE_WITHOUT_LIST = messageOf(
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
    'no new jobs are created: the database was restored from a backup, moved or failed over, and list_path is not set, so jobmirror cannot see which jobs ' +
      'it made since',
    [{ words: 'set it; or if it made none, run', action: { kind: 'declare_feed_new', feed } }],
  );

/** Reads the list once for all feeds of the site that wait for it. Returns whether creates became free to be sent. */
export async function checkSite(siteContext: SiteContext, signal: AbortSignal): Promise<boolean> {
  const { db, site, policy, log } = siteContext;
  const canSearch = policy.canList;
  const released = await releaseOwned(db, site);
  if (released > 0) log.info({ site, released }, 'other postings own the jobs that these creates resemble');
  const changed = await noticeRestore(db, undefined);
  if (changed !== undefined) log.warn({ site }, `${changed}: searching all sites again`);
  const signs = await takeSigns(db, site, canSearch ? undefined : merge([AHEAD, SITE_WITHOUT_LIST]));
  if (signs.length > 0) log.warn({ site, siteJobIds: signs.slice(0, 20), canSearch }, AHEAD);
  const feeds = await withoutFormerFeeds(siteContext, await feedsToCheck(db, site, RETRY_MS));
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

/** A feed that would make the jobs of a retired one a second time waits for a person: it may have its new name. */
async function withoutFormerFeeds(siteContext: SiteContext, feeds: readonly FeedName[]): Promise<readonly FeedName[]> {
  const { db, site, log, writeAction } = siteContext;
  const others: FeedName[] = [];
  for (const feed of feeds) {
    const former = await possibleFormerFeeds(db, feed, siteContext);
    if (former.length === 0) {
      others.push(feed);
      continue;
    }
    const why = describeFormer(feed, former);
    log.warn({ site, feed }, tell(why, writeAction));
    await noteFailedSearch(db, feed, why);
  }
  return others;
}

function describeFormer(feed: FeedName, former: readonly FormerFeed[]): Message {
  const parts = former.map(({ feed: other, postings }) => {
    const are = `${plural(postings, 'posting')} with the same key and content, text or address ${postings === 1 ? 'is' : 'are'}`;
    return `${are} in feed ${other} of this site, which is retired`;
  });
  return messageOf(`no new jobs are created: ${parts.join('; ')}`, [
    ...former.map(
      ({ feed: other }): Advice => ({
        words: `If ${feed} is the new name of ${other}`,
        action: { kind: 'rename_feed', feed: other, to: feed },
      }),
    ),
    { words: 'If the site is to have these jobs twice', action: { kind: 'declare_feed_new', feed } },
  ]);
}

/** After a restore, jobmirror has made jobs that its database does not know: then a person decides. Returns as {@link checkSite}. */
async function endUnsearched(siteContext: SiteContext, feeds: readonly FeedName[]): Promise<boolean> {
  const { db, site, log, writeAction } = siteContext;
  const restored = await restoredFeeds(db, feeds);
  for (const feed of restored) await noteFailedSearch(db, feed, unsearchedAfterRestore(feed));
  const others = feeds.filter((feed) => !restored.has(feed));
  for (const feed of others) await endSearch(db, feed, siteContext, undefined, SITE_WITHOUT_LIST);
  if (others.length > 0) log.warn({ site, feeds: others }, tell(SITE_WITHOUT_LIST, writeAction));
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

// While a site's list is read, collects the jobs that no posting in this database accounts for.

const KEPT_AT_ONCE = 1_000;
const MOST_AGE_MS = 86_400_000;
/** This many are enough to know whose jobs are ours. */
const MOST_OWNERS = 1_000;

interface FoundJobs {
  /** How many jobs were taken. */
  readonly read: number;
  /** When this started, by the database's clock. */
  readonly since: Date;
  readonly take: (siteJob: SiteJob) => void;
  /** Stores the jobs taken since the last call; call it after each page. */
  keep(): Promise<void>;
  /** The list was read to its end, and the last jobs were stored. */
  end(): Promise<void>;
}

interface FoundJobsOptions {
  /** Whether the list is read for this purpose, so mapped jobs and contents are compared as well. */
  readonly isSearch: boolean;
  /** How old the list may be; jobs deleted within that time do not count as found. */
  readonly maxAgeMs?: number;
}

export async function foundJobs(
  siteContext: SiteContext,
  { isSearch, maxAgeMs = 0 }: FoundJobsOptions,
): Promise<FoundJobs> {
  const { db, site } = siteContext;
  const since = new Date((await databaseTime(db)).getTime() - Math.min(MOST_AGE_MS, Math.max(0, maxAgeMs)));
  const { referenceField, places } = siteContext.policy;
  const reading = { site, referenceField, since, isSearch };
  const learnt = await learntRewrites(db, site);
  const rules = { referenceField, ...places, learnt };
  const owners = new Set<string>();
  const own = new Set<string>();
  let waiting: FoundJob[] = [];
  let areReferenced = false;
  let read = 0;

  /** Jobs whose reference is not their posting's: the site reused the ID, and this database did not know. */
  async function contradicting(jobs: readonly FoundJob[]): Promise<ReadonlySet<SiteJobId>> {
    const ids = jobs.map(({ siteJobId }) => siteJobId);
    const sentBy = await ownReferences(db, reading, ids);
    const others = jobs.filter(({ siteJobId, reference: shown }) => {
      const sent = sentBy.get(siteJobId);
      if (sent === undefined || !shown?.trim() || compareReferences(sent, shown) !== 'other') return false;
      return referenceField === undefined || !isRewriting(learnt, referenceField, sent, shown);
    });
    return new Set(others.map(({ siteJobId }) => siteJobId));
  }

  async function noteOwners(jobs: readonly FoundJob[]): Promise<void> {
    for (const { features } of jobs) if (owners.size < MOST_OWNERS) owners.add(features?.owner ?? '');
    const stated = new Map(
      jobs.flatMap(({ siteJobId, features }) => (features?.owner === undefined ? [] : [[siteJobId, features.owner]])),
    );
    const ours = stated.size === 0 ? [] : await ownedJobIds(db, site, [...stated.keys()]);
    for (const id of ours) own.add(stated.get(id) as string);
  }

  return {
    get read() {
      return read;
    },
    since: reading.since,
    take(siteJob) {
      read++;
      const [kept, shown] = [siteJob, withRevealedFields(siteJob)].map(({ fields }) =>
        referenceField === undefined ? undefined : fieldOf(fields, referenceField),
      );
      if (shown?.trim()) areReferenced = true;
      // Outside a search only references count; contents are not compared.
      if (!isSearch && !shown?.trim()) return;
      waiting.push({
        siteJobId: siteJob.siteJobId,
        reference: shown,
        isSecret: shown !== kept,
        features: isSearch ? featuresOfJob(siteJob.fields, rules, { types: siteJob.types }) : undefined,
        holdsSecret: siteJob.revealFields !== undefined,
        saysDeleted: statesDeletion(siteJob),
      });
    },
    async keep() {
      if (areReferenced && referenceField !== undefined) await noteShownReference(siteContext, referenceField);
      const taken = waiting;
      waiting = [];
      for (let at = 0; at < taken.length; at += KEPT_AT_ONCE) {
        const jobs = taken.slice(at, at + KEPT_AT_ONCE);
        if (isSearch) await noteOwners(jobs);
        await keepFound(db, reading, jobs, isSearch ? await contradicting(jobs) : undefined);
      }
    },
    async end() {
      if (isSearch) await markForeign(db, reading, { owners, own });
    },
  };
}
