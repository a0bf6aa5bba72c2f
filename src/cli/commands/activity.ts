// `jobmirror activity`: what people, their rules and pulls did, one line per action however many postings it reached.
import type { Command } from 'commander';
import { type ActionTaken, listActivities } from '../../operations/activity.ts';
import { plural } from '../../plan/message.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { listCommand } from '../adapter/operation-command.ts';
import { formatTable } from '../output/table.ts';
import { describeActivity } from './review-activity.ts';

export const activityCommand = (): Command =>
  listCommand(listActivities, {
    name: 'activity',
    description: 'list what people, rules and pulls did, one line per action, the newest first',
    arguments: ['feed'],
    flags: { actor: 'by' },
    help: { feed: 'only of this feed', actor: 'only what this person or token did' },
    noun: 'actions',
    shown: 50,
    view({ items, next }, { write }) {
      if (items.length === 0) return ['There is nothing like that.'];
      const table = formatTable(COLUMNS, items.map(rowOf));
      const each = `Each posting: ${write(['review', 'activity'])}`;
      return [...table, '', next === undefined ? each : `There are more: raise --limit. ${each}`];
    },
  });

const COLUMNS = [
  { title: 'WHEN' },
  { title: 'BY' },
  { title: 'ACTION' },
  { title: 'FEED' },
  { title: 'WHAT' },
  { title: 'DETAIL' },
] as const;

const rowOf = (taken: ActionTaken): string[] => [
  formatTime(taken.at),
  taken.actor === null ? '-' : oneLine(taken.actor, 40),
  taken.action,
  taken.feed ?? '-',
  whatOf(taken),
  oneLine(describeActivity(taken), 300),
];

function whatOf({ kind, key, pull, count, activity, bulk }: ActionTaken): string {
  if (key !== null) return oneLine(key, 40);
  if (pull !== null) return `${plural(count, 'job')}, pull ${pull}`;
  if (bulk !== null) return `${plural(count, 'posting')}, action ${bulk}`;
  return activity !== null && count > 1 ? plural(count, kind === 'program' ? 'feed' : 'posting') : '-';
}
