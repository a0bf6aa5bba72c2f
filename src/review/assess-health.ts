// Judges from how sites and feeds stand what fails, and what waits for a person: one answer for status, /healthz and scripts.
import { plural } from '../plan/plural.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { PullHistory } from '../store/pull/pull-history.ts';
import { RECENT_PULLS } from '../store/pull/pull-history.ts';

/** One thing that fails or waits. */
export interface Condition {
  readonly kind:
    | 'paused'
    | 'moved'
    | 'out_of_reach'
    | 'configuration'
    | 'pulls_failing'
    | 'stale'
    | 'late'
    | 'left'
    | 'not_sent'
    | 'review';
  readonly site?: SiteName;
  readonly feed?: FeedName;
  /** One sentence without a full stop, with nothing in it that a source or site has said: anybody may read it. */
  readonly message: string;
  /** What was said by others, or stands in the configuration: for those who may see that. */
  readonly detail?: string;
}

export interface Assessment {
  readonly failing: readonly Condition[];
  readonly review: readonly Condition[];
}

/** How a site stands. */
export interface SiteFacts {
  readonly site: SiteName;
  readonly paused: boolean;
  readonly pauseCause: string | undefined;
  /** Running processes whose token it refuses, besides the one that asks, for people. */
  readonly refusedProcesses: readonly string[];
  /** Its jobs were made at another address than the configured one. */
  readonly moved: boolean;
  readonly unreachableStreak: number;
  readonly lastMessage: string | undefined;
}

/** How a feed stands. */
export interface FeedFacts {
  readonly feed: FeedName;
  readonly site: SiteName;
  /** Its settings are wrong: what is wrong. */
  readonly broken: string | undefined;
  /** `left`: neither the configuration nor a running process knows it, and nobody has retired it. */
  readonly role: 'configured' | 'left' | 'other';
  readonly history: PullHistory | undefined;
  /** Since when there should have been a complete pull; `undefined`: nothing says how often it is pulled. */
  readonly staleBefore: Date | undefined;
  readonly scheduled: boolean;
  /** How late its run is, for people; `undefined`: it is not. */
  readonly late: string | undefined;
  /** Changes that may be sent now or later, and those that are being sent or in doubt. */
  readonly ready: number;
  readonly unsent: number;
  /** Entries that wait for a person. */
  readonly review: number;
}

export interface AssessOptions {
  /** Processes that send. */
  readonly workers: number;
  /** Since when the asking process pulls by itself: it is given time to catch up. */
  readonly runningSince?: Date;
}

/** Failed tries in a row after which a site is not just slow. */
const UNREACHABLE_LIMIT = 4;

/** What fails first. */
export function assessHealth(
  sites: readonly SiteFacts[],
  feeds: readonly FeedFacts[],
  options: AssessOptions,
): Assessment {
  const stopped = new Set(sites.filter(({ paused, moved }) => paused || moved).map(({ site }) => site));
  return {
    failing: [...sites.flatMap(siteFailures), ...feeds.flatMap((feed) => feedFailures(feed, stopped, options))],
    review: feeds.flatMap(({ feed, role, review }): Condition[] => {
      if (review === 0 || role === 'other') return [];
      const wait = review === 1 ? '1 entry waits' : `${review} entries wait`;
      return [{ kind: 'review', feed, message: `feed ${feed}: ${wait} for review` }];
    }),
  };
}

function siteFailures(facts: SiteFacts): Condition[] {
  const { site, paused, pauseCause, refusedProcesses, moved, unreachableStreak, lastMessage } = facts;
  if (moved) return [{ kind: 'moved', site, message: `site ${site}: its jobs were made at another address` }];
  if (paused) return [{ kind: 'paused', site, message: `site ${site} is paused`, ...detailOf(pauseCause) }];
  if (refusedProcesses.length > 0) {
    const who = refusedProcesses.length === 1 ? 'a process that has' : `${refusedProcesses.length} processes that have`;
    const detail = `start anew with the new token: ${refusedProcesses.join(', ')}`;
    return [{ kind: 'paused', site, message: `site ${site} is paused for ${who} a token which it refuses`, detail }];
  }
  if (unreachableStreak < UNREACHABLE_LIMIT) return [];
  const message = `site ${site} did not answer ${plural(unreachableStreak, 'time')} in a row`;
  return [{ kind: 'out_of_reach', site, message, ...detailOf(lastMessage) }];
}

function feedFailures(facts: FeedFacts, stopped: ReadonlySet<SiteName>, options: AssessOptions): Condition[] {
  const { feed, site, role, ready, unsent, late } = facts;
  if (role === 'other') return [];
  if (role === 'left') {
    if (unsent === 0) return [];
    const message = `feed ${feed} is no longer in any configuration, and ${plural(unsent, 'change')} of it ${unsent === 1 ? 'is' : 'are'} not sent`;
    return [{ kind: 'left', feed, message }];
  }
  const conditions: Condition[] = [];
  if (facts.broken !== undefined) {
    conditions.push({
      kind: 'configuration',
      feed,
      message: `feed ${feed}: its configuration is wrong`,
      detail: facts.broken,
    });
  }
  const failing = failingPulls(facts);
  if (failing !== undefined) conditions.push(failing);
  const stale = stalePulls(facts, options);
  if (stale !== undefined) conditions.push(stale);
  // A feed that can't be pulled is not also late.
  if (late !== undefined && facts.broken === undefined) conditions.push({ kind: 'late', feed, message: late });
  if (ready > 0 && options.workers === 0 && !stopped.has(site)) {
    const wait = ready === 1 ? '1 change waits' : `${ready} changes wait`;
    conditions.push({ kind: 'not_sent', feed, message: `feed ${feed}: ${wait} to be sent, and no process is sending` });
  }
  return conditions;
}

/** One failure of a scheduled feed may pass; of a feed that is pulled by hand the last pull is all that there is. */
function failingPulls({ feed, history, scheduled }: FeedFacts): Condition | undefined {
  if (history?.failure === undefined) return undefined;
  const { recent, failure: detail, lastComplete } = history;
  const all = recent.every((status) => status === 'failed');
  const message = all && recent.length > 1 ? `its last ${recent.length} pulls failed` : 'its last pull failed';
  const enough = (all && recent.length === RECENT_PULLS) || lastComplete === undefined || !scheduled;
  return enough ? { kind: 'pulls_failing', feed, message: `feed ${feed}: ${message}`, detail } : undefined;
}

function stalePulls({ feed, history, staleBefore }: FeedFacts, { runningSince }: AssessOptions): Condition | undefined {
  if (staleBefore === undefined) return undefined;
  const complete = history?.lastComplete?.at;
  if (Math.max(complete?.getTime() ?? 0, runningSince?.getTime() ?? 0) >= staleBefore.getTime()) return undefined;
  const message =
    complete !== undefined
      ? `its last complete pull was at ${complete.toISOString()}, before ${staleBefore.toISOString()}`
      : history?.lastRunAt === undefined
        ? 'it was never pulled'
        : 'no pull of it was ever complete';
  return { kind: 'stale', feed, message: `feed ${feed}: ${message}` };
}

const detailOf = (detail: string | undefined): { detail?: string } => (detail === undefined ? {} : { detail });
