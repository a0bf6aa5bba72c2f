// `jobmirror review groups`: what needs a person, grouped by what was said about it.
import type { Command } from 'commander';
import type { z } from 'zod';
import { entryQuery, type groupOutput, listReviewGroups } from '../../operations/review.ts';
import { plural } from '../../plan/plural.ts';
import { groupTitle, listGroupsWithTotals, TREND_WORDS } from '../../review/list-groups.ts';
import { MOST_FOUND } from '../../store/review/entry-query.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { listCommand } from '../adapter/operation-command.ts';
import { formatTable } from '../output/table.ts';
import { FILTER_FORM } from '../review/narrow-entries.ts';

export const reviewGroupsCommand = (): Command =>
  listCommand(listReviewGroups, {
    name: 'groups',
    description: 'list what needs a person, grouped by kind, field and message, the largest first',
    arguments: ['feed'],
    flags: FILTER_FORM.flags,
    help: {
      ...FILTER_FORM.help,
      kind: 'only of this kind, may be given several times',
      discarded: 'group discarded entries instead of those that wait',
    },
    noun: 'groups',
    shown: 50,
    allAsJson: true,
    async view({ items }, { app, write, input }) {
      const [first] = items;
      if (first === undefined) return [NOTHING[input.discarded === true ? 'discarded' : 'waiting']];
      const query = await entryQuery(app, input);
      const { totals } = await listGroupsWithTotals(app.db, query, { groups: 1, values: 1 });
      const more = totals.groups - items.length;
      return [
        ...formatTable(COLUMNS, items.map(rowOf)),
        ...(totals.cut
          ? [`More than ${MOST_FOUND} entries match. The numbers are of the first ${MOST_FOUND} that were found.`]
          : []),
        ...(more > 0 ? [`… and ${plural(more, 'group')} more (--limit, --json)`] : []),
        '',
        `To see one group and what can be done about it: ${write(['review', 'show', '--group', first.group])}`,
      ];
    },
  });

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

const SHOWN_FEEDS = 3;

/** Of several feeds, how many entries each has. */
function feedsOf({ feeds }: z.output<typeof groupOutput>): string {
  const shown = feeds
    .slice(0, SHOWN_FEEDS)
    .map(({ feed, count }) => (feeds.length === 1 ? feed : `${feed} (${count})`));
  const more = feeds.length - shown.length;
  return `${shown.join(', ') || '-'}${more > 0 ? ` and ${more} more` : ''}`;
}

const rowOf = (group: z.output<typeof groupOutput>): string[] => {
  return [
    group.group,
    String(group.count),
    group.kind.replace('_', ' '),
    TREND_WORDS[group.trend],
    formatTime(group.first_seen),
    formatTime(group.last_seen),
    feedsOf(group),
    group.rules.map(({ rule }) => rule).join(', ') || '-',
    group.notes.length === 0 ? '-' : String(group.notes.length),
    oneLine(
      groupTitle({ ...group, values: group.values.map(({ value }) => value), valueCount: group.value_count }),
      200,
    ),
  ];
};
