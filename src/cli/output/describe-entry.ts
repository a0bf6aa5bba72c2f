// Formats one review entry for people: its problems, the desired fields, what the site has, and what was sent.
import type { z } from 'zod';
import type { entryOutput } from '../../operations/review.ts';
import type { Fields, Problem } from '../../posting/posting.ts';
import { terminalText } from '../../telemetry/terminal-text.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import { formatTable } from './table.ts';

type Entry = z.output<typeof entryOutput>;

const OPERATIONS = { create: 'to be created', update: 'to be updated', delete: 'to be deleted' } as const;

export function describeEntry(entry: Entry): string[] {
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

function describeLive({ site_job_id, site_job_url, site_job_since, sent_at }: Entry): string[] {
  if (site_job_id == null || site_job_since == null) {
    if (sent_at == null) return ['the site has no job for it'];
    return ['it is not known whether the site has a job for it: the response to its create is missing'];
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
    ...edits.map(({ field, value, source_value }) => {
      return `  ${field}: ${shown(value)} (the feed: ${shown(source_value ?? undefined)})`;
    }),
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
