// `jobmirror status`: the status of each site and feed, what needs a person, and the commands to go on with.
import { Command } from 'commander';
import type { Assessment, HealthCondition } from '../../review/assess-health.ts';
import { feedJson } from '../../review/read-model/feed.ts';
import { healthJson } from '../../review/read-model/health.ts';
import { siteJson } from '../../review/read-model/site.ts';
import { ExitStatus } from '../../runtime/exit-status.ts';
import { readStatus } from '../../runtime/read-status.ts';
import { oneLine, printJson, printLines } from '../../telemetry/print.ts';
import { commandWriter, type WriteCommand } from '../command-line.ts';
import { describeFeeds, describeSite } from '../output/describe-status.ts';
import { withApp } from '../with-app.ts';
import { actionWriter, say } from '../write-action.ts';

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
        const { workers, differences, sites, feeds, assessment } = await readStatus(app);
        const write = commandWriter(options.config);
        if (options.check === true) process.exitCode = statusOf(assessment);
        if (options.json === true) {
          const { failing } = assessment;
          const writer = actionWriter(write);
          for (const site of sites) await printJson(siteJson(site, { workers, differences, failing }, writer));
          for (const feed of feeds) await printJson(feedJson(feed, failing, writer));
          if (options.check === true) await printJson(healthJson(assessment, writer));
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

function statusOf({ failing, review }: Assessment): ExitStatus {
  if (failing.length > 0) return ExitStatus.failed;
  return review.length > 0 ? ExitStatus.review : ExitStatus.done;
}

/** Long enough for the commands at the end of some details. */
const DETAIL_CHARS = 1_000;

/** Omits the detail if the site's line already gives it. */
function describeCondition(
  { message, detail }: HealthCondition,
  siteLines: readonly string[],
  write: WriteCommand,
): string {
  const text = detail === undefined ? '' : say(detail, write);
  const isShown = text === '' || siteLines.some((line) => line.includes(text));
  return say(message, write) + (isShown ? '' : `: ${oneLine(text, DETAIL_CHARS)}`);
}
