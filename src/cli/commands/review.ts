// `jobmirror review`: groups the commands for everything that needs a person.
import { Command } from 'commander';
import type { z } from 'zod';
import {
  type bulkOutput,
  continueReviewAction,
  listReviewActions,
  stopReviewAction,
} from '../../operations/bulk-actions.ts';
import { undoEdit } from '../../operations/postings.ts';
import { noteReviewGroup, removeReviewNote } from '../../operations/rules.ts';
import { UserError } from '../../runtime/stop-signal.ts';
import { formatTime } from '../../telemetry/times.ts';
import { commandWriter, groupId, positiveNumber } from '../adapter/command-line.ts';
import { ACTOR, listCommand, printing, runSingle, singleCommand, withCommon } from '../adapter/operation-command.ts';
import { PRINTED_DECISIONS, runBulkCommand } from '../bulk-command.ts';
import { formatTable } from '../output/table.ts';
import { reviewActivityCommand } from './review-activity.ts';
import { reviewDecisionCommands } from './review-bulk.ts';
import { reviewEditCommand } from './review-edit.ts';
import { reviewGroupsCommand, reviewListCommand } from './review-list.ts';
import { reviewRulesCommand } from './review-rules.ts';
import { reviewSettleCommand } from './review-settle.ts';
import { reviewShowCommand } from './review-show.ts';

export function reviewCommand(): Command {
  const review = new Command('review');
  const parts = [
    reviewGroupsCommand(),
    reviewListCommand(),
    reviewShowCommand(),
    reviewEditCommand(),
    reviewUndoEditCommand(),
    ...reviewDecisionCommands(),
    reviewSettleCommand(),
    reviewNoteCommand(),
    reviewRulesCommand(),
    reviewActionsCommand(),
    reviewContinueCommand(),
    reviewStopCommand(),
    reviewActivityCommand(),
  ];
  for (const part of parts) review.addCommand(part.exitOverride().showHelpAfterError('(see --help)'));
  return review;
}

// `jobmirror review actions`, `continue` and `stop`: actions on many entries that run or ran in batches.

const ID = { arguments: ['id'], help: { id: 'number of the action, see: review actions' } } as const;

const reviewActionsCommand = (): Command =>
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

const reviewContinueCommand = (): Command =>
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

const reviewStopCommand = (): Command =>
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

// `jobmirror review note`: adds a note to a group, for everybody who reviews, or removes one.

interface NoteOptions {
  readonly config?: string;
  readonly remove?: number;
}

function reviewNoteCommand(): Command {
  const command = new Command('note')
    .description('add a note to a group, or remove one')
    .argument('[group]', 'the group, see: review groups', groupId)
    .argument('[text]', 'the note')
    .option('--remove <note>', 'remove the note with this number, see: review show --group GROUP', positiveNumber)
    .option(...ACTOR);
  return withCommon(command, 'print one JSON object').action(
    async (group: string | undefined, text: string | undefined, options: NoteOptions) => {
      if (options.remove !== undefined) {
        const view = ({ note, group: of }: { note: number; group: string }) =>
          `Note ${note} of group ${of} is removed.`;
        return runSingle(removeReviewNote, { id: options.remove }, { view }, { ...options });
      }
      if (group === undefined || text === undefined) {
        throw new UserError('name a group and write the note: review note GROUP TEXT; or remove one: --remove NOTE');
      }
      const view = ({ note, group: of }: { note: number; group: string }) => `Note ${note} is added to group ${of}.`;
      return runSingle(noteReviewGroup, { group, text }, { view }, { ...options });
    },
  );
}

// `jobmirror review undo-edit`: undoes what a person has set in one posting.

const reviewUndoEditCommand = (): Command =>
  singleCommand(undoEdit, {
    name: 'undo-edit',
    description: 'undo edits of one posting; the next sync of its feed brings back what the source has',
    arguments: ['feed', 'key', 'fields'],
    flags: { version: 'if-version' },
    help: {
      feed: 'name of the feed',
      key: "the posting's key, exactly as in the feed",
      fields: 'site fields (default: all that were edited)',
      version: 'only if its edits are still as why --json printed them with this edits_version',
    },
    view: ({ feed, key, undone, message }) => `${feed}: ${key}: undone: ${undone.join(', ')}; ${message}`,
  });
