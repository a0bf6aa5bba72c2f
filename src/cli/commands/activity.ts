// `jobmirror review activity` and `jobmirror activity`. The first lists who did what, when, and what was before and after.
import type { Command } from 'commander';
import type { z } from 'zod';
import {
  type ActionTaken,
  type activityOutput,
  listActivities,
  showActivity,
  subjectInWords,
} from '../../operations/activity.ts';
import { plural } from '../../plan/message.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { listCommand } from '../adapter/operation-command.ts';
import { formatRows, type RowColumn } from '../output/table.ts';

export const reviewActivityCommand = (): Command =>
  listCommand(showActivity, {
    name: 'activity',
    description: 'list who did what, when, and what was before and after, the newest first',
    arguments: ['feed'],
    flags: { actor: 'by' },
    help: { feed: 'only of this feed', actor: 'only what this person or token did' },
    noun: 'actions',
    shown: 50,
    before: 'only what is older than this number of the list',
    view({ items }, { input, options: { before } }) {
      if (items.length > 0) return formatRows(COLUMNS, items);
      const isFiltered = before !== undefined || Object.keys(input).length > 0;
      return [isFiltered ? 'There is nothing like that.' : 'Nobody has done anything yet.'];
    },
  });

type Activity = z.output<typeof activityOutput>;

const COLUMNS: readonly RowColumn<Activity>[] = [
  { title: 'N', align: 'right', cell: ({ activity }) => String(activity) },
  { title: 'WHEN', cell: ({ at }) => formatTime(at) },
  { title: 'BY', cell: ({ actor }) => oneLine(actor, 40) },
  { title: 'ACTION', cell: ({ action }) => action },
  { title: 'FEED', cell: ({ feed }) => feed ?? '-' },
  { title: 'KEY', cell: ({ key }) => (key === null ? '-' : oneLine(key, 40)) },
  { title: 'BEFORE AND AFTER', cell: (activity) => oneLine(describeActivity(activity), 300) },
];

const LONGEST_VALUE = 60;

function describeActivity({ edits, detail }: Pick<Activity, 'edits' | 'detail'>): string {
  const fields = edits.map(({ field, before, before_known, after }) =>
    before_known ? `${field}: ${written(before)} → ${written(after)}` : `${field}: ${written(after)}`,
  );
  const others = Object.entries(detail).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${written(value)}`);
  return [...fields, ...others].join('; ');
}

function written(value: unknown): string {
  if (value == null || value === '') return '(none)';
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value), LONGEST_VALUE);
}

// `jobmirror activity`: what people, their rules and pulls did, one line per action however many postings it reached.

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
      const table = formatRows(ACTION_COLUMNS, items);
      const each = `Each posting: ${write(['review', 'activity'])}`;
      return [...table, '', next === undefined ? each : `There are more: raise --limit. ${each}`];
    },
  });

const ACTION_COLUMNS: readonly RowColumn<ActionTaken>[] = [
  { title: 'WHEN', cell: ({ at }) => formatTime(at) },
  { title: 'BY', cell: ({ actor }) => (actor === null ? '-' : oneLine(actor, 40)) },
  { title: 'ACTION', cell: ({ action }) => action },
  { title: 'FEED', cell: ({ feed }) => feed ?? '-' },
  { title: 'WHAT', cell: whatOf },
  {
    title: 'DETAIL',
    cell: (taken) =>
      oneLine(describeActivity({ ...taken, detail: subjectInWords(taken)?.others ?? taken.detail }), 300),
  },
];

function whatOf(taken: ActionTaken): string {
  const { kind, key, pull, count, activity, bulk } = taken;
  const subject = subjectInWords(taken);
  if (key !== null) return oneLine(key, 40);
  if (pull !== null) return `${plural(count, 'job')}, pull ${pull}`;
  if (bulk !== null) return `${plural(count, 'posting')}, action ${bulk}`;
  if (activity !== null && count > 1) return plural(count, kind === 'program' ? 'feed' : 'posting');
  return subject?.words ?? '-';
}
