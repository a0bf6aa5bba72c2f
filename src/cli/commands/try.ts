// `jobmirror try`: shows what the first postings of a feed become, and sums up the feed; writes and sends nothing.
import { Command } from 'commander';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { type Trial, tryFeed } from '../../pull/preview/try-feed.ts';
import { readConfig } from '../../runtime/app.ts';
import { setupOfFeed } from '../../runtime/feed-setups.ts';
import { ExitStatus, UserError, untilSignalled } from '../../runtime/stop-signal.ts';
import { formatBytes, printNotice, startProgressLine, stopPrintingOn } from '../../telemetry/print.ts';
import { CONFIG, type CommonOptions, positiveNumber } from '../adapter/command-line.ts';
import { printTrial } from '../output/describe-trial.ts';

const SHOWN_POSTINGS = 3;

interface TryOptions extends CommonOptions {
  readonly xml?: boolean;
  readonly limit: number;
}

export function tryCommand(): Command {
  return new Command('try')
    .argument('<feed>', 'name of the feed')
    .option('--limit <n>', 'how many postings to show', positiveNumber, SHOWN_POSTINGS)
    .option('--xml', 'show the postings as the XML that would be sent')
    .option(...CONFIG)
    .option('--json', 'print one JSON object per shown posting, and one that sums up the feed')
    .action(async (name: string, options: TryOptions) => {
      const config = await readConfig(options);
      const setup = setupOfFeed(config, name);
      if (typeof setup === 'string') throw new UserError(`feed ${name}: ${setup}`);
      for (const warning of config.warnings) printNotice(`warning: ${warning}`);
      const element = config.sites.get(setup.site)?.options.resource?.element;
      process.exitCode = await showTrial(setup, { ...options, element });
    });
}

const showTrial = (
  setup: FeedSetup,
  options: TryOptions & { readonly element: string | undefined },
): Promise<ExitStatus> =>
  untilSignalled(async (signal) => {
    stopPrintingOn(signal);
    const trial = await readWithProgress(setup, options.limit, signal);
    await printTrial(setup, trial, options);
    return statusOf(trial);
  });

/** Reads the whole feed. */
async function readWithProgress(setup: FeedSetup, samples: number, signal: AbortSignal): Promise<Trial> {
  const progress = startProgressLine();
  try {
    return await tryFeed(setup, {
      signal,
      samples,
      onProgress: ({ records, bytes }) =>
        progress.show(`${setup.feed}: reading, ${records} records, ${formatBytes(bytes)}`),
    });
  } finally {
    progress.clear();
  }
}

function statusOf(trial: Trial): ExitStatus {
  if (trial.kind === 'failed' || trial.shortfalls.length > 0) return ExitStatus.failed;
  const { rejected, conflicting, mistakes } = trial;
  return rejected + conflicting + mistakes.length > 0 ? ExitStatus.review : ExitStatus.done;
}
