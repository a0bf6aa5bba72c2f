// `jobmirror review show`: all about one entry or one group, and the exact commands that can be run for it.
import { Command } from 'commander';
import { z } from 'zod';
import { comparedDoubtJson, comparedDoubtOutput, compareWith } from '../../operations/adoption.ts';
import { entryOutput, showEntry, shownGroupOutput, showReviewGroup } from '../../operations/review.ts';
import { describeDecision } from '../../operations/rules.ts';
import { effectOnState, needsSeen } from '../../plan/allowed.ts';
import { isOfFoundJob } from '../../plan/desired-change.ts';
import { plural } from '../../plan/message.ts';
import type { Fields, Problem } from '../../posting/posting.ts';
import {
  type DoubtCandidate,
  describeAbsent,
  fieldsBeside,
  LIKENESS_WORDS,
  MOST_COMPARED,
  noCandidateKnown,
  OWNED_BY_ANOTHER,
  type ShownCandidate,
  type ShownDoubt,
} from '../../review/compare-doubt.ts';
import type { App } from '../../runtime/app.ts';
import { ExitStatus, UserError } from '../../runtime/stop-signal.ts';
import type { SelectedAction } from '../../store/review/bulk-actions.ts';
import { oneLine, printJson, printLines, terminalText } from '../../telemetry/print.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import { type CommonOptions, commandWriter, entryNumber, groupId, type WriteCommand } from '../adapter/command-line.ts';
import { printing, runSingle, withCommon } from '../adapter/operation-command.ts';
import { withApp } from '../adapter/with-app.ts';
import { actionLine, writeAction } from '../adapter/write-action.ts';
import { siteJobIdOf } from '../ask-first.ts';
import { formatTable } from '../output/table.ts';

interface ShowOptions extends CommonOptions {
  /** The jobs to compare with; none: those that it may have made. */
  readonly job?: readonly string[];
  readonly group?: string;
  readonly candidates?: boolean;
}

const commands = z.array(z.string()).describe('What can be done about it, as commands.');
const printedEntry = entryOutput
  .extend({ commands })
  .describe('Of an entry; what a record or a change does not have is absent:');
const printedGroup = shownGroupOutput
  .extend({
    mark: z.string().optional().describe('For `--mark`, if the group can be approved or sent again as a whole.'),
    answer_first: z
      .array(z.string())
      .optional()
      .describe('Commands that answer the question which has to be answered before; absent if there is none.'),
    commands,
  })
  .describe('Of a group:');

export const reviewShowCommand = (): Command =>
  withCommon(
    printing(new Command('show'), printedEntry, printedGroup)
      .description('show all about one entry or one group, and what can be done about it')
      .argument('[id]', 'number of the entry', entryNumber)
      .option('--group <group>', 'the group, see: review groups', groupId)
      .option(
        '--candidates',
        'of a create in doubt: compare it with the jobs that it may have made, read from the site',
      )
      .option(
        '--job <job id>',
        'of a create in doubt: compare it with this job of the site, may be given several times',
        (job: string, before: readonly string[] = []) => [...before, job],
      ),
    'print one JSON object',
  ).action(async (id: number | undefined, options: ShowOptions) => {
    const { group } = options;
    const compares = options.candidates === true || options.job !== undefined;
    if ((id === undefined) === (group === undefined))
      throw new UserError('name one entry by its number, or one group: --group GROUP');
    if (compares && id === undefined) throw new UserError('--candidates and --job are for one entry: name its number');
    if (options.candidates === true && options.job !== undefined)
      throw new UserError('say --candidates, or --job for each job to compare with');
    if (id === undefined) return showGroup(group ?? '', options);
    if (!compares) return showOne(id, options);
    return withApp(options, async (app) => {
      process.exitCode = await compareJobs(app, id, options);
    });
  });

const showOne = (id: number, options: ShowOptions): Promise<void> =>
  runSingle(
    showEntry,
    { id },
    {
      async follow(entry) {
        const write = commandWriter(options.config);
        const actions = entry.actions as Parameters<typeof actionLine>[0][];
        if (options.json === true) {
          const written = actions.map((action) => writeAction(action, write));
          return printJson(z.encode(printedEntry, { ...entry, commands: written }));
        }
        const lines = actions.map((action) => actionLine(action, write));
        return printLines([...describeEntry(entry), ...(lines.length === 0 ? [] : ['', 'Possible:', ...lines])]);
      },
    },
    { ...options },
  );

const showGroup = (group: string, options: ShowOptions): Promise<void> =>
  runSingle(
    showReviewGroup,
    { group },
    {
      async follow(shown) {
        const write = commandWriter(options.config);
        if (options.json !== true) return printLines(describeGroup(shown, write));
        const bound = shown.offers.find(({ action, seen }) => needsSeen(action) && seen !== null);
        const asked = shown.in_question.map((feed) => write(['feeds', 'rekey', feed]));
        const printed = {
          ...shown,
          ...(bound?.seen == null ? {} : { mark: bound.seen }),
          ...(asked.length === 0 ? {} : { answer_first: asked }),
          commands: groupCommands(shown, write).map(([command]) => command),
        };
        return printJson(z.encode(printedGroup, printed));
      },
    },
    { ...options },
  );

/** Shows a create in doubt beside jobs of its site. Returns the exit status: the site has to tell about each job. */
async function compareJobs(app: App, id: number, options: ShowOptions): Promise<ExitStatus> {
  const named = [...new Set((options.job ?? []).map(siteJobIdOf))];
  if (named.length > MOST_COMPARED) throw new UserError(`at most ${MOST_COMPARED} jobs can be compared at once`);
  const { doubt, candidates } = await compareWith(app, id, named);
  if (options.json === true) await printJson(z.encode(comparedDoubtOutput, comparedDoubtJson(doubt, candidates)));
  else await printLines(describeComparedDoubt(doubt, candidates, commandWriter(options.config)));
  return candidates.some(({ kind }) => kind === 'unchecked') ? ExitStatus.failed : ExitStatus.done;
}

// Formats one review entry for people: its problems, the desired fields, what the site has, and what was sent.

type Entry = z.output<typeof entryOutput>;

const OPERATIONS = { create: 'to be created', update: 'to be updated', delete: 'to be deleted' } as const;

function describeEntry(entry: Entry): string[] {
  if (entry.operation === undefined) return describeRecord(entry);
  const before = entry.discarded_from === undefined ? '' : ` (it was ${entry.discarded_from})`;
  const state = `${entry.escalated === true ? 'ESCALATED: ' : ''}${entry.kind.replace('_', ' ')}${before}`;
  const { reason, note, record } = entry;
  return [
    `entry ${entry.id}: ${state}, since ${waits(entry)}`,
    `posting ${entry.key} of feed ${entry.feed}, site ${entry.site}: ${OPERATIONS[entry.operation]}`,
    ...describeLive(entry),
    ...(reason == null ? [] : [`reason: ${reason}`]),
    ...(note == null ? [] : [`last check for its job: ${note}`]),
    ...describeProblems(entry.problems),
    ...describeAttempt(entry),
    ...describeFields(entry.desired_fields, entry.site_fields),
    ...describeEdits(entry.edits ?? []),
    ...(record == null ? [] : ['', 'Its record, as the feed has it, begins:', ...indent(record)]),
    ...(entry.failures ?? []).flatMap(describeFailure),
  ];
}

const waits = ({ since, age_seconds }: Entry): string => `${formatTime(since)} (${formatSpan(age_seconds * 1000)})`;

function describeRecord(record: Entry): string[] {
  const key = record.key === null ? 'without a usable key' : `with the key ${record.key}`;
  const what =
    record.records === 0 ? 'further records' : record.records === 1 ? 'a record' : `${record.records} records`;
  const discarded = record.discarded === true ? ', discarded' : '';
  return [
    `entry ${record.id}: ${record.kind}${discarded}, since ${waits(record)}`,
    `${what} of feed ${record.feed} ${key}, first seen by pull ${record.first_pull}`,
    ...describeProblems(record.problems),
    '',
    record.record_number == null
      ? 'The record begins:'
      : `The record, number ${record.record_number} of the feed, begins:`,
    ...indent(record.excerpt ?? ''),
  ];
}

function describeLive({ site_job_id, site_job_url, site_job_since, sent_at, kind }: Entry): string[] {
  if (site_job_id == null || site_job_since == null) {
    if (sent_at == null && kind !== 'in_doubt') return ['the site has no job for it'];
    const why = sent_at == null ? 'one was found that may be its own' : 'the response to its create is missing';
    return [`it is not known whether the site has a job for it: ${why}`];
  }
  const url = site_job_url == null ? '' : `, ${site_job_url}`;
  return [`the site has job ${site_job_id}${url}, since ${formatTime(site_job_since)}`];
}

function describeProblems(problems: readonly Problem[]): string[] {
  if (problems.length === 0) return [];
  return [
    '',
    'Problems:',
    ...problems.map(({ field, value, message }) => {
      const where = field === undefined ? '' : `${field}: `;
      const what = value === undefined ? '' : ` (it is ${JSON.stringify(value)})`;
      return `  ${where}${message}${what}`;
    }),
  ];
}

function describeAttempt({ sent_operation, sent_at, sent_fields }: Entry): string[] {
  if (sent_operation == null || sent_at == null) return [];
  const sent = sent_fields == null ? [] : describeFields(sent_fields, null, 'Sent then:');
  return [`the ${sent_operation} was sent at ${formatTime(sent_at)}`, ...sent];
}

type Given = Fields | null | undefined;

/** The desired fields, with the site's value beside each that differs. */
function describeFields(desired: Given, actual: Given, title = 'Desired fields:'): string[] {
  const names = [...new Set([...Object.keys(desired ?? {}), ...Object.keys(actual ?? {})])];
  if (desired == null || names.length === 0) return [];
  const rows = names.map((name) => {
    const to = desired[name];
    const from = actual?.[name];
    const differs = actual != null && from !== to ? `   (the site has: ${shown(from)})` : '';
    return [`  ${name}`, `${shown(to)}${differs}`];
  });
  return ['', title, ...formatTable([{ title: '' }, { title: '' }], rows, Number.POSITIVE_INFINITY).slice(1)];
}

const LONGEST_VALUE = 500;

function shown(value: string | undefined): string {
  if (value === undefined) return 'none';
  const text = terminalText(JSON.stringify(value));
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}… (${value.length} characters)` : text;
}

function describeEdits(edits: NonNullable<Entry['edits']>): string[] {
  if (edits.length === 0) return [];
  return [
    '',
    'Edits, each in effect until the feed changes its value:',
    ...edits.map(
      ({ field, value, source_value }) => `  ${field}: ${shown(value)} (the feed: ${shown(source_value ?? undefined)})`,
    ),
  ];
}

function describeFailure({ at, operation, kind, request, response }: NonNullable<Entry['failures']>[number]): string[] {
  return [
    '',
    `${formatTime(at)}: ${operation} failed: ${kind}`,
    ...(request === null ? [] : [`  ${request.method} ${request.url}`, ...indent(request.body ?? '')]),
    ...(response === null ? ['  no response'] : [`  response ${response.status}`, ...indent(response.body)]),
  ];
}

const indent = (text: string): string[] =>
  text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => `    ${line}`);

// Formats one review group for people: its values, feeds, an example, and the commands that decide all of its entries.

type Group = z.output<typeof shownGroupOutput>;

/** All of its entries are discarded. */
const isDiscarded = ({ waiting }: Group): boolean => waiting === 0;

const SHOWN_VALUES = 20;

function describeGroup(group: Group, write: WriteCommand): string[] {
  const { kind, field, count, values, feeds, sites, example } = group;
  const state = isDiscarded(group) ? 'discarded' : group.trend;
  const others = !isDiscarded(group) && group.discarded > 0 ? `, and ${group.discarded} discarded` : '';
  const more = group.value_count - Math.min(values.length, SHOWN_VALUES);
  const said = [
    ...group.rules.map(
      (rule) => `Rule ${rule.rule} of ${rule.actor} for new entries: ${oneLine(describeDecision(rule), 200)}`,
    ),
    ...group.notes.map(
      ({ note, actor, at, text }) => `Note ${note} of ${actor}, ${formatTime(at)}: ${oneLine(text, 2_000)}`,
    ),
  ];
  return [
    `group ${group.group}: ${count} ${kind.replace('_', ' ')} (${state})${others}, since ${formatTime(group.first_seen)}, newest ${formatTime(group.last_seen)}`,
    `${field === null ? '' : `${field}: `}${group.message}`,
    `feeds: ${feeds.map(({ feed, count: n }) => `${feed} (${n})`).join(', ')}; sites: ${sites.map(({ site, count: n }) => `${site} (${n})`).join(', ') || 'none'}`,
    ...(values.length === 0
      ? []
      : [
          '',
          'Values:',
          ...values.slice(0, SHOWN_VALUES).map(({ value, count: n }) => `  ${n}  ${JSON.stringify(value)}`),
        ]),
    ...(more > 0 ? [`  … and ${more} more (--json)`] : []),
    '',
    `Example: entry ${example.id}${example.key === null ? '' : `, posting ${example.key}`} of feed ${example.feed}: ${example.reason}`,
    ...(said.length === 0 ? [] : ['', ...said]),
    '',
    'Possible:',
    ...groupCommands(group, write).map(([command, effect]) => `  ${command}   (${effect})`),
    ...group.offers.flatMap(({ action, left_alone }) =>
      left_alone.map(
        ({ message, count: n }) => `Not possible for ${plural(n, 'entry', 'entries')}: ${action}, as ${message}`,
      ),
    ),
  ];
}

/** The commands that can be run for the group now, and the effect of each. */
function groupCommands(group: Group, write: WriteCommand): (readonly [command: string, effect: string])[] {
  const { group: id, kind, feeds, field } = group;
  const held = kind === 'held' ? feeds.map(({ feed }) => feed) : [];
  const review = ([verb = '', ...options]: readonly string[], bound: readonly string[], within = held) =>
    write(['review', verb, ...within, ...options, '--group', id, ...bound]);
  const first = group.in_question.map(
    (feed) =>
      [
        write(['feeds', 'rekey', feed]),
        'answers whether the keys of the feed have changed, before anything is decided',
      ] as const,
  );
  const list = isDiscarded(group) ? [] : [[review(['list'], []), 'lists the entries'] as const];
  const state = isDiscarded(group) ? 'discarded' : kind;
  const others = group.offers.flatMap(({ action, count, seen, by_feed }) => {
    // A value that is right for one feed may be wrong for another.
    if (action === 'edit' && by_feed.length > 1)
      return by_feed.flatMap(({ feed, count: n }) =>
        wordsFor(action, field ?? 'FIELD', effectOnState(action, state)?.many ?? '').map(
          ([words, does]) => [review(words, ['--count', String(n)], [feed]), does] as const,
        ),
      );
    if (count === 0 || (needsSeen(action) && seen === null)) return [];
    const bound = ['--count', String(count), ...(needsSeen(action) && seen !== null ? ['--mark', seen] : [])];
    const effect = effectOnState(action, state)?.many ?? '';
    return wordsFor(action, field ?? 'FIELD', effect).map(([words, does]) => [review(words, bound), does] as const);
  });
  return [...first, ...list, ...others];
}

/** The words of the commands without group, feed and count, and their effects. */
function wordsFor(
  action: SelectedAction,
  field: string,
  effect: string,
): (readonly [words: readonly string[], effect: string])[] {
  switch (action) {
    case 'edit':
      return [
        [['edit', '--set', `${field}=VALUE`], effect],
        [['edit', '--set-map', `${field}=FILE.csv`], 'replaces values by a table: old,new'],
      ];
    case 'check':
    case 'missing':
      return [[['settle', `--${action}`], effect]];
    default:
      return [[[action], effect]];
  }
}

// Formats a create in doubt beside the jobs that it may have made, field by field, and the commands that decide it.

const LONGEST_COMPARED_VALUE = 80;

function describeComparedDoubt(
  doubt: ShownDoubt,
  candidates: readonly DoubtCandidate[],
  write: WriteCommand,
): string[] {
  const { change, version, sent, startedAt, candidateIds } = doubt;
  const shown = candidates.filter((candidate) => candidate.kind === 'shown');
  const known = candidateIds.map((id) => `job ${id}`).join(', ');
  const resolve = (...words: readonly string[]) =>
    write(['review', 'settle', String(change.id), ...words, '--if-version', version]);
  const isFound = isOfFoundJob(change.reason);
  const [since, those, made, missing] = isFound
    ? ['in doubt since', 'may be its own', 'this is its job', 'none of them is: it gets a job of its own']
    : ['sent at', 'it may have made', 'the site made this job', 'the site made no job: send it again'];
  return [
    `entry ${change.id}: posting ${change.key} of feed ${change.feed}, site ${change.site}, ${since} ${formatTime(startedAt)}`,
    candidateIds.length === 0 ? noCandidateKnown(doubt) : `Jobs that ${those}: ${known}.`,
    ...candidates.flatMap((candidate) => (candidate.kind === 'shown' ? [] : [describeAbsent(candidate)])),
    ...(shown.length === 0 ? [] : ['', ...sideBySide(sent, shown)]),
    '',
    'Possible:',
    ...shown.map(({ siteJobId }) => `  ${resolve('--exists', siteJobId)}   (${made})`),
    // A job that jobmirror has not found may be there all the same.
    ...(shown.length > 0 ? [] : [`  ${resolve('--exists', 'JOBID')}   (${made})`]),
    `  ${write(['review', 'show', String(change.id), '--job', 'JOBID'])}   (compares a job that you found on the site)`,
    `  ${resolve('--missing')}   (${missing})`,
  ];
}

/** A value that differs from the sent one is marked. */
function sideBySide(sent: ShownDoubt['sent'], shown: readonly ShownCandidate[]): string[] {
  const columns = ['FIELD', 'SENT', ...shown.map(({ siteJobId }) => `JOB ${siteJobId}`)];
  const fact = (title: string, of: (candidate: ShownCandidate) => string) => [title, '', ...shown.map(of)];
  const rows = [
    fact('(compared)', ({ likeness, owned }) => `${LIKENESS_WORDS[likeness]}${owned ? `. ${OWNED_BY_ANOTHER}` : ''}`),
    fact('(url)', ({ url }) => url ?? '-'),
    ...fieldsBeside(sent, shown).map(({ name, sent: value, shown: values }) => [
      name,
      written(value),
      ...values.map((one) => `${one.differs ? '≠ ' : ''}${written(one.value)}`),
    ]),
  ];
  return formatTable(
    columns.map((title) => ({ title })),
    rows,
  );
}

const written = (value: string | undefined): string =>
  value === undefined ? '-' : oneLine(value, LONGEST_COMPARED_VALUE);
