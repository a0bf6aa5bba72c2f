// Collects the facts for the health check: sites, feeds and their latest pulls, with one statement per kind, however
// many there are.
import { type Config, type FeedConfig, namedFeeds } from '../config/config.ts';
import { complaintLine } from '../config/config-error.ts';
import { siteName } from '../posting/identifiers.ts';
import { type Assessment, assessHealth, type FeedFacts, type SiteFacts } from '../review/health/assess-health.ts';
import { addressOf } from '../site/http/job-address.ts';
import { unsearchedFeeds } from '../store/change/site-search.ts';
import type { ScheduleState } from '../store/feed/feed-schedule.ts';
import { unconfiguredFeeds } from '../store/feed/unconfigured-feeds.ts';
import { listPauses } from '../store/locks/pauses.ts';
import type { LiveProcess } from '../store/locks/processes.ts';
import { type PullHistory, readPullHistories } from '../store/pull/pull-history.ts';
import { findMove, type SiteMove } from '../store/site/known-address.ts';
import { undeletedOrphans } from '../store/site/orphan-site-jobs.ts';
import { onlyAsksToWait } from '../store/site/recent-requests.ts';
import { readSiteState, type SiteState, stateAt } from '../store/site/site-state.ts';
import { stalledFeeds } from '../store/status/feed-overview.ts';
import type { App } from './app.ts';
import { tokenDigests } from './open-site-client.ts';
import { keptFormer, nameOfProcess } from './reload.ts';
import { describeLate, isLate, latestDueTime } from './schedule/next-run.ts';

/** A feed is stale after this many scheduled runs without a complete pull, but not before this time. */
const MISSED_RUNS = 3;
const SHORTEST_STALE_MS = 60_000;

/** The status of a feed, apart from its configuration. */
export interface FeedHealth extends Omit<FeedFacts, 'broken' | 'staleBefore' | 'scheduled' | 'late'> {
  readonly schedule: ScheduleState | undefined;
}

export function feedFacts(config: Config, progress: FeedHealth, runningSince?: Date): FeedFacts {
  const { schedule, ...facts } = progress;
  const settings = config.feeds.get(facts.feed);
  return {
    ...facts,
    broken: config.brokenFeeds.get(facts.feed)?.complaints.map(complaintLine).join('; '),
    staleBefore:
      settings === undefined ? undefined : latestCompleteDeadline(settings, facts.history, runningSince, new Date()),
    scheduled: settings?.schedule !== undefined,
    late: schedule !== undefined && isLate(schedule) ? describeLate(schedule) : undefined,
  };
}

/**
 * The last complete pull must not be older than this; `undefined`: no setting says how often there is one, or it is
 * recent anyway.
 */
export function latestCompleteDeadline(
  { schedule, timeZone, staleAfterMs }: Pick<FeedConfig, 'schedule' | 'timeZone' | 'staleAfterMs'>,
  history: Pick<PullHistory, 'lastComplete'> | undefined,
  runningSince: Date | undefined,
  now: Date,
): Date | undefined {
  if (staleAfterMs !== undefined) return new Date(now.getTime() - staleAfterMs);
  if (schedule === undefined) return undefined;
  const least = new Date(now.getTime() - SHORTEST_STALE_MS);
  // Parsing a cron expression costs more than everything else here, and there may be a thousand.
  if (Math.max(history?.lastComplete?.at.getTime() ?? 0, runningSince?.getTime() ?? 0) >= least.getTime())
    return undefined;
  const due = latestDueTime({ pattern: schedule, timeZone }, now, MISSED_RUNS);
  return due < least ? due : least;
}

/** @param refused other running processes whose token the site refuses. */
export const siteFacts = (
  state: SiteState,
  move: SiteMove | undefined,
  asksToWait: boolean,
  refused: readonly LiveProcess[] = [],
): SiteFacts => ({
  site: state.site,
  paused: state.pausedSince !== undefined,
  pauseCause: state.pauseCause,
  refusedProcesses: refused.map(nameOfProcess),
  moved: move !== undefined,
  unreachableStreak: state.unreachableStreak,
  onlyAsksToWait: asksToWait,
  lastMessage: state.lastMessage,
});

/**
 * The failures that a running `start` sees. Entries waiting for review are not counted: a backlog may be large.
 * @param runningSince `undefined`: feeds get no time to catch up after a start
 */
export async function assessRunning(
  { config, db }: App,
  schedules: readonly ScheduleState[],
  workers: number,
  runningSince: Date | undefined,
): Promise<Assessment> {
  const sites: SiteFacts[] = [];
  const tokens = await tokenDigests(db, config);
  for (const { name, options } of config.sites.values()) {
    const address = addressOf(options);
    const state = stateAt(address, await readSiteState(db, name, tokens.get(name)));
    sites.push(siteFacts(state, await findMove(db, name, address), await onlyAsksToWait(db, name)));
  }
  const histories = await readPullHistories(db, [...config.feeds.keys()]);
  const byFeed = new Map(schedules.map((schedule) => [schedule.feed, schedule]));
  const unsearched = await unsearchedFeeds(db);
  const undeleted = await undeletedOrphans(db);
  const nothing = { ready: 0, unsent: 0, unsearched: undefined, undeleted: 0, review: 0, rekeyed: false };
  const own = [...config.feeds.values()].map(({ name, siteName: site }): FeedHealth => {
    return {
      ...nothing,
      unsearched: unsearched.get(name),
      undeleted: undeleted.get(name) ?? 0,
      feed: name,
      site,
      role: 'configured',
      history: histories.get(name),
      schedule: byFeed.get(name),
    };
  });
  const broken = [...config.brokenFeeds].map(([feed, { siteName: site = siteName('-') }]): FeedHealth => {
    return { ...nothing, feed, site, role: 'configured', history: undefined, schedule: undefined };
  });
  const left = (await unconfiguredFeeds(db, namedFeeds(config))).map(({ feed, site, unsent }): FeedHealth => {
    return { ...nothing, unsent, feed, site, role: 'left', history: undefined, schedule: undefined };
  });
  const facts = [...own, ...broken, ...left].map((progress) => feedFacts(config, progress, runningSince));
  const pauses = await listPauses(db);
  const stalled = await stalledFeeds(db);
  return assessHealth(sites, facts, { workers, runningSince, pauses, stalled, keptFormer: await keptFormer(db) });
}
