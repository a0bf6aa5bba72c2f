// The report on a feed for a terminal: counts, trend, missing fields, reasons, and the first postings of each state.
import type { PostingReport, TrendPull } from '../../operations/report.ts';
import { textOf } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { csvLine } from '../../review/csv.ts';
import type { PullSummary } from '../../store/status/pull-summary.ts';
import { POSTING_STATES, type ReportLine } from '../../store/status/report-lines.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import {
  countText,
  fieldsOf,
  GONE_PARTS,
  omittedLines,
  openingSentences,
  reasonText,
  SEEN_PARTS,
  type Section,
  STATES,
} from './report-words.ts';
import { type Column, formatTable } from './table.ts';

export function reportText(report: PostingReport, sections: readonly Section[]): string[] {
  const { feed, site, at } = report;
  return [
    `Feed ${feed}${site === undefined ? '' : `, site ${site}`}, ${formatTime(at)}`,
    ...openingSentences(report),
    ...(report.last === undefined ? [] : sums(report.last.summary)),
    ...postingsNow(report),
    ...trendLines(report.trend),
    ...missingFields(report),
    ...reasonLines(report),
    ...sections.flatMap(sectionLines),
  ];
}

const heading = (text: string): string[] => ['', text];

function sums(summary: PullSummary): string[] {
  const rows = (total: 'seen' | 'gone', parts: readonly (readonly [keyof PullSummary, string])[]) => [
    [total === 'seen' ? 'records seen' : 'postings gone', String(summary[total])],
    ...parts.filter(([name]) => summary[name] !== 0).map(([name, words]) => [`  ${words}`, String(summary[name])]),
  ];
  return [
    ...heading('WHAT THE PULL SAW'),
    ...plainTable(
      [{ title: '' }, { title: '', align: 'right' }],
      [...rows('seen', SEEN_PARTS), ...(summary.complete ? rows('gone', GONE_PARTS) : [])],
    ),
  ];
}

function postingsNow({ counts }: PostingReport): string[] {
  const total = POSTING_STATES.reduce((sum, state) => sum + counts.lines[state], 0);
  return [
    ...heading('THE POSTINGS NOW'),
    ...plainTable(
      [{ title: '' }, { title: '', align: 'right' }],
      [
        ['postings', String(total)],
        ...POSTING_STATES.filter((state) => counts.lines[state] > 0).map((state) => [
          `  ${STATES[state].name}`,
          countText(state, counts),
        ]),
        ['jobs on the site', String(counts.onSite)],
      ],
    ),
  ];
}

/** A table without titles. */
const plainTable = (columns: readonly Column[], rows: readonly (readonly string[])[]): string[] =>
  formatTable(columns, rows).filter((line) => line !== '');

const TREND = [
  { title: 'PULL', align: 'right' },
  { title: 'STARTED' },
  { title: 'STATUS' },
  { title: 'SEEN', align: 'right' },
  { title: 'CREATED', align: 'right' },
  { title: 'UPDATED', align: 'right' },
  { title: 'DELETED', align: 'right' },
  { title: 'REJECTED', align: 'right' },
  { title: 'UNREADABLE', align: 'right' },
  { title: 'MESSAGE' },
] as const;

function trendLines(trend: readonly TrendPull[]): string[] {
  if (trend.length === 0) return [];
  const rows = trend.map(({ open, ...pull }) => {
    const counts =
      open === undefined
        ? ['-', '-', '-', '-', '-', '-']
        : [pull.seen, pull.created, pull.updated, pull.deleted, open.rejected, pull.unreadable].map(String);
    const why = open === undefined ? pull.notes.map((note) => oneLine(textOf(note))).join('; ') : '';
    return [String(pull.id), formatTime(pull.startedAt), pull.status.replace('_', ' '), ...counts, why];
  });
  return [...heading('RECENT PULLS'), ...formatTable(TREND, rows)];
}

function missingFields({ fields, postingsWithFields }: PostingReport): string[] {
  const missing = fields.filter((field) => field.missing > 0);
  if (missing.length === 0) return [];
  return [
    ...heading(`FIELDS WITHOUT A VALUE, OF ${postingsWithFields} POSTINGS`),
    ...formatTable(
      [{ title: 'FIELD' }, { title: 'MISSING', align: 'right' }, { title: '' }],
      missing.map(({ field, missing: n, required }) => [field, String(n), required ? 'required by the site' : '']),
    ),
  ];
}

const REASON_COLUMNS = [
  { title: 'COUNT', align: 'right' },
  { title: 'STATE' },
  { title: 'FIELD' },
  { title: 'EXAMPLE' },
  { title: 'REASON' },
] as const;

function reasonLines({ reasons }: PostingReport): string[] {
  if (reasons.length === 0) return [];
  return [
    ...heading('MOST FREQUENT REASONS (a posting can have several)'),
    ...formatTable(
      REASON_COLUMNS,
      reasons.map(({ state, field, message, count, example }) => [
        String(count),
        STATES[state].name,
        field ?? '-',
        example === undefined ? '-' : oneLine(example, 40),
        oneLine(message),
      ]),
    ),
  ];
}

function sectionLines(section: Section): string[] {
  if (section.total === 0) return [];
  const { state, lines, total } = section;
  const isRecord = lines.some(({ record }) => record !== undefined);
  const rest = omittedLines(section);
  return [
    ...heading(`${STATES[state].name.toUpperCase()}: ${total}`),
    STATES[state].meaning,
    ...formatTable(
      isRecord
        ? [{ title: 'RECORD', align: 'right' }, { title: 'KEY' }, { title: 'REASON' }, { title: 'BEGINS' }]
        : [{ title: 'KEY' }, { title: 'SINCE' }, { title: 'REASON' }, { title: 'URL' }],
      lines.map((line) => (isRecord ? recordRow(line) : postingRow(line))),
    ),
    ...(rest === '' ? [] : [`… ${rest}`]),
  ];
}

const keyOf = ({ key }: ReportLine): string => (key === undefined ? '-' : oneLine(key, 40));

const recordRow = (line: ReportLine): string[] => [
  line.record?.number === undefined ? '-' : String(line.record.number),
  keyOf(line),
  `${line.record?.discarded === true ? 'discarded: ' : ''}${oneLine(reasonText(line))}`,
  oneLine(line.record?.excerpt ?? '', 80),
];

const postingRow = (line: ReportLine): string[] => [
  keyOf(line),
  formatTime(line.since),
  oneLine(reasonText(line)),
  line.url ?? '-',
];

// The report on a feed as CSV: a line per posting and per entry of records.

const COLUMNS = [
  'feed',
  'key',
  'state',
  'site_job_id',
  'site_job_url',
  'since',
  'fields',
  'reason',
  'record_number',
  'records',
  'discarded',
  'excerpt',
];

export const reportHeader = csvLine(COLUMNS);

/** Longer texts make a table hard to read; the JSON report has all of them. */
const REASON_CHARS = 1_000;
const EXCERPT_CHARS = 300;

export function reportRow(feed: FeedName, line: ReportLine): string {
  const { state, key, siteJobId, url, since, record } = line;
  return csvLine([
    feed,
    key ?? '',
    state,
    siteJobId ?? '',
    url ?? '',
    since.toISOString(),
    fieldsOf(line),
    oneLine(reasonText(line), REASON_CHARS),
    record?.number === undefined ? '' : String(record.number),
    record === undefined ? '' : String(record.count),
    record === undefined ? String(state === 'discarded') : String(record.discarded),
    record === undefined ? '' : oneLine(record.excerpt, EXCERPT_CHARS),
  ]);
}
