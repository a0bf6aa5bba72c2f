// Formats one review entry for people: its problems, the desired fields, what the site has, and what was sent.
import { messageOfReason } from '../../plan/desired-change.ts';
import type { Fields, Problem } from '../../posting/posting.ts';
import type { OpenChangeRow } from '../../store/change/open-change.ts';
import type { EditRow } from '../../store/change/override.ts';
import type { FailureRow, LiveJob } from '../../store/review/posting-history.ts';
import type { EntryDetails, RecordEntry } from '../../store/review/review-entry.ts';
import { terminalText } from '../../telemetry/terminal-text.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import type { WriteCommand } from '../command-line.ts';
import { say } from '../write-action.ts';
import { formatTable } from './table.ts';

export function describeEntry(entry: EntryDetails, escalated: boolean, write: WriteCommand): string[] {
  if (entry.kind === 'record') return describeRecord(entry.record);
  const { change, live, edits, record, failures } = entry;
  const desired = { create: 'to be created', update: 'to be updated', delete: 'to be deleted' }[change.operation];
  const before = change.discardedFrom === undefined ? '' : ` (it was ${change.discardedFrom})`;
  const state = `${escalated ? 'ESCALATED: ' : ''}${change.state.replace('_', ' ')}${before}`;
  return [
    `entry ${change.id}: ${state}, since ${formatTime(change.since)} (${formatSpan(change.ageMs)})`,
    `posting ${change.key} of feed ${change.feed}, site ${change.site}: ${desired}`,
    ...describeLive(live, change),
    ...(change.reason === undefined ? [] : [`reason: ${say(messageOfReason(change.reason), write)}`]),
    ...(change.reason?.note === undefined ? [] : [`last check for its job: ${change.reason.note}`]),
    ...describeProblems(change.reason?.problems ?? []),
    ...describeAttempt(change),
    ...describeFields(change.fields, live?.fields),
    ...describeEdits(edits),
    ...(record === undefined ? [] : ['', 'Its record, as the feed has it, begins:', ...indent(record)]),
    ...failures.flatMap(describeFailure),
  ];
}

function describeRecord(record: RecordEntry): string[] {
  const key = record.key === undefined ? 'without a usable key' : `with the key ${record.key}`;
  const what =
    record.records === 0 ? 'further records' : record.records === 1 ? 'a record' : `${record.records} records`;
  const discarded = record.discarded ? ', discarded' : '';
  return [
    `entry ${record.id}: ${record.kind}${discarded}, since ${formatTime(record.since)} (${formatSpan(record.ageMs)})`,
    `${what} of feed ${record.feed} ${key}, first seen by pull ${record.firstPull}`,
    ...describeProblems(record.problems),
    '',
    record.recordNumber === undefined
      ? 'The record begins:'
      : `The record, number ${record.recordNumber} of the feed, begins:`,
    ...indent(record.excerpt),
  ];
}

function describeLive(live: LiveJob | undefined, { attempt }: OpenChangeRow): string[] {
  if (live === undefined) {
    if (attempt === undefined) return ['the site has no job for it'];
    return ['it is not known whether the site has a job for it: the response to its create is missing'];
  }
  const url = live.url === undefined ? '' : `, ${live.url}`;
  return [`the site has job ${live.siteJobId}${url}, since ${formatTime(live.since)}`];
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

function describeAttempt({ attempt }: OpenChangeRow): string[] {
  if (attempt === undefined) return [];
  const sent = attempt.fields === undefined ? [] : describeFields(attempt.fields, undefined, 'Sent then:');
  return [`the ${attempt.operation} was sent at ${formatTime(attempt.startedAt)}`, ...sent];
}

/** The desired fields, with the site's value beside each that differs. */
function describeFields(desired: Fields | undefined, actual: Fields | undefined, title = 'Desired fields:'): string[] {
  const names = [...new Set([...Object.keys(desired ?? {}), ...Object.keys(actual ?? {})])];
  if (desired === undefined || names.length === 0) return [];
  const rows = names.map((name) => {
    const to = desired[name];
    const from = actual?.[name];
    const differs = actual !== undefined && from !== to ? `   (the site has: ${shown(from)})` : '';
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

function describeEdits(edits: readonly EditRow[]): string[] {
  if (edits.length === 0) return [];
  return [
    '',
    'Edits, each in effect until the feed changes its value:',
    ...edits.map(({ field, value, sourceValue }) => {
      return `  ${field}: ${shown(value)} (the feed: ${shown(sourceValue ?? undefined)})`;
    }),
  ];
}

function describeFailure({ at, operation, kind, request, response }: FailureRow): string[] {
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
