// `jobmirror pulls`: lists the newest pulls with their counts.
import { Command } from 'commander';
import { countedPullJson } from '../../review/read-model/pull.ts';
import { type CountedPull, countedPulls } from '../../store/pull/pull-history.ts';
import { concludeAbandonedPulls } from '../../store/status/pull-summary.ts';
import { oneLine, printJson, printLine, printLines } from '../../telemetry/print.ts';
import { formatBytes } from '../../telemetry/progress-line.ts';
import { formatTime } from '../../telemetry/times.ts';
import { commandWriter, type WriteCommand } from '../command-line.ts';
import { knownFeed } from '../feed-name.ts';
import { positiveNumber } from '../option-values.ts';
import { pullStatus } from '../output/describe-status.ts';
import { formatTable } from '../output/table.ts';
import { withApp } from '../with-app.ts';
import { actionWriter, sayAll } from '../write-action.ts';

const SHOWN_PULLS = 20;

export function pullsCommand(): Command {
  return new Command('pulls')
    .argument('[feed]', 'only of this feed')
    .option('--limit <n>', 'pulls at most', positiveNumber, SHOWN_PULLS)
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object per pull')
    .action((name: string | undefined, options: { config?: string; json?: boolean; limit: number }) =>
      withApp(options, async ({ db, config }) => {
        const feed = name === undefined ? undefined : await knownFeed(db, config, name);
        await concludeAbandonedPulls(db, feed);
        const pulls = await countedPulls(db, feed, options.limit);
        const write = commandWriter(options.config);
        if (options.json === true) {
          for (const pull of pulls) await printJson(countedPullJson(pull, actionWriter(write)));
        } else if (pulls.length === 0) {
          await printLine('Nothing has been pulled yet.');
        } else {
          await printLines(
            formatTable(
              COLUMNS,
              pulls.map((pull) => rowOf(pull, write)),
            ),
          );
        }
      }),
    );
}

const COLUMNS = [
  { title: 'PULL', align: 'right' },
  { title: 'FEED' },
  { title: 'STARTED' },
  { title: 'STATUS' },
  { title: 'SEEN', align: 'right' },
  { title: 'UNCHANGED', align: 'right' },
  { title: 'CREATED', align: 'right' },
  { title: 'UPDATED', align: 'right' },
  { title: 'DELETED', align: 'right' },
  { title: 'REQUESTS', align: 'right' },
  { title: 'BYTES', align: 'right' },
  { title: 'SECONDS', align: 'right' },
  { title: 'MESSAGE' },
] as const;

const rowOf = (pull: CountedPull, write: WriteCommand): string[] => [
  String(pull.id),
  pull.feed,
  formatTime(pull.startedAt),
  pullStatus(pull),
  String(pull.seen),
  String(pull.unchanged),
  String(pull.created),
  String(pull.updated),
  String(pull.deleted),
  String(pull.requests),
  formatBytes(pull.bytes),
  pull.durationMs === undefined ? '-' : (pull.durationMs / 1000).toFixed(1),
  oneLine(sayAll([...pull.notes, ...pull.shortfalls, ...(pull.weak === undefined ? [] : [pull.weak])], write)),
];
