// `jobmirror status`: the status of each site and feed, what needs a person, and the commands to go on with.
import { Command } from 'commander';
import type { Config, FeedConfig } from '../../config/config.ts';
import { siteName } from '../../posting/identifiers.ts';
import { type Assessment, assessHealth, type Condition } from '../../review/assess-health.ts';
import { escalates } from '../../review/escalation.ts';
import { siteStatusOf } from '../../review/site-status.ts';
import type { App } from '../../runtime/app.ts';
import { describeDifferences, differencesOf } from '../../runtime/configurations.ts';
import { ExitStatus } from '../../runtime/exit-status.ts';
import { nextRun } from '../../runtime/next-run.ts';
import { feedFacts, siteFacts } from '../../runtime/read-health.ts';
import { tokenDigests } from '../../runtime/token-digests.ts';
import { addressOf } from '../../site/base-address.ts';
import { readSchedules } from '../../store/feed/feed-schedule.ts';
import { type LiveProcess, liveProcesses, tokenPart } from '../../store/locks/processes.ts';
import { countWorkers } from '../../store/locks/worker-lease.ts';
import { readPullHistories } from '../../store/pull/pull-history.ts';
import { type FeedOverview, readOverview } from '../../store/review/overview.ts';
import { findMove } from '../../store/site/known-address.ts';
import { countOrphans } from '../../store/site/orphan-site-jobs.ts';
import { refusedTokens } from '../../store/site/refused-token.ts';
import { readSiteState, stateAt } from '../../store/site/site-state.ts';
import { oneLine, printJson, printLines } from '../../telemetry/print.ts';
import { commandWriter, type WriteCommand } from '../command-line.ts';
import { describeFeeds, describeSite, type MarkedFeed, type SiteOverview } from '../output/describe-status.ts';
import { pullJson } from '../output/pull-json.ts';
import { withApp } from '../with-app.ts';
import { say } from '../write-action.ts';

export function statusCommand(): Command {
  return new Command('status')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--check', 'report through the exit status: 0 all is well, 1 something fails, 2 something needs review')
    .option(
      '--json',
      'print one JSON object per site and feed, and with --check one more with the conditions that fail or need review',
    )
    .action((options: { config?: string; json?: boolean; check?: boolean }) =>
      withApp(options, async (app) => {
        const workers = await countWorkers(app.db);
        const processes = await liveProcesses(app.db);
        const sites = await readSites(app, processes);
        const differences = describeDifferences(differencesOf(processes));
        const feeds = await readFeeds(app, processes);
        const write = commandWriter(options.config);
        const assessment = assess(app.config, sites, feeds, workers);
        if (options.check === true) process.exitCode = statusOf(assessment);
        if (options.json === true) {
          const { failing } = assessment;
          for (const site of sites) await printJson(siteJson(site, workers, differences, failing, write));
          for (const feed of feeds) await printJson(feedJson(feed, failing, write));
          if (options.check === true) await printJson(checkJson(assessment, write));
          return;
        }
        const siteLines = sites.flatMap((site) => describeSite(site, write));
        const reported = assessment.failing.flatMap(({ feed, message, detail = '' }) =>
          feed ? [message, detail] : [],
        );
        await printLines([
          workers === 0
            ? 'no process is sending at the moment'
            : `${workers} ${workers === 1 ? 'process sends' : 'processes send'}`,
          ...(differences === undefined ? [] : [`WARNING: ${differences}`]),
          ...assessment.failing.map((condition) => `FAILING: ${describeCondition(condition, siteLines, write)}`),
          ...siteLines,
          ...describeFeeds(feeds, write, reported),
        ]);
      }),
    );
}

function assess(
  config: Config,
  sites: readonly SiteOverview[],
  feeds: readonly MarkedFeed[],
  workers: number,
): Assessment {
  const facts = feeds.map((feed) => {
    const role = feed.configured ? 'configured' : feed.retired || feed.served ? 'other' : 'left';
    const unsent = feed.ready + feed.sending + feed.in_doubt;
    const review = feed.in_doubt + feed.held + feed.rejected + feed.failed + feed.unreadable + feed.duplicates;
    return feedFacts(config, { ...feed, role, unsent, review });
  });
  return assessHealth(
    sites.map(({ state, move, refusedProcesses }) => siteFacts(state, move, refusedProcesses)),
    facts,
    { workers },
  );
}

function statusOf({ failing, review }: Assessment): ExitStatus {
  if (failing.length > 0) return ExitStatus.failed;
  return review.length > 0 ? ExitStatus.review : ExitStatus.done;
}

/** Long enough for the commands at the end of some details. */
const DETAIL_CHARS = 1_000;

/** Omits the detail if the site's line already gives it. */
function describeCondition({ message, detail }: Condition, siteLines: readonly string[], write: WriteCommand): string {
  const text = detail === undefined ? '' : say(detail, write);
  const isShown = text === '' || siteLines.some((line) => line.includes(text));
  return say(message, write) + (isShown ? '' : `: ${oneLine(text, DETAIL_CHARS)}`);
}

const conditionJson = ({ kind, site, feed, message, detail }: Condition, write: WriteCommand): object => ({
  condition: kind,
  site: site ?? null,
  feed: feed ?? null,
  message: say(message, write),
  detail: detail === undefined ? null : say(detail, write),
});

const checkJson = ({ failing, review }: Assessment, write: WriteCommand): object => ({
  kind: 'check',
  status: failing.length > 0 ? 'failing' : review.length > 0 ? 'review' : 'well',
  failing: failing.map((condition) => conditionJson(condition, write)),
  review: review.map((condition) => conditionJson(condition, write)),
});

async function readSites({ db, config }: App, processes: readonly LiveProcess[]): Promise<SiteOverview[]> {
  const sites: SiteOverview[] = [];
  const tokens = await tokenDigests(db, config);
  for (const { name, options } of config.sites.values()) {
    const otherRefused = (await refusedTokens(db, name)).filter(({ digest }) => digest !== tokens.get(name));
    const address = addressOf(options.baseUrl);
    sites.push({
      state: stateAt(address, await readSiteState(db, name, tokens.get(name))),
      otherRefused,
      refusedProcesses: processes.filter(({ parts }) =>
        otherRefused.some(({ digest }) => digest === parts[tokenPart(name)]),
      ),
      orphans: await countOrphans(db, name),
      move: await findMove(db, name, address),
    });
  }
  return sites;
}

/** Shown if a broken feed names no site, and the database has none for it. */
const UNKNOWN_SITE = siteName('-');

/** Escalated feeds come first. */
async function readFeeds({ db, config }: App, processes: readonly LiveProcess[]): Promise<MarkedFeed[]> {
  const schedules = new Map((await readSchedules(db)).map((schedule) => [schedule.feed, schedule]));
  const broken = [...config.brokenFeeds].map(([feed, { siteName: site }]) => [feed, site ?? UNKNOWN_SITE] as const);
  const configured = new Map([
    ...[...config.feeds.values()].map((feed) => [feed.name, feed.siteName] as const),
    ...broken,
  ]);
  const overviews = await readOverview(db, configured);
  const histories = await readPullHistories(
    db,
    overviews.map(({ feed }) => feed),
  );
  const now = new Date();
  const feeds = overviews.map((feed) => ({
    ...feed,
    history: histories.get(feed.feed),
    nextRun: schedules.get(feed.feed)?.nextAt ?? nextOf(config.feeds.get(feed.feed), now),
    configured: configured.has(feed.feed),
    served: processes.some(({ parts }) => parts[`feed ${feed.feed}`] !== undefined),
    schedule: schedules.get(feed.feed),
    escalated: hasEscalated(feed, config),
  }));
  return feeds.sort((a, b) => Number(b.escalated) - Number(a.escalated));
}

/** The next run of a feed's schedule, if no process has recorded one. */
const nextOf = (feed: FeedConfig | undefined, now: Date): Date | undefined =>
  feed?.schedule === undefined ? undefined : nextRun({ pattern: feed.schedule, timeZone: feed.timeZone }, now);

function hasEscalated({ site, heldForMs, inDoubtForMs }: FeedOverview, config: Config): boolean {
  const held = heldForMs !== undefined && escalates({ kind: 'held', site, ageMs: heldForMs }, config);
  return held || (inDoubtForMs !== undefined && escalates({ kind: 'in_doubt', site, ageMs: inDoubtForMs }, config));
}

function siteJson(
  { state, orphans, move, otherRefused }: SiteOverview,
  workers: number,
  differences: string | undefined,
  failing: readonly Condition[],
  write: WriteCommand,
): object {
  const from = (ms: number | undefined) => (ms === undefined ? null : new Date(Date.now() + Math.max(0, ms)));
  return {
    kind: 'site',
    site: state.site,
    state: siteStatusOf(state),
    paused_since: state.pausedSince ?? null,
    pause_cause: state.pauseCause === undefined ? null : say(state.pauseCause, write),
    next_probe: from(state.probeInMs),
    waits_until: state.waitsMs > 0 ? from(state.waitsMs) : null,
    learnt_requests_per_second: state.learntRate ?? null,
    token_refused: state.tokenRefused,
    other_refused_tokens: (otherRefused ?? []).map(({ since, notedBy }) => ({ since, noted_by: notedBy })),
    unreachable_streak: state.unreachableStreak,
    last_message: state.lastMessage === undefined ? null : say(state.lastMessage, write),
    address: state.address ?? null,
    moved_to: move?.to ?? null,
    orphans,
    workers,
    configurations_differ: differences ?? null,
    failing: failing.filter(({ site }) => site === state.site).map(({ message }) => say(message, write)),
  };
}

const seconds = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms / 1000));

function feedJson(feed: MarkedFeed, failing: readonly Condition[], write: WriteCommand): object {
  return {
    kind: 'feed',
    feed: feed.feed,
    site: feed.site,
    configured: feed.configured,
    retired: feed.retired,
    escalated: feed.escalated,
    live: feed.live,
    ready: feed.ready,
    sending: feed.sending,
    in_doubt: feed.in_doubt,
    held: feed.held,
    rejected: feed.rejected,
    failed: feed.failed,
    unreadable: feed.unreadable,
    duplicates: feed.duplicates,
    discarded: feed.discarded,
    hold_reason: feed.holdReason === undefined ? null : say(feed.holdReason, write),
    held_for_seconds: seconds(feed.heldForMs),
    in_doubt_for_seconds: seconds(feed.inDoubtForMs),
    schedule: feed.schedule?.pattern ?? null,
    next_run: feed.nextRun ?? null,
    last_run: feed.history?.lastRunAt ?? null,
    last_complete: feed.history?.lastComplete?.at ?? null,
    late_seconds: feed.schedule === undefined ? null : Math.floor(feed.schedule.lateMs / 1000),
    failing: failing.filter((each) => each.feed === feed.feed).map(({ message }) => say(message, write)),
    last_pull: feed.lastPull === undefined ? null : pullJson(feed.lastPull, write),
  };
}
