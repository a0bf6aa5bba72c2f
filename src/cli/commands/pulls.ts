// `jobmirror pulls`: lists the newest pulls with their counts.
import type { Command } from 'commander';
import { type ShownPull, showPulls } from '../../operations/pulls.ts';
import { formatBytes, oneLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { listCommand } from '../adapter/operation-command.ts';
import { pullStatus } from '../output/describe-status.ts';
import { formatRows, type RowColumn } from '../output/table.ts';

export const pullsCommand = (): Command =>
  listCommand(showPulls, {
    name: 'pulls',
    arguments: ['feed'],
    help: { feed: 'only of this feed' },
    noun: 'pulls',
    shown: 20,
    before: 'only what is older than this pull',
    view: ({ items }) => (items.length === 0 ? ['Nothing has been pulled yet.'] : formatRows(COLUMNS, items)),
  });

const COLUMNS: readonly RowColumn<ShownPull>[] = [
  { title: 'PULL', align: 'right', cell: ({ pull }) => String(pull) },
  { title: 'FEED', cell: ({ feed }) => feed },
  { title: 'STARTED', cell: (pull) => formatTime(pull.started_at) },
  { title: 'STATUS', cell: pullStatus },
  { title: 'SEEN', align: 'right', cell: ({ seen }) => String(seen) },
  { title: 'UNCHANGED', align: 'right', cell: ({ unchanged }) => String(unchanged) },
  { title: 'CREATED', align: 'right', cell: ({ created }) => String(created) },
  { title: 'UPDATED', align: 'right', cell: ({ updated }) => String(updated) },
  { title: 'DELETED', align: 'right', cell: ({ deleted }) => String(deleted) },
  { title: 'REQUESTS', align: 'right', cell: ({ requests }) => String(requests) },
  { title: 'BYTES', align: 'right', cell: ({ bytes }) => formatBytes(bytes) },
  { title: 'SECONDS', align: 'right', cell: ({ duration_ms: ms }) => (ms === null ? '-' : (ms / 1000).toFixed(1)) },
  {
    title: 'MESSAGE',
    cell: ({ message, shortfalls, weak }) =>
      oneLine([message?.text, ...shortfalls.map(({ text }) => text), weak].filter((text) => text != null).join('; ')),
  },
];
