// Decides from the status of sites and feeds what is failing and what waits for a person: one answer for status,
// /healthz and scripts.
import { type Message, plural } from '../../plan/message.ts';
import { type PersonsPause, pauseInBrief, pausesOf, tellPauses } from '../../plan/pause-words.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import { type PullHistory, RECENT_PULLS } from '../../store/pull/pull-history.ts';
import { formatTime } from '../../telemetry/times.ts';

/** What each condition means. */
export const HEALTH_CONDITIONS = {
  paused: 'nothing is sent to the site: it is paused, or paused for a running process whose token it refuses',
  moved: 'nothing is sent to the site: its jobs were made at another address',
  out_of_reach:
    'nothing is sent to the site: it has not answered four times in a row, or has only asked to wait for more than an hour',
  configuration:
    'the settings of a feed are wrong, or the configuration was changed and is wrong, so that a running process keeps the former one',
  pulls_failing:
    'the last three pulls of a feed failed; or only the last one, if the feed has no schedule or was never pulled completely',
  stale: 'no complete pull for three runs of the schedule (or `stale_after_minutes`)',
  late: 'a scheduled run is due and does not begin',
  left: 'a feed was removed from the configuration while its changes wait',
  not_sent: 'changes wait, and no process is sending',
  stalled:
    'changes have been due for ten minutes, and nothing was sent to their site meanwhile although a process is running',
  unsearched:
    'creates of a feed have waited five minutes for a search of its site for jobs that it has already, and the search fails',
  undeleted: 'the site has not deleted a job that no posting has (one that was made twice) in five tries, one a minute',
  restored:
    'under `review`: the database was restored from a backup and `recover` was not run since, or it left jobs that no posting has',
  paused_by_person: 'under `review`: a person has paused everything, a site or a feed',
  review: 'under `review`: entries wait, or the keys of a feed seem to have changed',
} as const;

/** One thing that fails or waits. */
export interface HealthCondition {
  readonly kind: keyof typeof HEALTH_CONDITIONS;
  readonly site?: SiteName;
  readonly feed?: FeedName;
  /** One sentence without a full stop. Contains nothing that a source or site said, because anybody may read it. */
  readonly message: Message;
  /** Text from sources, sites or the configuration, for readers who may see that. */
  readonly detail?: Message;
}

export interface Assessment {
  readonly failing: readonly HealthCondition[];
  readonly review: readonly HealthCondition[];
}

/** The status of a site. */
export interface SiteFacts {
  readonly site: SiteName;
  readonly paused: boolean;
  readonly pauseCause: Message | undefined;
  /** Other running processes whose token the site refuses, in words. */
  readonly refusedProcesses: readonly string[];
  /** Its jobs were created at an address other than the configured one. */
  readonly moved: boolean;
  readonly unreachableStreak: number;
  /** For an hour, it has answered every request that it asks to wait. */
  readonly onlyAsksToWait: boolean;
  readonly lastMessage: Message | undefined;
}

/** The status of a feed. */
export interface FeedFacts {
  readonly feed: FeedName;
  readonly site: SiteName;
  /** What is wrong with its settings; `undefined`: nothing. */
  readonly broken: string | undefined;
  /** `left`: it is in no configuration of this or a running process, and was not retired. */
  readonly role: 'configured' | 'left' | 'other';
  readonly history: PullHistory | undefined;
  /** A complete pull is due since this time; `undefined`: no setting says how often the feed is pulled. */
  readonly staleBefore: Date | undefined;
  readonly scheduled: boolean;
  /** How late its run is, in words; `undefined`: it is not late. */
  readonly late: Message | undefined;
  /** `ready`: changes that a process may send now or later. `unsent`: these, and those in flight or in doubt. */
  readonly ready: number;
  readonly unsent: number;
  /** Why nothing of it is created: its site cannot be searched for its jobs. */
  readonly unsearched: Message | undefined;
  /** Site jobs of no posting that the site does not delete. */
  readonly undeleted: number;
  /** Entries waiting for a person. */
  readonly review: number;
  /** Its keys seem to have changed, and its creates and deletes wait for a person. */
  readonly rekeyed: boolean;
  /** Some of its creates wait, as they may be postings that no complete pull has shown to be gone. */
  readonly twins?: boolean;
  /** What to know of jobs that were made since the backup from which the database was restored. */
  readonly restored?: Message | undefined;
}

export interface AssessOptions {
  /** Number of processes that send. */
  readonly workers: number;
  /** When this process started pulling by itself: it gets time to catch up. */
  readonly runningSince?: Date;
  /** See `stalledFeeds`. */
  readonly stalled?: ReadonlySet<FeedName>;
  /** What people have paused. What follows from that is no failure. */
  readonly pauses?: readonly PersonsPause[];
  /** Running processes that do not use the changed configuration, and why, in words. */
  readonly keptFormer?: readonly string[];
}

/** Consecutive failures after which a site is not just slow. */
export const UNREACHABLE_LIMIT = 4;

/** Failures come before waiting entries. */
export function assessHealth(
  sites: readonly SiteFacts[],
  feeds: readonly FeedFacts[],
  options: AssessOptions,
): Assessment {
  const { pauses = [] } = options;
  const stopped = new Set(sites.filter(({ paused, moved }) => paused || moved).map(({ site }) => site));
  return {
    failing: [
      ...notReloaded(options),
      ...sites.flatMap((site) => siteFailures(site, pauses)),
      ...feeds.flatMap((feed) => feedFailures(feed, stopped, options)),
    ],
    review: [...pauses.map(pausedByPerson), ...feeds.flatMap((feed) => (feed.role === 'other' ? [] : waitsOf(feed)))],
  };
}

const pausedByPerson = (pause: PersonsPause): HealthCondition => ({
  kind: 'paused_by_person',
  ...(pause.site === undefined ? {} : { site: pause.site }),
  ...(pause.feed === undefined ? {} : { feed: pause.feed }),
  message: pauseInBrief(pause, formatTime),
  detail: tellPauses([pause], formatTime),
});

function notReloaded({ keptFormer = [] }: AssessOptions): HealthCondition[] {
  if (keptFormer.length === 0) return [];
  const message = 'the configuration was changed and is wrong: the former one stays in use';
  return [{ kind: 'configuration', message, detail: keptFormer.join('; ') }];
}

export const keysSeemChanged = (feed: FeedName): string =>
  `feed ${feed}: its keys seem to have changed, and its creates and deletes wait for a person`;

function waitsOf({ feed, review, rekeyed, twins, restored }: FeedFacts): HealthCondition[] {
  const unknown: HealthCondition[] = restored === undefined ? [] : [{ kind: 'restored', feed, message: restored }];
  if (rekeyed) return [...unknown, { kind: 'review', feed, message: keysSeemChanged(feed) }];
  const alike = `feed ${feed}: new postings wait, as they may be others under new keys`;
  const unanswered: HealthCondition[] = twins === true ? [{ kind: 'review', feed, message: alike }] : [];
  if (review === 0) return [...unknown, ...unanswered];
  const wait = review === 1 ? '1 entry waits' : `${review} entries wait`;
  return [...unknown, ...unanswered, { kind: 'review', feed, message: `feed ${feed}: ${wait} for review` }];
}

function siteFailures(facts: SiteFacts, pauses: readonly PersonsPause[]): HealthCondition[] {
  const { site, paused, pauseCause, refusedProcesses, moved, unreachableStreak, onlyAsksToWait, lastMessage } = facts;
  if (moved) return [{ kind: 'moved', site, message: `site ${site}: its jobs were created at another address` }];
  if (paused) return [{ kind: 'paused', site, message: `site ${site} is paused`, ...detailOf(pauseCause) }];
  if (refusedProcesses.length > 0) {
    const who = refusedProcesses.length === 1 ? 'a process' : `${refusedProcesses.length} processes`;
    const detail = `restart with the new token: ${refusedProcesses.join(', ')}`;
    return [{ kind: 'paused', site, message: `site ${site} is paused for ${who} whose token it refuses`, detail }];
  }
  // Nobody asks it meanwhile.
  if (pausesOf(pauses, { site }).length > 0) return [];
  if (unreachableStreak < UNREACHABLE_LIMIT) {
    const asks = `site ${site} has accepted nothing for more than an hour: it asks to wait, again and again`;
    return onlyAsksToWait ? [{ kind: 'out_of_reach', site, message: asks }] : [];
  }
  const message = `site ${site} did not answer ${plural(unreachableStreak, 'time')} in a row`;
  return [{ kind: 'out_of_reach', site, message, ...detailOf(lastMessage) }];
}

function feedFailures(facts: FeedFacts, stopped: ReadonlySet<SiteName>, options: AssessOptions): HealthCondition[] {
  const { feed, site, role, ready, unsent, late } = facts;
  if (role === 'other') return [];
  if (role === 'left') {
    if (unsent === 0) return [];
    const message = `feed ${feed} is no longer in any configuration, but ${unsent === 1 ? '1 of its changes is' : `${unsent} of its changes are`} still unsent`;
    return [{ kind: 'left', feed, message }];
  }
  const pauses = pausesOf(options.pauses ?? [], { site, feed });
  const isSent = pauses.length === 0 && !stopped.has(site);
  const isPulled = pauses.every(({ stopsPulls }) => !stopsPulls);
  const conditions: HealthCondition[] = [];
  if (facts.broken !== undefined) {
    conditions.push({
      kind: 'configuration',
      feed,
      message: `feed ${feed}: its configuration is wrong`,
      detail: facts.broken,
    });
  }
  const failing = isPulled ? failingPulls(facts) : undefined;
  if (failing !== undefined) conditions.push(failing);
  const stale = isPulled ? stalePulls(facts, options) : undefined;
  if (stale !== undefined) conditions.push(stale);
  // A feed that cannot be pulled is not reported as late too.
  if (late !== undefined && facts.broken === undefined && isPulled)
    conditions.push({ kind: 'late', feed, message: late });
  if (facts.unsearched !== undefined && isSent) {
    const message = `feed ${feed}: no new jobs are created, as its site cannot be searched for jobs that it has already`;
    conditions.push({ kind: 'unsearched', feed, message, ...detailOf(facts.unsearched) });
  }
  if (facts.undeleted > 0 && isSent) {
    const jobs = plural(facts.undeleted, 'job');
    const message = `feed ${feed}: the site does not delete ${jobs} that no posting has: delete ${facts.undeleted === 1 ? 'it' : 'them'} there`;
    conditions.push({ kind: 'undeleted', feed, message });
  }
  if (ready > 0 && options.workers === 0 && isSent) {
    const wait = ready === 1 ? '1 change waits' : `${ready} changes wait`;
    conditions.push({ kind: 'not_sent', feed, message: `feed ${feed}: ${wait} to be sent, but no process is sending` });
  }
  if (options.stalled?.has(feed) === true && options.workers > 0 && isSent) {
    const message = `feed ${feed}: changes are due, but nothing is sent to site ${site}: see whether its processes reach the queue, and their log`;
    conditions.push({ kind: 'stalled', feed, message });
  }
  return conditions;
}

/** A single failure of a scheduled feed may pass; for a feed pulled by hand, only the last pull counts. */
function failingPulls({ feed, history, scheduled }: FeedFacts): HealthCondition | undefined {
  if (history?.failure === undefined) return undefined;
  const { recent, failure: detail, lastComplete } = history;
  const all = recent.every((status) => status === 'failed');
  const message = all && recent.length > 1 ? `its last ${recent.length} pulls failed` : 'its last pull failed';
  const enough = (all && recent.length === RECENT_PULLS) || lastComplete === undefined || !scheduled;
  return enough ? { kind: 'pulls_failing', feed, message: `feed ${feed}: ${message}`, detail } : undefined;
}

function stalePulls(
  { feed, history, staleBefore }: FeedFacts,
  { runningSince }: AssessOptions,
): HealthCondition | undefined {
  if (staleBefore === undefined) return undefined;
  const complete = history?.lastComplete?.at;
  if (Math.max(complete?.getTime() ?? 0, runningSince?.getTime() ?? 0) >= staleBefore.getTime()) return undefined;
  const message =
    complete !== undefined
      ? `its last complete pull was at ${formatTime(complete)}, and must not be older than ${formatTime(staleBefore)}`
      : history?.lastRunAt === undefined
        ? 'it was never pulled'
        : 'no pull of it was ever complete';
  return { kind: 'stale', feed, message: `feed ${feed}: ${message}` };
}

const detailOf = (detail: Message | undefined): { detail?: Message } => (detail === undefined ? {} : { detail });
