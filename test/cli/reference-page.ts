// Generates docs/reference.md: each command with its arguments, options, JSON and exit statuses, each request of the API, and each metric.
import type { EventEmitter } from 'node:events';
import type { Argument, Command, Option } from 'commander';
import { printedBy } from '../../src/cli/adapter/operation-command.ts';
import { COMMANDS } from '../../src/cli/command-list.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { inputJsonSchema, type JsonSchema } from '../../src/config/validate.ts';
import { OPERATIONS } from '../../src/web/http-routes.ts';
import type { HttpOperation } from '../../src/web/read-request.ts';
import { allMetrics } from '../packaging/all-metrics.ts';
import { COMMAND_NOTES, EXIT_STATUS_NOTES } from './command-notes.ts';

const INTRODUCTION = `# Reference: commands, requests, metrics

<!-- Generated from src/cli and src/operations by \`UPDATE=1 npx vitest run test/cli/reference-page.test.ts\`. -->

Below are all commands, then all [requests of the HTTP API](#http-api) and all [metrics](#metrics). Each command prints its part with \`--help\`. In a clone of the repository, \`npm run --silent jobmirror --\` stands for
\`jobmirror\`. Results go to standard output, everything else to standard error. \`start\`, \`work\` and commands with \`--json\`
log JSON lines there unless it is a terminal; all other commands log plain text. With \`--json\`, each object is one line.

SIGINT, SIGTERM and SIGHUP end every command within 10 seconds, after the requests in flight; a second signal, half a second later or more, ends it at once. SIGHUP has \`start\`
and \`work\` read their configuration again instead, unless they run on a terminal.
The sandbox and the demo may take a minute to stop their own database on a slow disk. However a command ends, the next start
continues from the database.
`;

const EXIT_STATUS = `## Exit status

| status | meaning |
|---|---|
${statusRows(EXIT_STATUS_NOTES)}

Each feed fails independently. A feed with wrong settings, an unusable mapping or a missing source is reported as \`failed\`
(\`start\` logs it and continues), and the other feeds are mirrored. A mistake in the file as a whole, the database, the queue or
a site stops every command, except that \`pause\` only has to know where the database is. One in \`web\`, \`alerts\`, \`metrics\` or \`listen\`
stops commands that mirror, plan, check or restore; those that show or decide only warn.
`;

const httpApi = (): string => `## HTTP API

[http.md](http.md#the-api) says how to use it. Paths are below \`/api/v1\`. Answers are those of the commands with \`--json\`, and
stand with all their members in \`/openapi.json\`. A list also takes \`limit\` and \`cursor\`.

| request | scope | what it does | members; \`?\`: may be left out |
|---|---|---|---|
${OPERATIONS.map(requestRow).join('\n')}
`;

/** The text of the page. */
export async function referencePage(): Promise<string> {
  const commands = await allCommands();
  const list = [
    '## Commands',
    '',
    '| command | effect |',
    '|---|---|',
    ...commands
      .filter(({ words }) => words.length === 1)
      .map(({ words: [name = ''], command }) => `| ${linkTo([name])} | ${command.description()} |`),
    '',
  ].join('\n');
  return [INTRODUCTION, EXIT_STATUS, list, ...commands.map(sectionOf), httpApi(), await metricsSection()].join('\n');
}

interface NamedCommand {
  /** Without the name of the program. */
  readonly words: readonly string[];
  readonly command: Command;
}

/** Every command and subcommand, in the order of help. */
export async function allCommands(): Promise<readonly NamedCommand[]> {
  const named: NamedCommand[] = [];
  for (const { name } of COMMANDS) {
    const command = (await buildProgram([name])).commands.find((each) => each.name() === name);
    if (command === undefined) throw new Error(`the program has no command ${name}`);
    named.push(...withParts([name], command));
  }
  return named;
}

const withParts = (words: readonly string[], command: Command): NamedCommand[] => [
  { words, command },
  ...command.commands.flatMap((part) => withParts([...words, part.name()], part)),
];

function sectionOf({ words, command }: NamedCommand): string {
  const notes = COMMAND_NOTES[words.join(' ')];
  const level = words.length === 1 ? '##' : '###';
  const options = command.options.filter(({ hidden }) => !hidden);
  const about = notes?.json?.flatMap((object) => [
    object.about,
    '',
    ...tableOf('member', Object.entries(object.members).map(memberRow)),
  ]);
  const lines = [
    `${level} jobmirror ${words.join(' ')}`,
    '',
    `\`jobmirror ${words.join(' ')} ${command.usage()}\``,
    '',
    sentence(command.description()),
    '',
    ...tableOf(
      'command',
      command.commands.map((part) => `| ${linkTo([...words, part.name()])} | ${cell(part.description())} |`),
    ),
    ...tableOf('argument', command.registeredArguments.map(argumentRow)),
    ...tableOf('option', options.map(optionRow)),
    ...afterHelp(command),
    ...printedTables(command, about ?? []),
    ...(notes?.text ?? []).flatMap((text) => [text, '']),
    ...(notes?.exitStatus === undefined
      ? []
      : ['| exit status | meaning |', '|---|---|', statusRows(notes.exitStatus), '']),
  ];
  return lines.join('\n');
}

const tableOf = (first: string, rows: readonly string[]): string[] =>
  rows.length === 0 ? [] : [`| ${first} | meaning |`, '|---|---|', ...rows, ''];

/** What a member holds, in words. */
function kindOfValue({ enum: choices, const: only, anyOf, type, format, items }: JsonSchema): string {
  if (typeof only === 'string') return `\`${only}\``;
  if (Array.isArray(choices)) return choices.map((choice) => `\`${choice}\``).join(', ');
  if (Array.isArray(anyOf)) return anyOf.map((one: JsonSchema) => kindOfValue(one)).join(' or ');
  if (Array.isArray(type)) return type.map((one) => kindOfValue({ type: one, format, items })).join(' or ');
  if (type === 'string') return format === 'date-time' ? 'time' : 'text';
  if (type === 'array') return `list of ${kindOfValue((items ?? {}) as JsonSchema)}`;
  if (type === 'null') return '`null`';
  const words: Readonly<Record<string, string>> = { boolean: '`true` or `false`', integer: 'number', object: 'object' };
  return words[String(type)] ?? String(type ?? 'any');
}

/** What the command prints: each object by its schema, if it has one, then what else is noted. */
function printedTables(command: Command, notes: readonly string[]): string[] {
  const schemas = printedBy(command);
  const tables = schemas.flatMap((schema) => {
    const { properties, description } = inputJsonSchema(schema);
    const rows = (Object.entries(properties ?? {}) as [string, JsonSchema][]).map(
      ([name, member]) => `| \`${name}\` | ${kindOfValue(member)} | ${cell(String(member.description ?? ''))} |`,
    );
    const about = schemas.length > 1 && typeof description === 'string' ? [description, ''] : [];
    return [...about, '| member | value | meaning |', '|---|---|---|', ...rows, ''];
  });
  return tables.length + notes.length === 0 ? [] : ['**`--json`**', '', ...tables, ...notes];
}

async function metricsSection(): Promise<string> {
  const own = (await allMetrics()).filter(({ name }) => name.startsWith('jobmirror_'));
  const rows = own.map(
    ({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${cell(sentence(help))} |`,
  );
  return `## Metrics

[monitoring.md](monitoring.md#prometheus) says how to read them. Counters and histograms count what one process did; gauges but \`jobmirror_build_info\`
come from the database, so all processes show the same. The usual \`process_…\` and \`nodejs_…\` are beside them.

| metric | kind | labels | what |
|---|---|---|---|
${rows.join('\n')}
`;
}

function requestRow({ method, path, scope, summary, query, body }: HttpOperation): string {
  const {
    cursor: _cursor,
    limit: _limit,
    ...asked
  } = (inputJsonSchema(query).properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  const members =
    body === undefined ? formsOf({ ...inputJsonSchema(query), properties: asked }) : formsOf(inputJsonSchema(body));
  return `| \`${method.toUpperCase()} ${path}\` | \`${scope}\` | ${cell(sentence(summary))} | ${cell(members.join(' or '))} |`;
}

/** The members of each form that an object may have, with the value of those that tell the forms apart. */
function formsOf({ anyOf, oneOf, allOf, properties, required }: JsonSchema): readonly string[] {
  const forms = (anyOf ?? oneOf ?? allOf) as readonly JsonSchema[] | undefined;
  if (forms !== undefined) return forms.flatMap(formsOf);
  const needed = new Set(required as readonly string[] | undefined);
  const members = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>).map(
    ([name, { const: only }]) =>
      typeof only === 'string' ? `\`${name}: "${only}"\`` : `\`${name}${needed.has(name) ? '' : '?'}\``,
  );
  return members.length === 0 ? [] : [members.join(', ')];
}

const memberRow = ([names, meaning]: readonly [string, string]): string =>
  `| ${names
    .split(', ')
    .map((name) => `\`${name}\``)
    .join(', ')} | ${cell(meaning)} |`;

const argumentRow = (argument: Argument): string => {
  const name = argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
  return `| \`${name}\` | ${cell(argument.description)}${choicesOf(argument)} |`;
};

const optionRow = (option: Option): string =>
  `| \`${option.flags}\` | ${cell(option.description)}${choicesOf(option)}${defaultOf(option)} |`;

const choicesOf = ({ argChoices }: { readonly argChoices?: readonly string[] | undefined }): string =>
  argChoices === undefined ? '' : ` (${argChoices.map((choice) => `\`${choice}\``).join(', ')})`;

/** An option that only switches something off is on by default. */
function defaultOf({ defaultValue, negate }: Option): string {
  if (defaultValue === undefined || defaultValue === false || negate) return '';
  return ` (default: ${JSON.stringify(defaultValue)})`;
}

/** What a command prints after its options, as code. */
function afterHelp(command: Command): string[] {
  const written: string[] = [];
  // Commander's types do not say that a command is an emitter, which is how it adds text to its help.
  (command as unknown as EventEmitter).emit('afterHelp', {
    error: false,
    command,
    write: (text: string) => written.push(text),
  });
  const text = written.join('').trim();
  return text === '' ? [] : ['```', text, '```', ''];
}

function statusRows(statuses: Readonly<Partial<Record<0 | 1 | 2, string>>>): string {
  return Object.entries(statuses)
    .map(([status, meaning]) => `| ${status} | ${meaning} |`)
    .join('\n');
}

const linkTo = (words: readonly string[]): string =>
  `[\`${words.join(' ')}\`](#jobmirror-${words.join('-').toLowerCase()})`;

/** A bar ends a cell, and angle brackets are HTML outside of code. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/<(?=[a-z/])/gi, '\\<');

const sentence = (text: string): string =>
  text === '' ? '' : `${text[0]?.toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
