// The status of sites and feeds: read once, and described once for the command line, the API and the pages.
import { z } from 'zod';
import { describeMove } from '../apply/confirm-address.ts';
import type { Config, FeedConfig } from '../config/config.ts';
import { shareReading } from '../flow/share-reading.ts';
import { actionsOf, type Message, type Notice, noticeOf, type WriteAction } from '../plan/message.ts';
import { type PersonsPause, pausesOf } from '../plan/pause-words.ts';
import { type FeedName, type SiteName, siteName } from '../posting/identifiers.ts';
import { needsAnotherAlert } from '../review/health/alert-conditions.ts';
import {
  type Assessment,
  type AssessOptions,
  assessHealth,
  HEALTH_CONDITIONS,
  type HealthCondition,
} from '../review/health/assess-health.ts';
import { adviceOnHeld, readHeldOffers } from '../review/held-offer.ts';
import type { App } from '../runtime/app.ts';
import { describeLeft } from '../runtime/feed-setups.ts';
import { tokenDigests } from '../runtime/open-site-client.ts';
import { feedFacts, siteFacts } from '../runtime/read-health.ts';
import { describeDifferences, differencesOf, keptFormer } from '../runtime/reload.ts';
import { describeLate, isLate, nextRun } from '../runtime/schedule/next-run.ts';
import { addressOf } from '../site/http/job-address.ts';
import { restoredNotes } from '../store/backup/restore-backup.ts';
import { readSchedules, type ScheduleState } from '../store/feed/feed-schedule.ts';
import { stoppedFeeds } from '../store/feed/feed-state.ts';
import { lastVerifies } from '../store/feed/feed-verify.ts';
import { listPauses } from '../store/locks/pauses.ts';
import { countWorkers, type LiveProcess, liveProcesses, tokenPart } from '../store/locks/processes.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { type PullHistory, readPullHistories } from '../store/pull/pull-history.ts';
import { foldReviewCounts } from '../store/review/review-totals.ts';
import { describeReference, REFERENCE_STATES, referenceState } from '../store/site/kept-values.ts';
import { findMove, type SiteMove } from '../store/site/known-address.ts';
import { countOrphans } from '../store/site/orphan-site-jobs.ts';
import { onlyAsksToWait } from '../store/site/recent-requests.ts';
import { type RefusedToken, refusedTokens } from '../store/site/refused-token.ts';
import { readSiteState, type SiteState, stateAt } from '../store/site/site-state.ts';
import { type FeedOverview, readOverview, stalledFeeds } from '../store/status/feed-overview.ts';
import { concludeAbandonedPulls } from '../store/status/pull-summary.ts';
import { namedFeed, OperationRefused, operation } from './operation.ts';
import { pauseOutput, shownPause } from './pauses.ts';
import { pullOf, uncountedPullOutput } from './pulls.ts';
import {
  actionOutput,
  answerOf,
  count,
  feedNameOutput,
  feedNameText,
  noticeOutput,
  siteNameOutput,
  time,
  wholeList,
} from './scalars.ts';

const seconds = count.nullable();

const siteOutput = z
  .strictObject({
    kind: z.literal('site'),
    site: siteNameOutput.describe('Name of the site.'),
    state: z
      .enum(['sending', 'paused', 'stopped', 'out_of_reach', 'waiting'])
      .describe(
        '`paused`: until the site answers a probe or a person resumes it; `stopped`: only a person has paused it; `waiting`: it asks for that; `out_of_reach` ends by itself, too.',
      ),
    pauses: z.array(pauseOutput).describe('What people have paused: this site or everything.'),
    paused_since: time.nullable().describe('Since when it is paused.'),
    pause_cause: noticeOutput.nullable().describe('Why it is paused.'),
    next_probe: time.nullable().describe('When a request tries whether the pause is over.'),
    probes: count.describe('How many have tried it so far.'),
    waits_until: time.nullable().describe('Until when nothing is sent: the site asks to wait, or was out of reach.'),
    learnt_requests_per_second: z
      .number()
      .nullable()
      .describe('The rate that the site accepts, if it is lower than the configured one.'),
    token_refused: z.boolean().describe('The site refuses the token of this configuration.'),
    other_refused_tokens: z
      .array(z.strictObject({ since: time, noted_by: z.string() }))
      .describe('Tokens of other processes that it refuses, as `noted_by` has noticed.'),
    unreachable_streak: count.describe('How many times in a row it has not answered.'),
    last_message: noticeOutput.nullable().describe('What its last failure said.'),
    address: z.string().nullable().describe('The address where its jobs were made.'),
    moved_to: z.string().nullable().describe('The configured address, if that is another one.'),
    moved: noticeOutput.nullable().describe('Why nothing is sent then, and what to do.'),
    orphans: count.describe('Jobs of ours that no posting has, still to be deleted.'),
    references: z
      .enum(REFERENCE_STATES)
      .nullable()
      .describe('Whether its jobs show `reference_field`; `null`: none is configured.'),
    references_note: noticeOutput.nullable().describe('What to know of that.'),
    workers: count.describe('Processes that send.'),
    configurations_differ: z.string().nullable().describe('How the configurations of running processes differ.'),
    failing: z.array(noticeOutput).describe('What fails.'),
    actions: z.array(actionOutput).describe('What can be done about it.'),
  })
  .meta({ title: 'Site' });

export type SiteStatus = z.output<typeof siteOutput>;

const verifyOutput = z.strictObject({
  at: time,
  jobs: count,
  same: count,
  changed: count,
  gone: count,
  foreign: count,
  untold: count,
  marked: count,
  left: count,
  message: z.string().optional(),
});

const feedOutput = z
  .strictObject({
    kind: z.literal('feed'),
    feed: feedNameOutput.describe('Name of the feed.'),
    site: siteNameOutput.describe('Name of its site.'),
    configured: z.boolean().describe('The configuration has the feed.'),
    served: z.boolean().describe('A running process has it in its configuration.'),
    retired: z.boolean().describe('A person took it out of service.'),
    stopped: z
      .strictObject({ undo: count, undone: count.nullable(), since: time })
      .nullable()
      .describe('Since when, and by the undo of which pull, it is not pulled.'),
    pauses: z
      .array(pauseOutput)
      .describe('What people have paused, so that it is not sent: everything, its site or the feed.'),
    escalated: z.boolean().describe('Held changes or creates in doubt have waited for too long.'),
    live: count.describe('Jobs on the site.'),
    ready: count.describe('Changes that may be sent now or later.'),
    sending: count.describe('Changes in flight.'),
    in_doubt: count.describe('Creates of unknown outcome.'),
    held: count.describe('Changes that wait for approval.'),
    rejected: count.describe('Postings that were rejected.'),
    failed: count.describe('Changes that were given up.'),
    unreadable: count.describe('Entries of unreadable records.'),
    duplicates: count.describe('Entries of repeated keys.'),
    discarded: count.describe('Entries that a person has discarded, so the site differs from the feed.'),
    hold_reason: noticeOutput.nullable().describe('Why deletes are held.'),
    held_advice: z
      .strictObject({ words: z.string().optional(), action: actionOutput.optional() })
      .nullable()
      .describe('What to do about the held deletes.'),
    rekey: noticeOutput.nullable().describe('Why creates and deletes wait if the keys seem to have changed.'),
    restored: noticeOutput
      .nullable()
      .describe('What to know of jobs made since the backup from which the database was restored.'),
    search: noticeOutput
      .nullable()
      .describe('How the search of the site for jobs of the feed stands; nothing is created before it ends.'),
    left: noticeOutput.nullable().describe('What becomes of its jobs and changes, as no configuration has the feed.'),
    held_for_seconds: seconds.describe('For how long the oldest held change has waited.'),
    in_doubt_for_seconds: seconds.describe('For how long the oldest create has been in doubt.'),
    schedule: z.string().nullable().describe('The schedule, as running processes have it.'),
    time_zone: z.string().nullable().describe('Its time zone.'),
    schedule_processes: count.describe('Live `start` processes that run the schedule: without one, nobody does.'),
    next_run: time.nullable().describe('When it is pulled next.'),
    last_run: time.nullable().describe('When it was last pulled.'),
    last_complete: time.nullable().describe('When the last complete pull ended.'),
    late_seconds: seconds.describe('How late its run is.'),
    late: noticeOutput.nullable().describe('Why its run does not begin, if that is too late.'),
    last_verify: verifyOutput.nullable().describe('What the last run of `verify` found.'),
    warnings: z.array(z.string()).describe('Likely mistakes of the mapping.'),
    failing: z.array(noticeOutput).describe('What fails.'),
    actions: z.array(actionOutput).describe('What can be done about it.'),
    last_pull: uncountedPullOutput
      .nullable()
      .describe('The last pull, as `pulls` prints it, without `created`, `updated`, `deleted` and `requests`.'),
  })
  .meta({ title: 'Feed' });

export type FeedStatus = z.output<typeof feedOutput>;

type ConditionKind = HealthCondition['kind'];

const conditionOutput = z.strictObject({
  condition: z.enum(Object.keys(HEALTH_CONDITIONS) as [ConditionKind, ...ConditionKind[]]),
  site: siteNameOutput.nullable(),
  feed: feedNameOutput.nullable(),
  message: noticeOutput,
  detail: noticeOutput.nullable(),
});

export type ReportedCondition = z.output<typeof conditionOutput>;

const conditions = z.array(conditionOutput);

const checkOutput = z.strictObject({
  kind: z.literal('check'),
  status: z.enum(['well', 'failing', 'review']).describe('`review`: nothing fails, but something needs a person.'),
  failing: conditions.describe('What fails: `[{"condition","site","feed","message","detail"}]`.'),
  review: conditions.describe('What needs a person, in the same form.'),
});

const ofFeed = z.strictObject({ feed: feedNameText });

export const listFeeds = operation({
  id: 'listFeeds',
  path: '/feeds',
  summary: 'All feeds with their status',
  scope: 'read',
  input: z.strictObject({}),
  output: wholeList(feedOutput),
  run: async (_input, { app }) => ({ items: (await readStatus(app)).feeds, next_cursor: null }),
});

export const showFeed = operation({
  id: 'showFeed',
  path: '/feeds/{feed}',
  summary: 'The status of one feed',
  scope: 'read',
  input: ofFeed,
  output: feedOutput,
  run: async ({ feed }, { app }) => (await readFeedStatus(app, feed)).feed,
});

export const listSites = operation({
  id: 'listSites',
  path: '/sites',
  summary: 'All sites: whether they are sent to, and why not',
  scope: 'read',
  input: z.strictObject({}),
  output: wholeList(siteOutput),
  run: async (_input, { app }) => ({ items: (await readSiteStatus(app)).sites, next_cursor: null }),
});

const statusOutput = z
  .strictObject({
    sites: z.array(siteOutput).describe('One object per site:'),
    feeds: z.array(feedOutput).describe('One object per feed, those first that have waited for too long:'),
    check: checkOutput.describe('With `--check`, the last object:'),
    pauses: z.array(pauseOutput).describe('What people have paused.'),
    workers: count.describe('Processes that send.'),
    differences: z.string().nullable().describe('How the configurations of running processes differ.'),
  })
  .meta({ title: 'Status' });

export type Status = z.output<typeof statusOutput>;

export const showStatus = operation({
  id: 'showStatus',
  path: '/status',
  summary: 'The status of each site and feed, and what fails or needs review',
  scope: 'read',
  input: z.strictObject({}),
  output: statusOutput,
  run: (_input, { app }) => readStatus(app),
});

type Reading = Pick<App, 'db' | 'config' | 'writeAction'>;

interface StatusReading {
  readonly db: Queryable;
  readonly config: Config;
}

/** @param only reads the status of this feed alone */
export async function readStatus(app: Reading, only?: FeedName): Promise<Status> {
  const { config, writeAction: write } = app;
  const { workers, differences, pauses, kept, stalled, sites, feeds } = await shareReading(
    config,
    `status ${only ?? ''}`,
    () => readFacts(app, only),
  );
  const assessment = assess(config, sites, feeds, { workers, pauses, stalled, keptFormer: kept });
  return {
    workers,
    differences,
    pauses: pauses.map((pause) => shownPause(pause, write)),
    sites: sites.map((site) => siteStatus(site, { workers, differences, failing: assessment.failing, pauses }, write)),
    feeds: feeds.map((feed) => feedStatus(feed, assessment.failing, pauses, write)),
    check: checked(assessment, write),
  };
}

// What does not depend on each other is read side by side: a busy process waits longer for each answer than the database takes for it.

async function readFacts({ db, config }: Reading, only: FeedName | undefined) {
  const facts = readFactsOfSites({ db, config });
  const [ofSites, kept, stalled, feeds] = await Promise.all([
    facts,
    keptFormer(db.prepared),
    stalledFeeds(db.prepared),
    concludeAbandonedPulls(db, only).then(() => readFeeds({ db: db.prepared, config }, facts, only)),
  ]);
  return { ...ofSites, kept, stalled, feeds };
}

/** What every reading of a status has in common. */
const readFactsOfSites = ({ db, config }: Pick<App, 'db' | 'config'>) =>
  shareReading(config, 'sites', async () => {
    const asked = { db: db.prepared, config };
    const live = liveProcesses(asked.db);
    const [workers, processes, sites, pauses] = await Promise.all([
      countWorkers(asked.db),
      live,
      Promise.all([live, tokenDigests(asked.db, config)]).then(([processes, tokens]) =>
        readSites(asked, processes, tokens),
      ),
      listPauses(asked.db),
    ]);
    return {
      workers,
      processes,
      differences: describeDifferences(differencesOf(processes)) ?? null,
      sites,
      pauses,
    };
  });

/** So many feeds are read in hardly more time than one; then all who ask for any of them, or for all, share the reading. */
const FEW_FEEDS = 20;

/** The status of one feed, with the whole that it is a part of; of other feeds, perhaps without them. @throws {OperationRefused} */
export async function readFeedStatus(
  app: Reading,
  name: string,
): Promise<{ readonly feed: FeedStatus; readonly status: Status }> {
  const known = await namedFeed(app, name);
  const status = await readStatus(app, app.config.feeds.size > FEW_FEEDS ? known : undefined);
  const feed = status.feeds.find((each) => each.feed === known);
  if (feed === undefined) throw new OperationRefused('unknown', `there is no feed ${name}`);
  return { feed, status };
}

/** The status of the sites alone, which does not depend on how many postings there are. */
export async function readSiteStatus(app: Reading): Promise<Pick<Status, 'sites' | 'workers' | 'differences'>> {
  const { workers, differences, pauses, sites } = await readFactsOfSites(app);
  const { failing } = assess(app.config, sites, [], { workers, pauses });
  const around = { workers, differences, failing, pauses };
  return { sites: sites.map((site) => siteStatus(site, around, app.writeAction)), workers, differences };
}

function assess(
  config: Config,
  sites: readonly ReadSite[],
  feeds: readonly ReadFeed[],
  options: AssessOptions & Required<Pick<AssessOptions, 'pauses'>>,
): Assessment {
  const facts = feeds.map(({ overview, ...feed }) => {
    const role = feed.configured ? 'configured' : isLeft({ overview, ...feed }) ? 'left' : 'other';
    const { in_doubt, held, rejected, failed, unreadable, duplicates } = overview;
    const review = in_doubt + held + rejected + failed + unreadable + duplicates;
    const twins = overview.rekey !== undefined && !overview.rekeyAll;
    return feedFacts(config, {
      ...overview,
      ...feed,
      role,
      ready: overview.ready - overview.unsendable,
      unsent: unsentOf(overview),
      review,
      rekeyed: overview.rekeyAll,
      twins,
    });
  });
  return assessHealth(
    sites.map(({ state, move, asksToWait, refusedProcesses }) => siteFacts(state, move, asksToWait, refusedProcesses)),
    facts,
    options,
  );
}

function checked({ failing, review }: Assessment, write: WriteAction): Status['check'] {
  const toCondition = ({ kind, site, feed, message, detail }: HealthCondition): ReportedCondition => ({
    condition: kind,
    site: site ?? null,
    feed: feed ?? null,
    message: noticeOf(write, message),
    detail: notice(detail, write),
  });
  return {
    kind: 'check',
    status: failing.length > 0 ? 'failing' : review.length > 0 ? 'review' : 'well',
    failing: failing.map(toCondition),
    review: review.map(toCondition),
  };
}

const notice = (message: Message | undefined, write: WriteAction): Notice | null =>
  message === undefined ? null : noticeOf(write, message);

interface ReadSite {
  readonly state: SiteState;
  readonly orphans: number;
  /** Tokens of other processes that the site refuses, and running processes that use one of these. */
  readonly otherRefused: readonly RefusedToken[];
  readonly refusedProcesses: readonly LiveProcess[];
  readonly move: SiteMove | undefined;
  readonly references: SiteStatus['references'];
  readonly referencesNote: Message | undefined;
  readonly asksToWait: boolean;
}

async function readSites(
  { db, config }: StatusReading,
  processes: readonly LiveProcess[],
  tokens: ReadonlyMap<SiteName, string>,
): Promise<ReadSite[]> {
  const sites: ReadSite[] = [];
  // One site after the other: all at once, their statements would be before those of the workers, whose connections they share.
  for (const { name, options } of config.sites.values()) {
    const address = addressOf(options);
    const field = options.referenceField;
    const [refused, references, state, orphans, move, asksToWait] = await Promise.all([
      refusedTokens(db, name),
      field === undefined ? null : referenceState(db, { site: name, address, field }),
      readSiteState(db, name, tokens.get(name)),
      countOrphans(db, name),
      findMove(db, name, address),
      onlyAsksToWait(db, name),
    ]);
    const otherRefused = refused.filter(({ digest }) => digest !== tokens.get(name));
    sites.push({
      references,
      referencesNote: field === undefined || references === null ? undefined : describeReference(field, references),
      state: stateAt(address, state),
      otherRefused,
      refusedProcesses: processes.filter(({ parts }) =>
        otherRefused.some(({ digest }) => digest === parts[tokenPart(name)]),
      ),
      orphans,
      move,
      asksToWait,
    });
  }
  return sites;
}

function siteStatus(
  { state, move, otherRefused, orphans, references, referencesNote }: ReadSite,
  around: Pick<Status, 'workers' | 'differences'> & {
    readonly failing: readonly HealthCondition[];
    readonly pauses: readonly PersonsPause[];
  },
  write: WriteAction,
): SiteStatus {
  const pauses = pausesOf(around.pauses, { site: state.site }).map((pause) => shownPause(pause, write));
  const from = (ms: number | undefined) => (ms === undefined ? null : new Date(Date.now() + Math.max(0, ms)));
  return answerOf(siteOutput, state, {
    kind: 'site',
    state: pauses.length > 0 && state.pausedSince === undefined ? 'stopped' : wordOf(state),
    pauses,
    pause_cause: notice(state.pauseCause, write),
    next_probe: from(state.probeInMs),
    waits_until: state.waitsMs > 0 ? from(state.waitsMs) : null,
    learnt_requests_per_second: state.learntRate ?? null,
    other_refused_tokens: otherRefused.map(({ since, notedBy }) => ({ since, noted_by: notedBy })),
    last_message: notice(state.lastMessage, write),
    moved_to: move?.to ?? null,
    moved: move === undefined ? null : noticeOf(write, describeMove(state.site, move)),
    orphans,
    references,
    references_note: notice(referencesNote, write),
    workers: around.workers,
    configurations_differ: around.differences,
    failing: around.failing.filter(({ site }) => site === state.site).map(({ message }) => noticeOf(write, message)),
    actions: actionsOf(state.pauseCause ?? ''),
  });
}

function wordOf(state: SiteState): SiteStatus['state'] {
  if (state.pausedSince !== undefined) return 'paused';
  if (state.unreachableStreak > 0) return 'out_of_reach';
  return state.waitsMs > 0 ? 'waiting' : 'sending';
}

/** Shown if a broken feed names no site, and the database has none for it. */
const UNKNOWN_SITE = siteName('-');

interface ReadFeed extends Pick<FeedStatus, 'feed' | 'site' | 'configured' | 'served' | 'stopped' | 'escalated'> {
  readonly overview: FeedOverview;
  readonly schedule: ScheduleState | undefined;
  readonly history: PullHistory | undefined;
  readonly nextRun: Date | undefined;
  readonly verified: FeedStatus['last_verify'];
  readonly heldAdvice: FeedStatus['held_advice'];
  readonly restored: Message | undefined;
}

/** Escalated feeds come first. */
async function readFeeds(
  { db, config }: StatusReading,
  facts: Promise<{ readonly processes: readonly LiveProcess[] }>,
  only: FeedName | undefined,
): Promise<ReadFeed[]> {
  const broken = [...config.brokenFeeds].map(([feed, { siteName: site }]) => [feed, site ?? UNKNOWN_SITE] as const);
  const configured = new Map([
    ...[...config.feeds.values()].map((feed) => [feed.name, feed.siteName] as const),
    ...broken,
  ]);
  const read = readOverview(db, configured, only);
  const [{ processes }, planned, overviews, histories, verifies, offers, restored, stopped] = await Promise.all([
    facts,
    readSchedules(db),
    read,
    read.then((overviews) =>
      readPullHistories(
        db,
        overviews.map(({ feed }) => feed),
      ),
    ),
    lastVerifies(db),
    readHeldOffers(db, config),
    notesOnRestore({ db, config }),
    stoppedFeeds(db),
    // The counts are exact before and afterwards.
    foldReviewCounts(db),
  ]);
  const schedules = new Map(planned.map((schedule) => [schedule.feed, schedule]));
  const stops = new Map(stopped.map((stop) => [stop.feed, stop]));
  const now = new Date();
  const feeds = overviews.map((overview): ReadFeed => {
    const { feed, site } = overview;
    const offer = offers.get(feed);
    const stop = stops.get(feed);
    return {
      feed,
      site,
      overview,
      history: histories.get(feed),
      nextRun: schedules.get(feed)?.nextAt ?? nextOf(config.feeds.get(feed), now),
      configured: configured.has(feed),
      served: processes.some(({ parts }) => parts[`feed ${feed}`] !== undefined),
      stopped: stop === undefined ? null : { undo: stop.undo, undone: stop.undone ?? null, since: stop.since },
      schedule: schedules.get(feed),
      verified: verifies.get(feed) ?? null,
      restored: restored.get(feed),
      heldAdvice: offer === undefined ? null : adviceOnHeld(offer),
      escalated: hasEscalated(overview, config),
    };
  });
  return feeds.sort((a, b) => Number(b.escalated) - Number(a.escalated));
}

function feedStatus(
  read: ReadFeed,
  failing: readonly HealthCondition[],
  allPauses: readonly PersonsPause[],
  write: WriteAction,
): FeedStatus {
  const { feed, site, configured, served, overview, schedule, history } = read;
  const { retired, rekey, holdReason, search, lastPull, heldForMs, inDoubtForMs } = overview;
  const own = failing.filter((condition) => condition.feed === feed);
  // A feed that nobody pulls any more can't be late.
  const pauses = pausesOf(allPauses, { feed, site });
  const isPulled = (configured || served) && !retired && pauses.every(({ stopsPulls }) => !stopsPulls);
  return answerOf(
    feedOutput,
    { ...overview, ...read },
    {
      kind: 'feed',
      pauses: pauses.map((pause) => shownPause(pause, write)),
      in_doubt: overview.in_doubt,
      hold_reason: notice(holdReason, write),
      rekey: notice(rekey, write),
      restored: notice(read.restored, write),
      search: notice(search, write),
      left: isLeft(read) ? notice(whatIsLeft(overview), write) : null,
      held_for_seconds: wholeSeconds(heldForMs),
      in_doubt_for_seconds: wholeSeconds(inDoubtForMs),
      schedule: schedule?.pattern ?? null,
      time_zone: schedule?.timeZone ?? null,
      schedule_processes: schedule?.processes ?? 0,
      last_run: history?.lastRunAt ?? null,
      last_complete: history?.lastComplete?.at ?? null,
      late_seconds: wholeSeconds(schedule?.lateMs),
      late: isPulled && schedule !== undefined && isLate(schedule) ? noticeOf(write, describeLate(schedule)) : null,
      last_verify: read.verified,
      failing: own.map(({ message }) => noticeOf(write, message)),
      actions: [rekey, holdReason, read.restored, ...own.map(({ message }) => message)].flatMap((message) =>
        actionsOf(message ?? ''),
      ),
      last_pull: lastPull === undefined ? null : pullOf(lastPull, write),
    },
  );
}

/** Why a feed of the database is not pulled here, in words. */
export const whyNotPulledHere = ({ retired, served }: Pick<FeedStatus, 'retired' | 'served'>): string => {
  if (retired) return 'retired';
  return served ? 'of another configuration' : 'not configured';
};

const wholeSeconds = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms / 1000));

const unsentOf = ({ ready, sending, in_doubt }: FeedOverview): number => ready + sending + in_doubt;

/** It is in no configuration of this or a running process, and was not retired. */
const isLeft = ({ configured, served, overview }: Pick<ReadFeed, 'configured' | 'served' | 'overview'>): boolean =>
  !(configured || served || overview.retired);

const whatIsLeft = (overview: FeedOverview): Message | undefined =>
  overview.live + unsentOf(overview) === 0 ? undefined : describeLeft({ ...overview, unsent: unsentOf(overview) });

/** What to know of jobs that were made since the backup that the database was restored from: of feeds whose sites can be read. */
export const notesOnRestore = ({ db, config }: StatusReading): Promise<ReadonlyMap<FeedName, Message>> =>
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
  const held = heldForMs !== undefined && needsAnotherAlert({ kind: 'held', site, ageMs: heldForMs }, config);
  return (
    held || (inDoubtForMs !== undefined && needsAnotherAlert({ kind: 'in_doubt', site, ageMs: inDoubtForMs }, config))
  );
}
