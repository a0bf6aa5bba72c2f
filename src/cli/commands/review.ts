// `jobmirror review`: groups the commands for everything that needs a person.
import { Command, Option } from 'commander';
import type { z } from 'zod';
import {
  type bulkOutput,
  continueReviewAction,
  listReviewActions,
  stopReviewAction,
} from '../../operations/bulk-actions.ts';
import { undoEdit } from '../../operations/postings.ts';
import {
  addReviewRule,
  describeDecision,
  endReviewRule,
  listReviewRules,
  noteReviewGroup,
  removeReviewNote,
  type ruleOutput,
} from '../../operations/rules.ts';
import { UserError } from '../../runtime/stop-signal.ts';
import { RULE_ACTIONS } from '../../store/review/rules.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { ACTOR, commandWriter, groupId, positiveNumber } from '../adapter/command-line.ts';
import {
  type GivenOptions,
  listCommand,
  printing,
  runSingle,
  singleCommand,
  withCommon,
} from '../adapter/operation-command.ts';
import { PRINTED_DECISIONS, runBulkCommand } from '../bulk-command.ts';
import { formatRows, type RowColumn } from '../output/table.ts';
import { reviewActivityCommand } from './activity.ts';
import { reviewDecisionCommands } from './review-bulk.ts';
import {
  ALL_FEEDS,
  ANYWAY_OPTIONS,
  addField,
  type EditValues,
  editOf,
  reviewEditCommand,
  tableOption,
  withOptionHint,
} from './review-edit.ts';
import { reviewGroupsCommand, reviewListCommand } from './review-list.ts';
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
      const byItself = open?.state === 'open' && open.unattended;
      const how = byItself
        ? `A running start continues action ${open.bulk} by itself; to continue it here`
        : 'To continue';
      const go = open && ['', `${how}: ${write(['review', 'continue', String(open.bulk)])}`];
      return [...formatRows(COLUMNS, items), ...waits, ...(go ?? [])];
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

const COLUMNS: readonly RowColumn<z.output<typeof bulkOutput>>[] = [
  { title: 'ACTION', align: 'right', cell: ({ bulk }) => String(bulk) },
  { title: 'KIND', cell: ({ action }) => action },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'BY', cell: ({ actor }) => actor },
  { title: 'STARTED', cell: (bulk) => formatTime(bulk.started_at) },
  { title: 'LAST PROGRESS', cell: (bulk) => formatTime(bulk.touched_at) },
  { title: 'ENTRIES', align: 'right', cell: ({ total }) => String(total) },
  { title: 'DONE', align: 'right', cell: ({ done }) => String(done) },
  { title: 'LEFT ALONE', align: 'right', cell: (bulk) => String(bulk.left_alone) },
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
        if (group !== undefined)
          throw new UserError('--remove takes no group and no text, only the number of the note');
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

// `jobmirror review rules`: what is done with new entries of groups without asking again.

function reviewRulesCommand(): Command {
  const rules = new Command('rules').description('list, add and end rules: what is done with new entries of groups');
  rules.addCommand(
    listCommand(listReviewRules, {
      name: 'list',
      description: 'list the rules in force, then those that were ended',
      noun: 'rules',
      shown: 100,
      view({ items }, { write }) {
        if (items.length === 0) return ['There are no rules.'];
        const inForce = items.find(({ ended_at }) => ended_at === null);
        const end = inForce && ['', `To end one: ${write(['review', 'rules', 'end', String(inForce.rule)])}`];
        return [...formatRows(RULE_COLUMNS, items), ...(end ?? [])];
      },
    }),
    { isDefault: true },
  );
  rules.addCommand(
    singleCommand(withOptionHint(addReviewRule), {
      name: 'add',
      extend: (command) =>
        command
          .argument('<group>', 'the group, see: review groups', groupId)
          .option(
            '--set <field=value...>',
            'edit: a site field and its text; an empty text removes the field',
            addField,
          )
          .option(
            '--set-map <field=file>',
            'edit: a site field and a CSV file with two columns, its old and its new text',
            tableOption,
          )
          .addOption(
            new Option('--do <action>', 'what else to do').choices(RULE_ACTIONS.filter((one) => one !== 'edit')),
          )
          .option('--reason <text>', 'why entries are discarded, for the audit')
          .option('--feed <feed>', 'only new entries of this feed')
          .option(...ANYWAY_OPTIONS)
          .option(...ALL_FEEDS),
      read: ([group], options) => decisionOf(String(group), options),
      view: (rule) => `Rule ${rule.rule} decides new entries of group ${rule.group}: ${describeDecision(rule)}.`,
    }),
  );
  rules.addCommand(
    singleCommand(endReviewRule, {
      name: 'end',
      arguments: ['id'],
      help: { id: 'number of the rule, see: review rules' },
      view: ({ rule, group }) => `Rule ${rule} has ended. New entries of group ${group} wait for a person again.`,
    }),
  );
  return rules;
}

async function decisionOf(group: string, options: GivenOptions): Promise<z.output<typeof addReviewRule.input>> {
  const edit = await editOf(options as EditValues);
  if ((edit === undefined) === (options.do === undefined)) {
    throw new UserError('say what to do: --set FIELD=VALUE, --set-map FIELD=FILE, or --do with another action');
  }
  if (options.reason !== undefined && options.do !== 'discard') {
    throw new UserError('--reason is only for --do discard');
  }
  const { feed, reason, anyway, allFeeds: all_feeds } = options;
  const said = { anyway, all_feeds };
  const action = edit === undefined ? { action: options.do, reason, ...said } : { action: 'edit', edit, ...said };
  const read = addReviewRule.input.safeParse(withoutUndefined({ ...action, group, feed }));
  if (read.success) return read.data;
  throw new UserError(read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '));
}

const withoutUndefined = (values: object): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

const RULE_COLUMNS: readonly RowColumn<z.output<typeof ruleOutput>>[] = [
  { title: 'RULE', align: 'right', cell: ({ rule }) => String(rule) },
  { title: 'GROUP', cell: ({ group }) => group },
  { title: 'FEED', cell: ({ feed }) => feed ?? 'all' },
  { title: 'BY', cell: ({ actor }) => actor },
  { title: 'SINCE', cell: (rule) => formatTime(rule.made_at) },
  { title: 'ENDED', cell: ({ ended_at: at }) => (at === null ? '-' : formatTime(at)) },
  { title: 'DONE', align: 'right', cell: ({ done }) => String(done) },
  { title: 'LEFT ALONE', align: 'right', cell: (rule) => String(rule.left_alone) },
  { title: 'DOES', cell: (rule) => oneLine(describeDecision(rule), 100) },
];
