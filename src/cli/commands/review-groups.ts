// `jobmirror review groups`: what needs a person, grouped by what was said about it.
import { Command, Option } from 'commander';
import { plural } from '../../plan/plural.ts';
import { type ListedGroup, listGroups, listGroupsWithTotals } from '../../review/list-groups.ts';
import { groupJson, groupTitle, TREND_WORDS } from '../../review/read-model/group.ts';
import type { App } from '../../runtime/app.ts';
import { ENTRY_KINDS, type EntryKind } from '../../store/backlog/entry-kind.ts';
import { type EntryQuery, MOST_FOUND } from '../../store/review/entry-query.ts';
import { oneLine, printJson, printLine, printLines } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { commandWriter } from '../command-line.ts';
import { knownFeed } from '../feed-name.ts';
import { type Narrowing, narrowed, withoutGroup } from '../narrow-entries.ts';
import { positiveNumber } from '../option-values.ts';
import { formatTable } from '../output/table.ts';
import { withApp } from '../with-app.ts';
import { actionWriter } from '../write-action.ts';

interface GroupsOptions extends Narrowing {
  readonly config?: string;
  readonly json?: boolean;
  readonly kind?: EntryKind;
  readonly discarded?: boolean;
  readonly limit?: number;
}

const SHOWN_GROUPS = 50;
const VALUES = 10;

export function reviewGroupsCommand(): Command {
  return withoutGroup(
    new Command('groups')
      .description('list what needs a person, grouped by kind, field and message')
      .argument('[feed]', 'only of this feed')
      .addOption(new Option('--kind <kind>', 'only of this kind').choices(ENTRY_KINDS)),
  )
    .option('--discarded', 'group discarded entries instead of those that wait')
    .option(
      '--limit <n>',
      `groups at most, the largest first (default: ${SHOWN_GROUPS}; with --json all)`,
      positiveNumber,
    )
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object per group')
    .action((name: string | undefined, options: GroupsOptions) =>
      withApp(options, async (app) => {
        const feed = name === undefined ? undefined : await knownFeed(app.db, app.config, name);
        const kinds = options.kind === undefined ? undefined : [options.kind];
        const query = { ...narrowed(app.config, options), feed, kinds, discarded: options.discarded === true };
        return options.json === true ? printGroups(app, query, options) : printTable(app, query, options);
      }),
    );
}

async function printGroups({ db }: App, query: EntryQuery, options: GroupsOptions): Promise<void> {
  const write = actionWriter(commandWriter(options.config));
  const groups = await listGroups(db, query, { groups: options.limit, values: VALUES });
  for (const group of groups) await printJson(groupJson(group, write));
}

async function printTable({ db }: App, query: EntryQuery, options: GroupsOptions): Promise<void> {
  const limits = { groups: options.limit ?? SHOWN_GROUPS, values: VALUES };
  const { groups, totals: all } = await listGroupsWithTotals(db, query, limits);
  const [first] = groups;
  if (first === undefined) return printLine(NOTHING[query.discarded === true ? 'discarded' : 'waiting']);
  await printLines(formatTable(COLUMNS, groups.map(rowOf)));
  if (all.cut)
    await printLine(
      `More than ${MOST_FOUND} entries match. The numbers are of the first ${MOST_FOUND} that were found.`,
    );
  if (all.groups > groups.length)
    await printLine(`… and ${plural(all.groups - groups.length, 'group')} more (--limit, --json)`);
  const write = commandWriter(options.config);
  await printLine(
    `\nTo see one group and what can be done about it: ${write(['review', 'show', '--group', first.id])}`,
  );
}

const NOTHING = { discarded: 'Nothing that matches is discarded.', waiting: 'Nothing that matches needs a person.' };

const COLUMNS = [
  { title: 'GROUP' },
  { title: 'COUNT', align: 'right' },
  { title: 'KIND' },
  { title: 'TREND' },
  { title: 'FIRST SEEN' },
  { title: 'LAST SEEN' },
  { title: 'FEED' },
  { title: 'RULE', align: 'right' },
  { title: 'NOTES', align: 'right' },
  { title: 'MESSAGE' },
] as const;

const rowOf = (group: ListedGroup): string[] => [
  group.id,
  String(group.count),
  group.kind.replace('_', ' '),
  TREND_WORDS[group.trend],
  formatTime(group.firstSeen),
  formatTime(group.lastSeen),
  feedsOf(group),
  group.rules.map(({ id }) => id).join(', ') || '-',
  group.notes.length === 0 ? '-' : String(group.notes.length),
  oneLine(groupTitle(group), 200),
];

function feedsOf({ feeds: [first, ...others] }: ListedGroup): string {
  return `${first?.of ?? '-'}${others.length === 0 ? '' : ` and ${others.length} more`}`;
}
