// `jobmirror pulls`: lists the newest pulls with their counts.
import type { Command } from 'commander';
import { type ShownPull, showPulls } from '../../operations/pulls.ts';
import { formatBytes, oneLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { listCommand } from '../adapter/operation-command.ts';
import { pullStatus } from '../output/describe-status.ts';
import { formatTable } from '../output/table.ts';

export const pullsCommand = (): Command =>
  listCommand(showPulls, {
    name: 'pulls',
    arguments: ['feed'],
    help: { feed: 'only of this feed' },
    noun: 'pulls',
    shown: 20,
    after: {
      flag: '--before <n>',
      help: 'only what is older than this pull',
      place: (before) => ({ before }),
    },
    view: ({ items }) =>
      items.length === 0 ? ['Nothing has been pulled yet.'] : formatTable(COLUMNS, items.map(rowOf)),
  });

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

const rowOf = (pull: ShownPull): string[] => [
  String(pull.pull),
  pull.feed,
  formatTime(pull.started_at),
  pullStatus(pull),
  String(pull.seen),
  String(pull.unchanged),
  String(pull.created),
  String(pull.updated),
  String(pull.deleted),
  String(pull.requests),
  formatBytes(pull.bytes),
  pull.duration_ms === null ? '-' : (pull.duration_ms / 1000).toFixed(1),
  oneLine(
    [pull.message?.text, ...pull.shortfalls.map(({ text }) => text), pull.weak]
      .filter((text) => text != null)
      .join('; '),
  ),
];
