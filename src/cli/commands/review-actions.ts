// `jobmirror review actions`, `continue` and `stop`: actions on many entries that run or ran in batches.
import type { Command } from 'commander';
import type { z } from 'zod';
import {
  type bulkOutput,
  continueReviewAction,
  listReviewActions,
  stopReviewAction,
} from '../../operations/bulk-actions.ts';
import { formatTime } from '../../telemetry/times.ts';
import { commandWriter } from '../adapter/command-line.ts';
import { listCommand, printing, singleCommand } from '../adapter/operation-command.ts';
import { formatTable } from '../output/table.ts';
import { PRINTED_DECISIONS, runBulkCommand } from '../review/run-bulk-command.ts';

const ID = { arguments: ['id'], help: { id: 'number of the action, see: review actions' } } as const;

export const reviewActionsCommand = (): Command =>
  listCommand(listReviewActions, {
    name: 'actions',
    description: 'list the actions on many entries, with their progress, the newest first',
    noun: 'actions',
    shown: 20,
    view({ items }, { write }) {
      if (items.length === 0) return ['There are no actions on many entries.'];
      const waits = items.flatMap(({ bulk, waits_for }) => (waits_for === null ? [] : [`${bulk} waits: ${waits_for}`]));
      const open = items.find(({ state }) => state !== 'done');
      const go = open && ['', `To continue: ${write(['review', 'continue', String(open.bulk)])}`];
      return [...formatTable(COLUMNS, items.map(rowOf)), ...waits, ...(go ?? [])];
    },
  });

export const reviewContinueCommand = (): Command =>
  singleCommand(continueReviewAction, {
    name: 'continue',
    description: 'continue an action on many entries that was stopped or interrupted',
    ...ID,
    json: 'print one JSON object per feed, and one for the action',
    extend: (command) =>
      printing(command, ...PRINTED_DECISIONS).option(
        '--no-send',
        'leave the sending to a running worker or to the next sync',
      ),
    async follow({ bulk }, app, { config, json, send }, signal) {
      const write = commandWriter(config);
      process.exitCode = await runBulkCommand(app, bulk, { json: json === true, send: send !== false, write, signal });
    },
  });

export const reviewStopCommand = (): Command =>
  singleCommand(stopReviewAction, {
    name: 'stop',
    description: 'stop an action on many entries after its present batch; what it did stays',
    ...ID,
    view: ({ done, left_alone, total }) => `Stopped: ${done + left_alone} of ${total} entries are done.`,
  });

const COLUMNS = [
  { title: 'ACTION', align: 'right' },
  { title: 'KIND' },
  { title: 'STATE' },
  { title: 'BY' },
  { title: 'STARTED' },
  { title: 'LAST PROGRESS' },
  { title: 'ENTRIES', align: 'right' },
  { title: 'DONE', align: 'right' },
  { title: 'LEFT ALONE', align: 'right' },
] as const;

const rowOf = (bulk: z.output<typeof bulkOutput>): string[] => [
  String(bulk.bulk),
  bulk.action,
  bulk.state,
  bulk.actor,
  formatTime(bulk.started_at),
  formatTime(bulk.touched_at),
  String(bulk.total),
  String(bulk.done),
  String(bulk.left_alone),
];
