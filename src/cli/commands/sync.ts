// `jobmirror sync`: pulls feeds once, has their changes sent, and prints one summary a feed.
import { Command } from 'commander';
import type { FeedSetup } from '../../../jobs/feed-setup.ts';
import { openBooksFor, readConfig } from '../books.ts';
import { type Engine, startEngine } from '../engine.ts';
import { ExitStatus, worst } from '../exit-status.ts';
import { feedSetups } from '../feed-setups.ts';
import { mirrorFeed } from '../mirror-feed.ts';
import { startProgress } from '../progress.ts';
import { describeReport, exitStatusOf, type PullReport } from '../pull-report.ts';
import { STOP_WITHIN_MS, stopSignal } from '../stop-signal.ts';

/** Feeds that are mirrored side by side. */
const FEEDS_AT_ONCE = 2;

export function syncCommand(): Command {
  return new Command('sync')
    .description('pull feeds once, send what differs, and print a summary of each')
    .argument('[feed...]', 'names of feeds; all of the configuration if none is given')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object a feed')
    .option('--verbose', 'log every change to standard error')
    .action(async (names: string[], options: { config?: string; json?: boolean; verbose?: boolean }) => {
      const config = await readConfig(options);
      const setups = feedSetups(config, names);
      const stopping = stopSignal();
      const books = await openBooksFor(config, { quiet: options.verbose !== true });
      const progress = startProgress();
      let engine: Promise<Engine> | undefined;
      const sending = () => {
        engine ??= startEngine(books, new Set(setups.map((setup) => setup.site)));
        return engine;
      };
      try {
        const statuses = await eachFeed(setups, async (setup) => {
          const report = await mirrorFeed(books, sending, setup, { signal: stopping.signal, progress });
          progress.clear();
          print(report, options.json === true);
          return exitStatusOf(report);
        });
        process.exitCode = worst(statuses);
      } finally {
        progress.clear();
        await (await engine?.catch(() => undefined))?.stop(STOP_WITHIN_MS);
        await books.close();
        stopping.release();
      }
    });
}

function print(report: PullReport, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(report)}\n`);
    return;
  }
  const stream = report.status === 'failed' ? process.stderr : process.stdout;
  stream.write(`${describeReport(report)}\n`);
}

/** Each feed fails alone: one that throws is reported, and the others go on. */
async function eachFeed(
  setups: readonly FeedSetup[],
  mirror: (setup: FeedSetup) => Promise<ExitStatus>,
): Promise<ExitStatus[]> {
  const queue = [...setups];
  const statuses: ExitStatus[] = [];
  const lane = async () => {
    for (let setup = queue.shift(); setup !== undefined; setup = queue.shift()) {
      try {
        statuses.push(await mirror(setup));
      } catch (error) {
        process.stderr.write(`${setup.feed}: ${error instanceof Error ? error.message : String(error)}\n`);
        statuses.push(ExitStatus.failed);
      }
    }
  };
  await Promise.all(Array.from({ length: FEEDS_AT_ONCE }, lane));
  return statuses;
}
