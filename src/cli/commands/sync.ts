// `jobmirror sync`: pulls feeds once, sends their changes, and prints one summary per feed.
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { pullReportOutput, reportedPull } from '../../operations/pulls.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { type HeldOffer, readHeldOffers } from '../../review/held-offer.ts';
import { type App, openAppFor, readConfig, withoutFeedsLackingSecrets } from '../../runtime/app.ts';
import { exitStatusOf, failedReport, type PullReport } from '../../runtime/conclude-pull.ts';
import type { Engine } from '../../runtime/engine.ts';
import { chooseFeeds, unsentChangesOfRemovedFeeds } from '../../runtime/feed-setups.ts';
import { mirrorFeed } from '../../runtime/mirror-feed.ts';
import { removeOldRowsBriefly } from '../../runtime/retention.ts';
import { ExitStatus, STOP_WITHIN_MS, UserError, untilSignalled, worstStatus } from '../../runtime/stop-signal.ts';
import { describePassing } from '../../store/postgres/transient-error.ts';
import { endInterruptedPull } from '../../store/pull/pull-history.ts';
import {
  OutputFailedError,
  type ProgressLine,
  printJson,
  printLine,
  printNotice,
  startProgressLine,
} from '../../telemetry/print.ts';
import { CONFIG, type CommonOptions, commandWriter } from '../adapter/command-line.ts';
import { printing } from '../adapter/operation-command.ts';
import { actionWriter, say } from '../adapter/write-action.ts';
import { describePull } from '../output/describe-pull.ts';

/** How many feeds are mirrored in parallel. */
const FEEDS_AT_ONCE = 2;

interface SyncOptions extends CommonOptions {
  readonly verbose?: boolean;
}

export function syncCommand(): Command {
  const command = new Command('sync')
    .argument('[feed...]', 'names of feeds; all of the configuration if none is given')
    .option(...CONFIG)
    .option('--json', 'print one JSON object per feed')
    .option('--verbose', 'log every change to standard error');
  return printing(command, pullReportOutput).action(async (names: string[], options: SyncOptions) => {
    const config = withoutFeedsLackingSecrets(await readConfig(options));
    const { setups, broken } = chooseFeeds(config, names, 'send');
    const statuses: ExitStatus[] = [];
    await untilSignalled(async (signal) => {
      // Report feeds that can't be pulled first; the others are mirrored anyway.
      for (const { feed, message } of broken) {
        await print(failedReport(feed, null, message, 0), options);
        statuses.push(ExitStatus.failed);
      }
      const mirrored = { setups, isWhole: names.length === 0 };
      if (setups.length > 0) statuses.push(...(await mirrorAll(config, mirrored, signal, options)));
    });
    process.exitCode = worstStatus(statuses);
  });
}

/** @param mirrored.isWhole no feed was named, so a removed one with unsent changes counts as well */
async function mirrorAll(
  config: Config,
  { setups, isWhole }: { readonly setups: readonly FeedSetup[]; readonly isWhole: boolean },
  signal: AbortSignal,
  options: SyncOptions,
): Promise<ExitStatus[]> {
  let statuses: ExitStatus[] = [];
  try {
    const app = await openAppFor(config, {
      quiet: options.verbose !== true,
      json: options.json,
      waitSignal: signal,
      writeAction: actionWriter(commandWriter(options.config)),
    });
    try {
      statuses = await syncAll(app, setups, signal, options);
      await removeOldRowsBriefly(app, signal);
      const left = await unsentChangesOfRemovedFeeds(app);
      for (const text of left) printNotice(say(text, commandWriter(options.config)));
      if (left.length > 0 && isWhole) statuses.push(ExitStatus.review);
    } finally {
      await app.close();
    }
    return statuses;
  } catch (error) {
    // JSON readers get a line for each feed even if the database can't be used.
    if (options.json !== true || statuses.length > 0) throw error;
    for (const { feed } of setups) await print(failedReport(feed, null, (error as Error).message, 0), options);
    return [ExitStatus.failed];
  }
}

async function syncAll(
  app: App,
  setups: readonly FeedSetup[],
  signal: AbortSignal,
  options: SyncOptions,
): Promise<ExitStatus[]> {
  const progress = startProgressLine();
  const sending = sender(app, setups);
  try {
    return await eachFeed(setups, async (setup) => {
      const report = await syncFeed(app, sending, setup, signal, progress);
      progress.clear();
      const offer = report.held === 0 ? undefined : await heldOfferOf(app, report);
      await print(report, options, offer).catch(unlessUnread);
      return exitStatusOf(report);
    });
  } finally {
    progress.clear();
    await sending.stop();
  }
}

/** The sending engine that all feeds of this process share: started on first use, stopped once. */
interface Sender {
  start(): Promise<Engine>;
  stop(): Promise<void>;
}

/** The engine and the libraries of queue and site are loaded only if there is something to send. */
function sender(app: App, setups: readonly FeedSetup[]): Sender {
  let engine: Promise<Engine> | undefined;
  let stopped: Promise<void> | undefined;
  const begin = async () => {
    const { startEngine } = await import('../../runtime/engine.ts');
    return startEngine(app, new Set(setups.map((setup) => setup.site)));
  };
  const stop = async () => {
    // If the engine failed to start, there is nothing to stop, and the feeds have reported why.
    const started = await engine?.catch(() => undefined);
    await started?.stop(STOP_WITHIN_MS);
  };
  return {
    start() {
      engine ??= begin();
      return engine;
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Mirrors one feed. An error becomes the report of this feed; the others go on. */
async function syncFeed(
  app: App,
  sending: Sender,
  setup: FeedSetup,
  signal: AbortSignal,
  progress: ProgressLine,
): Promise<PullReport> {
  const startedAt = performance.now();
  let pull: number | null = null;
  const onPull = (number: number) => {
    pull = number;
  };
  try {
    signal.throwIfAborted();
    const options = { signal, progress, onPull, stopSending: () => sending.stop() };
    return await mirrorFeed(app, () => sending.start(), setup, options);
  } catch (error) {
    const passing = describePassing(error);
    const message = passing ?? (error instanceof Error ? error.message : String(error));
    if (!(error instanceof UserError || signal.aborted || passing !== undefined))
      app.log.error({ err: error, feed: setup.feed }, 'sync failed');
    // If the database itself is failing, the next pull of the feed closes this pull's row.
    if (pull !== null) await endInterruptedPull(app.db, pull, message).catch(() => undefined);
    return failedReport(setup.feed, pull, message, performance.now() - startedAt);
  }
}

async function heldOfferOf({ db, config }: App, { feed }: PullReport): Promise<HeldOffer | undefined> {
  return (await readHeldOffers(db, config)).get(feed);
}

async function print(report: PullReport, { json, config }: SyncOptions, heldOffer?: HeldOffer): Promise<void> {
  const write = commandWriter(config);
  if (json === true) return printJson(reportedPull(report, actionWriter(write)));
  const text = describePull(report, write, heldOffer);
  if (report.status === 'failed' || report.pull === null) printNotice(text);
  else await printLine(text);
}

/** A closed pipe does not fail the sync: the work is done. Losing the report for another reason does. */
function unlessUnread(error: unknown): void {
  if (!(error instanceof OutputFailedError && error.code === 'EPIPE')) throw error;
}

async function eachFeed(
  setups: readonly FeedSetup[],
  mirror: (setup: FeedSetup) => Promise<ExitStatus>,
): Promise<ExitStatus[]> {
  const queue = [...setups];
  const statuses: ExitStatus[] = [];
  const lane = async () => {
    for (let setup = queue.shift(); setup !== undefined; setup = queue.shift()) statuses.push(await mirror(setup));
  };
  await Promise.all(Array.from({ length: FEEDS_AT_ONCE }, lane));
  return statuses;
}
