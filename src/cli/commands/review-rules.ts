// `jobmirror review rules`: what is done with new entries of groups without asking again.
import { Command, Option } from 'commander';
import { describeDecision, ruleJson } from '../../review/read-model/rule.ts';
import { addRule, endRuleOf, type RuleEnd } from '../../review/rules/add-rule.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { type ListedRule, listRules, RULE_ACTIONS, type RuleAction } from '../../store/review/rules.ts';
import { oneLine, printJson, printLine, printLines } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { actorName } from '../actor.ts';
import { commandWriter } from '../command-line.ts';
import { addField, type EditValues, editOf, tableOption } from '../edit-values.ts';
import { knownFeed } from '../feed-name.ts';
import { groupId, positiveNumber } from '../option-values.ts';
import { formatTable } from '../output/table.ts';
import { withApp } from '../with-app.ts';

interface RuleOptions extends EditValues {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly limit?: number;
  readonly feed?: string;
  readonly do?: RuleAction;
  readonly reason?: string;
}

const SHOWN = 100;

export function reviewRulesCommand(): Command {
  const rules = new Command('rules').description('list, add and end rules: what is done with new entries of groups');
  for (const part of [listCommand(), addCommand(), endCommand()]) {
    rules.addCommand(
      part
        .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
        .exitOverride()
        .showHelpAfterError('(see --help)'),
      { isDefault: part.name() === 'list' },
    );
  }
  return rules;
}

function listCommand(): Command {
  return new Command('list')
    .description('list the rules in force, then those that were ended')
    .option('--limit <n>', `rules at most (default: ${SHOWN})`, positiveNumber)
    .option('--json', 'print one JSON object per rule')
    .action((options: RuleOptions) =>
      withApp(options, async ({ db }) => {
        const rules = await listRules(db, options.limit ?? SHOWN);
        if (options.json === true) {
          for (const rule of rules) await printJson(ruleJson(rule));
          return;
        }
        if (rules.length === 0) return printLine('There are no rules.');
        await printLines(formatTable(COLUMNS, rules.map(rowOf)));
        const inForce = rules.find(({ endedAt }) => endedAt === null);
        if (inForce === undefined) return;
        const write = commandWriter(options.config);
        await printLine(`\nTo end one: ${write(['review', 'rules', 'end', String(inForce.id)])}`);
      }),
    );
}

function addCommand(): Command {
  return new Command('add')
    .description('decide new entries of a group without being asked: each of them once, and none that waits now')
    .argument('<group>', 'the group, see: review groups', groupId)
    .option('--set <field=value...>', 'edit: a site field and its text; an empty text removes the field', addField)
    .option(
      '--set-map <field=file>',
      'edit: a site field and a CSV file with two columns, its old and its new text',
      tableOption,
    )
    .addOption(
      new Option('--do <action>', 'what else to do').choices(RULE_ACTIONS.filter((action) => action !== 'edit')),
    )
    .option('--reason <text>', 'why entries are discarded, for the audit')
    .option('--feed <feed>', 'only new entries of this feed')
    .option('--as <name>', 'who makes the rule, for the audit (default: the user of the operating system)')
    .option('--json', 'print one JSON object')
    .action((group: string, options: RuleOptions) =>
      withApp(options, async ({ db, config }) => {
        const edit = await editOf(options);
        if ((edit === undefined) === (options.do === undefined)) {
          throw new UserError('say what to do: --set FIELD=VALUE, --set-map FIELD=FILE, or --do with another action');
        }
        if (options.reason !== undefined && options.do !== 'discard') {
          throw new UserError('--reason is only for --do discard');
        }
        const feed = options.feed === undefined ? undefined : await knownFeed(db, config, options.feed);
        const detail = {
          ...(edit === undefined ? {} : { edit }),
          ...(options.reason === undefined ? {} : { reason: options.reason }),
        };
        const action = options.do ?? 'edit';
        const rule = done(await addRule(db, { group, feed, action, detail, actor: actorName(options.as) }));
        if (options.json === true) return printJson(ruleJson(rule));
        return printLine(`Rule ${rule.id} decides new entries of group ${group}: ${describeDecision(rule)}.`);
      }),
    );
}

function endCommand(): Command {
  return new Command('end')
    .description('end a rule; what it did stays')
    .argument('<rule>', 'number of the rule, see: review rules', positiveNumber)
    .option('--as <name>', 'who ends it, for the audit (default: the user of the operating system)')
    .option('--json', 'print one JSON object')
    .action((id: number, options: RuleOptions) =>
      withApp(options, async ({ db }) => {
        const rule = done(await endRuleOf(db, id, actorName(options.as)));
        if (options.json === true) return printJson(ruleJson(rule));
        return printLine(`Rule ${id} has ended. New entries of group ${rule.group} wait for a person again.`);
      }),
    );
}

function done(end: RuleEnd): ListedRule {
  if (end.kind === 'done') return end.rule;
  throw new UserError(end.message);
}

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

const rowOf = (rule: ListedRule): string[] => [
  String(rule.id),
  rule.group,
  rule.feed ?? 'all',
  rule.actor,
  formatTime(rule.madeAt),
  rule.endedAt === null ? '-' : formatTime(rule.endedAt),
  String(rule.done),
  String(rule.leftAlone),
  oneLine(describeDecision(rule), 100),
];
