// `jobmirror status`: how each site and each feed stands, what waits for whom, and the commands that go on.
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { siteName } from '../../posting/identifiers.ts';
import { escalates } from '../../review/escalation.ts';
import type { WriteCommand } from '../../review/possible-actions.ts';
import { standingOf } from '../../review/site-standing.ts';
import { addressOf } from '../../site/site-address.ts';
import { readSchedules } from '../../store/feed-schedule.ts';
import { type FeedOverview, readOverview } from '../../store/overview.ts';
import { type LiveProcess, liveProcesses } from '../../store/processes.ts';
import { findMove } from '../../store/site-address.ts';
import { readSiteState } from '../../store/site-state.ts';
import { countStrays } from '../../store/stray.ts';
import { countWorkers } from '../../store/worker-presence.ts';
import type { Books } from '../books.ts';
import { commandWriter, completeCommands } from '../command-line.ts';
import { describeDifferences, differencesOf } from '../configurations.ts';
import { describeFeeds, describeSite, type MarkedFeed, type SiteOverview } from '../describe-status.ts';
import { printJson, printLines } from '../print.ts';
import { pullJson } from '../pull-json.ts';
import { withBooks } from '../with-books.ts';

export function statusCommand(): Command {
  return new Command('status')
    .description('show how each site and feed stands, and what waits for whom')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object a site and a feed')
    .action((options: { config?: string; json?: boolean }) =>
      withBooks(options, async (books) => {
        const workers = await countWorkers(books.db);
        const sites = await readSites(books);
        const processes = await liveProcesses(books.db);
        const differences = describeDifferences(differencesOf(processes));
        const feeds = await readFeeds(books, processes);
        const write = commandWriter(options.config);
        if (options.json === true) {
          for (const site of sites) await printJson(siteJson(site, workers, differences, write));
          for (const feed of feeds) await printJson(feedJson(feed, write));
          return;
        }
        await printLines([
          workers === 0
            ? 'no process sends at the moment'
            : `${workers} ${workers === 1 ? 'process sends' : 'processes send'}`,
          ...(differences === undefined ? [] : [`WARNING: ${differences}`]),
          ...sites.flatMap((site) => describeSite(site, write)),
          ...describeFeeds(feeds, write),
        ]);
      }),
    );
}

async function readSites({ db, config }: Books): Promise<SiteOverview[]> {
  const sites: SiteOverview[] = [];
  for (const { name, options } of config.sites.values()) {
    sites.push({
      state: await readSiteState(db, name),
      strays: await countStrays(db, name),
      move: await findMove(db, name, addressOf(options.baseUrl)),
    });
  }
  return sites;
}

/** Stands where a broken feed does not say which site it is for, and the database knows none. */
const UNKNOWN_SITE = siteName('-');

/** What has waited too long comes first. */
async function readFeeds({ db, config }: Books, processes: readonly LiveProcess[]): Promise<MarkedFeed[]> {
  const schedules = new Map((await readSchedules(db)).map((schedule) => [schedule.feed, schedule]));
  const broken = [...config.brokenFeeds].map(([feed, { siteName: site }]) => [feed, site ?? UNKNOWN_SITE] as const);
  const configured = new Map([
    ...[...config.feeds.values()].map((feed) => [feed.name, feed.siteName] as const),
    ...broken,
  ]);
  const feeds = (await readOverview(db, configured)).map((feed) => ({
    ...feed,
    configured: configured.has(feed.feed),
    served: processes.some(({ parts }) => parts[`feed ${feed.feed}`] !== undefined),
    schedule: schedules.get(feed.feed),
    escalated: hasEscalated(feed, config),
  }));
  return feeds.sort((a, b) => Number(b.escalated) - Number(a.escalated));
}

function hasEscalated({ site, heldForMs, inDoubtForMs }: FeedOverview, config: Config): boolean {
  const held = heldForMs !== undefined && escalates({ kind: 'held', site, ageMs: heldForMs }, config);
  return held || (inDoubtForMs !== undefined && escalates({ kind: 'in_doubt', site, ageMs: inDoubtForMs }, config));
}

function siteJson(
  { state, strays, move }: SiteOverview,
  workers: number,
  differences: string | undefined,
  write: WriteCommand,
): object {
  const from = (ms: number | undefined) => (ms === undefined ? null : new Date(Date.now() + Math.max(0, ms)));
  return {
    kind: 'site',
    site: state.site,
    state: standingOf(state),
    paused_since: state.pausedSince ?? null,
    pause_cause: state.pauseCause === undefined ? null : completeCommands(state.pauseCause, write),
    next_probe: from(state.probeInMs),
    waits_until: state.waitsMs > 0 ? from(state.waitsMs) : null,
    learnt_requests_per_second: state.learntRate ?? null,
    unreachable_streak: state.unreachableStreak,
    last_message: state.lastMessage ?? null,
    address: state.address ?? null,
    moved_to: move?.to ?? null,
    strays,
    workers,
    configurations_differ: differences ?? null,
  };
}

const seconds = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms / 1000));

function feedJson(feed: MarkedFeed, write: WriteCommand): object {
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
    hold_reason: feed.holdReason ?? null,
    held_for_seconds: seconds(feed.heldForMs),
    in_doubt_for_seconds: seconds(feed.inDoubtForMs),
    schedule: feed.schedule?.pattern ?? null,
    next_run: feed.schedule?.nextAt ?? null,
    late_seconds: feed.schedule === undefined ? null : Math.floor(feed.schedule.lateMs / 1000),
    last_pull: feed.lastPull === undefined ? null : pullJson(feed.lastPull, write),
  };
}
