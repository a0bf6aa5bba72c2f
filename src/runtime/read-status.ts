// Collects the status of all sites and feeds, and assesses it.
import type { Config, FeedConfig } from '../config/config.ts';
import type { Message } from '../plan/message.ts';
import { type FeedName, siteName } from '../posting/identifiers.ts';
import { type Assessment, assessHealth } from '../review/assess-health.ts';
import { escalates } from '../review/escalation.ts';
import { readHeldOffers } from '../review/held-offer.ts';
import type { FeedStatus } from '../review/read-model/feed.ts';
import type { AroundSites, SiteOverview } from '../review/read-model/site.ts';
import { addressOf } from '../site/base-address.ts';
import { restoredNotes } from '../store/backup/after-restore.ts';
import { readSchedules } from '../store/feed/feed-schedule.ts';
import { lastVerifies } from '../store/feed/feed-verify.ts';
import { countWorkers, type LiveProcess, liveProcesses, tokenPart } from '../store/locks/processes.ts';
import { readPullHistories } from '../store/pull/pull-history.ts';
import { foldReviewCounts } from '../store/review/review-totals.ts';
import { describeReference, referenceState } from '../store/site/kept-values.ts';
import { findMove } from '../store/site/known-address.ts';
import { countOrphans } from '../store/site/orphan-site-jobs.ts';
import { onlyAsksToWait } from '../store/site/recent-requests.ts';
import { refusedTokens } from '../store/site/refused-token.ts';
import { readSiteState, stateAt } from '../store/site/site-state.ts';
import { type FeedOverview, readOverview } from '../store/status/feed-overview.ts';
import { concludeAbandonedPulls } from '../store/status/pull-summary.ts';
import type { App } from './app.ts';
import { describeDifferences, differencesOf } from './configurations.ts';
import { feedFacts, siteFacts } from './read-health.ts';
import { nextRun } from './schedule/next-run.ts';
import { tokenDigests } from './token-digests.ts';

export interface Status {
  /** Number of processes that send. */
  readonly workers: number;
  /** How the configurations of running processes differ; `undefined`: they do not. */
  readonly differences: string | undefined;
  readonly sites: readonly SiteOverview[];
  /** Escalated feeds come first. */
  readonly feeds: readonly FeedStatus[];
  readonly assessment: Assessment;
}

/** @param only reads the status of this feed alone */
export async function readStatus(app: App, only?: FeedName): Promise<Status> {
  await concludeAbandonedPulls(app.db, only);
  const workers = await countWorkers(app.db);
  const processes = await liveProcesses(app.db);
  const sites = await readSites(app, processes);
  const differences = describeDifferences(differencesOf(processes));
  const feeds = await readFeeds(app, processes, only);
  return { workers, differences, sites, feeds, assessment: assess(app.config, sites, feeds, workers) };
}

/** The status of the sites alone, which does not depend on how many postings there are. */
export async function readSiteStatus(app: App): Promise<{ readonly sites: readonly SiteOverview[] } & AroundSites> {
  const workers = await countWorkers(app.db);
  const processes = await liveProcesses(app.db);
  const sites = await readSites(app, processes);
  const { failing } = assess(app.config, sites, [], workers);
  return { sites, workers, differences: describeDifferences(differencesOf(processes)), failing };
}

function assess(
  config: Config,
  sites: readonly SiteOverview[],
  feeds: readonly FeedStatus[],
  workers: number,
): Assessment {
  const facts = feeds.map((feed) => {
    const role = feed.configured ? 'configured' : feed.retired || feed.served ? 'other' : 'left';
    const unsent = feed.ready + feed.sending + feed.in_doubt;
    const review = feed.in_doubt + feed.held + feed.rejected + feed.failed + feed.unreadable + feed.duplicates;
    const twins = feed.rekey !== undefined && !feed.rekeyAll;
    return feedFacts(config, { ...feed, role, unsent, review, rekeyed: feed.rekeyAll, twins });
  });
  return assessHealth(
    sites.map(({ state, move, asksToWait, refusedProcesses }) => siteFacts(state, move, asksToWait, refusedProcesses)),
    facts,
    { workers },
  );
}

async function readSites({ db, config }: App, processes: readonly LiveProcess[]): Promise<SiteOverview[]> {
  const sites: SiteOverview[] = [];
  const tokens = await tokenDigests(db, config);
  for (const { name, options } of config.sites.values()) {
    const otherRefused = (await refusedTokens(db, name)).filter(({ digest }) => digest !== tokens.get(name));
    const address = addressOf(options);
    const field = options.referenceField;
    const references = field === undefined ? undefined : await referenceState(db, { site: name, address, field });
    sites.push({
      references,
      referenceNote: field === undefined || references === undefined ? undefined : describeReference(field, references),
      state: stateAt(address, await readSiteState(db, name, tokens.get(name))),
      otherRefused,
      refusedProcesses: processes.filter(({ parts }) =>
        otherRefused.some(({ digest }) => digest === parts[tokenPart(name)]),
      ),
      orphans: await countOrphans(db, name),
      move: await findMove(db, name, address),
      asksToWait: await onlyAsksToWait(db, name),
    });
  }
  return sites;
}

/** Shown if a broken feed names no site, and the database has none for it. */
const UNKNOWN_SITE = siteName('-');

/** Escalated feeds come first. */
async function readFeeds(
  { db, config }: App,
  processes: readonly LiveProcess[],
  only: FeedName | undefined,
): Promise<FeedStatus[]> {
  const schedules = new Map((await readSchedules(db)).map((schedule) => [schedule.feed, schedule]));
  const broken = [...config.brokenFeeds].map(([feed, { siteName: site }]) => [feed, site ?? UNKNOWN_SITE] as const);
  const configured = new Map([
    ...[...config.feeds.values()].map((feed) => [feed.name, feed.siteName] as const),
    ...broken,
  ]);
  await foldReviewCounts(db);
  const overviews = await readOverview(db, configured, only);
  const histories = await readPullHistories(
    db,
    overviews.map(({ feed }) => feed),
  );
  const verifies = await lastVerifies(db);
  const heldOffers = await readHeldOffers(db, config);
  const restored = await notesOnRestore({ db, config });
  const now = new Date();
  const feeds = overviews.map((feed) => ({
    ...feed,
    history: histories.get(feed.feed),
    nextRun: schedules.get(feed.feed)?.nextAt ?? nextOf(config.feeds.get(feed.feed), now),
    configured: configured.has(feed.feed),
    served: processes.some(({ parts }) => parts[`feed ${feed.feed}`] !== undefined),
    schedule: schedules.get(feed.feed),
    verified: verifies.get(feed.feed),
    restored: restored.get(feed.feed),
    heldOffer: heldOffers.get(feed.feed),
    escalated: hasEscalated(feed, config),
  }));
  return feeds.sort((a, b) => Number(b.escalated) - Number(a.escalated));
}

/** What to know of jobs that were made since the backup that the database was restored from: of feeds whose sites can be read. */
export const notesOnRestore = ({ db, config }: Pick<App, 'db' | 'config'>): Promise<ReadonlyMap<FeedName, Message>> =>
  restoredNotes(
    db,
    [...config.feeds.values()].flatMap(({ name, siteName: site }) =>
      config.sites.get(site)?.options.listPath === undefined ? [] : name,
    ),
  );

/** The next run of a feed's schedule, if no process has recorded one. */
const nextOf = (feed: FeedConfig | undefined, now: Date): Date | undefined =>
  feed?.schedule === undefined ? undefined : nextRun({ pattern: feed.schedule, timeZone: feed.timeZone }, now);

function hasEscalated({ site, heldForMs, inDoubtForMs }: FeedOverview, config: Config): boolean {
  const held = heldForMs !== undefined && escalates({ kind: 'held', site, ageMs: heldForMs }, config);
  return held || (inDoubtForMs !== undefined && escalates({ kind: 'in_doubt', site, ageMs: inDoubtForMs }, config));
}
