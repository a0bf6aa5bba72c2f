// `jobmirror review rules`: what is done with new entries of groups without asking again.
import { Command, Option } from 'commander';
import type { z } from 'zod';
import {
  addReviewRule,
  describeDecision,
  endReviewRule,
  listReviewRules,
  type ruleOutput,
} from '../../operations/rules.ts';
import { UserError } from '../../runtime/stop-signal.ts';
import { RULE_ACTIONS } from '../../store/review/rules.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { groupId } from '../adapter/command-line.ts';
import { type GivenOptions, listCommand, singleCommand } from '../adapter/operation-command.ts';
import { formatTable } from '../output/table.ts';
import { ALL_FEEDS, ANYWAY, addField, type EditValues, editOf, hinting, tableOption } from './review-edit.ts';

export function reviewRulesCommand(): Command {
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
        return [...formatTable(COLUMNS, items.map(rowOf)), ...(end ?? [])];
      },
    }),
    { isDefault: true },
  );
  rules.addCommand(
    singleCommand(hinting(addReviewRule), {
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
          .option(...ANYWAY)
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

const COLUMNS = [
  { title: 'RULE', align: 'right' },
  { title: 'GROUP' },
  { title: 'FEED' },
  { title: 'BY' },
  { title: 'SINCE' },
  { title: 'ENDED' },
  { title: 'DONE', align: 'right' },
  { title: 'LEFT ALONE', align: 'right' },
  { title: 'DOES' },
] as const;

const rowOf = (rule: z.output<typeof ruleOutput>): string[] => [
  String(rule.rule),
  rule.group,
  rule.feed ?? 'all',
  rule.actor,
  formatTime(rule.made_at),
  rule.ended_at === null ? '-' : formatTime(rule.ended_at),
  String(rule.done),
  String(rule.left_alone),
  oneLine(describeDecision(rule), 100),
];
