// `jobmirror review activity`: who did what, when, and what was before and after.
import { Command } from 'commander';
import { activityJson, type RecordedDetail, readDetail } from '../../review/read-model/activity.ts';
import { type Activity, listActivity } from '../../store/access/audit.ts';
import { oneLine, printJson, printLine, printLines } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { commandWriter } from '../command-line.ts';
import { knownFeed } from '../feed-name.ts';
import { positiveNumber } from '../option-values.ts';
import { formatTable } from '../output/table.ts';
import { withApp } from '../with-app.ts';

interface Options {
  readonly config?: string;
  readonly json?: boolean;
  readonly by?: string;
  readonly before?: number;
  readonly limit?: number;
}

const SHOWN = 50;

export function reviewActivityCommand(): Command {
  return new Command('activity')
    .description('list who did what, when, and what was before and after, the newest first')
    .argument('[feed]', 'only of this feed')
    .option('--by <name>', 'only what this person or token did')
    .option('--before <n>', 'only what is older than this number of the list', positiveNumber)
    .option('--limit <n>', `actions at most (default: ${SHOWN})`, positiveNumber)
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object per action')
    .action((name: string | undefined, options: Options) =>
      withApp(options, async ({ db, config }) => {
        const feed = name === undefined ? undefined : await knownFeed(db, config, name);
        const { by, before, limit = SHOWN } = options;
        const found = await listActivity(db, { feed, actor: by, before }, limit + 1);
        const items = found.slice(0, limit);
        if (options.json === true) {
          for (const item of items) await printJson(activityJson(item));
          return;
        }
        const isFiltered = [feed, by, before].some((each) => each !== undefined);
        if (items.length === 0)
          return printLine(isFiltered ? 'There is nothing like that.' : 'Nobody has done anything yet.');
        await printLines(formatTable(COLUMNS, items.map(rowOf)));
        if (found.length === items.length) return;
        const older = ['review', 'activity', ...(feed === undefined ? [] : [feed])];
        const same = by === undefined ? [] : ['--by', by];
        const write = commandWriter(options.config);
        await printLine(`\nOlder ones: ${write([...older, ...same, '--before', String(items.at(-1)?.id)])}`);
      }),
    );
}

const COLUMNS = [
  { title: 'N', align: 'right' },
  { title: 'WHEN' },
  { title: 'BY' },
  { title: 'ACTION' },
  { title: 'FEED' },
  { title: 'KEY' },
  { title: 'BEFORE AND AFTER' },
] as const;

const rowOf = ({ id, at, actor, action, feed, key, detail }: Activity): string[] => [
  String(id),
  formatTime(at),
  oneLine(actor, 40),
  action,
  feed ?? '-',
  key === null ? '-' : oneLine(key, 40),
  oneLine(describeDetail(readDetail(detail)), 300),
];

const LONGEST_VALUE = 60;

function describeDetail({ edits, facts }: RecordedDetail): string {
  const fields = edits.map(({ field, before, after }) =>
    before === undefined ? `${field}: ${written(after)}` : `${field}: ${written(before)} → ${written(after)}`,
  );
  const others = Object.entries(facts).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${written(value)}`);
  return [...fields, ...others].join('; ');
}

function written(value: unknown): string {
  if (value == null || value === '') return '(none)';
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value), LONGEST_VALUE);
}
