// The report on a feed as one page to mail: no scripts, nothing loaded from elsewhere, and every text of feed and site escaped.

import type { PostingReport, TrendPull } from '../../../operations/report.ts';
import { textOf } from '../../../plan/message.ts';
import type { PullSummary } from '../../../store/status/pull-summary.ts';
import { POSTING_STATES, type ReportLine } from '../../../store/status/report-lines.ts';
import { oneLine } from '../../../telemetry/print.ts';
import { terminalText } from '../../../telemetry/terminal-text.ts';
import { formatTime } from '../../../telemetry/times.ts';
import { STYLE } from './style.ts';
import {
  countText,
  GONE_PARTS,
  headline,
  leftOut,
  openingSentences,
  reasonText,
  SEEN_PARTS,
  type Section,
  STATES,
} from './words.ts';

/** Even if a text got past the escaping, nothing would run or be loaded. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export function reportHtml(report: PostingReport, sections: readonly Section[]): string {
  const title = escapeHtml(`Feed ${report.feed}${report.site === undefined ? '' : ` on ${report.site}`}`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>${title}</h1>
<p class="when">Report of ${escapeHtml(formatTime(report.at))}</p>
${openingSentences(report)
  .map((text) => `<p>${escapeHtml(text)}</p>`)
  .join('\n')}
</header>
${tiles(report)}
${contents(sections)}
<div class="beside">${report.last === undefined ? '' : sums(report.last.summary)}${postingsNow(report)}</div>
${trendHtml(report.trend)}
${reasons(report)}
${fields(report)}
${sections.map(sectionHtml).join('\n')}
</main>
</body>
</html>
`;
}

const tiles = (report: PostingReport): string =>
  `<dl class="tiles">${headline(report)
    .map(([count, name]) => `<div><dt>${name}</dt><dd>${count}</dd></div>`)
    .join('')}</dl>`;

/** Links to the lists, which may be long. */
function contents(sections: readonly Section[]): string {
  const listed = sections.filter(({ total }) => total > 0);
  if (listed.length < 2) return '';
  return `<nav aria-label="Lists">${listed
    .map(({ state, total }) => `<a href="#${state}">${STATES[state].name} <b>${total}</b></a>`)
    .join('')}</nav>`;
}

function sums(summary: PullSummary): string {
  const rows = (parts: readonly (readonly [keyof PullSummary, string])[]) =>
    parts
      .filter(([name]) => summary[name] !== 0)
      .map(([name, words]) => `<tr><td>${words}</td><td class="n">${summary[name]}</td></tr>`)
      .join('');
  const block = (name: string, total: number, parts: readonly (readonly [keyof PullSummary, string])[]) =>
    `<table class="sum"><tbody>${rows(parts)}</tbody><tfoot><tr><th scope="row">${name}</th><td class="n">${total}</td></tr></tfoot></table>`;
  return `<section><h2>What the pull saw</h2>${block('records seen', summary.seen, SEEN_PARTS)}${
    summary.complete ? block('postings gone', summary.gone, GONE_PARTS) : ''
  }</section>`;
}

function postingsNow({ counts }: PostingReport): string {
  const total = POSTING_STATES.reduce((sum, state) => sum + counts.lines[state], 0);
  const rows = POSTING_STATES.filter((state) => counts.lines[state] > 0).map(
    (state) => `<tr><td>${STATES[state].name}</td><td class="n">${countText(state, counts)}</td></tr>`,
  );
  return `<section><h2>The postings now</h2><table class="sum"><tbody>${rows.join('')}</tbody><tfoot>
<tr><th scope="row">postings</th><td class="n">${total}</td></tr>
<tr><th scope="row">jobs on the site</th><td class="n">${counts.onSite}</td></tr></tfoot></table></section>`;
}

function reasons({ reasons: found }: PostingReport): string {
  if (found.length === 0) return '';
  const rows = found.map(({ state, field, message, count, example }) => [
    numberCell('count', count),
    cell('state', STATES[state].name),
    cell('field', field ?? ''),
    cell('reason', message),
    cell('example', example ?? '', 'key'),
  ]);
  return `<section><h2>Most frequent reasons</h2><p>A posting can have several.</p>${table(
    ['count', 'state', 'field', 'reason', 'example'],
    rows,
  )}</section>`;
}

function fields({ fields: found, postingsWithFields }: PostingReport): string {
  if (found.length === 0 || postingsWithFields === 0) return '';
  const rows = found.map(({ field, required, filled, missing }) => [
    cell('field', `${field}${required ? ' (required)' : ''}`),
    numberCell('with a value', filled),
    numberCell('without', missing),
  ]);
  return `<section><h2>Fields</h2><p>Of ${postingsWithFields} postings whose fields are known.</p>${table(
    ['field', 'with a value', 'without'],
    rows,
  )}</section>`;
}

function sectionHtml(section: Section): string {
  const { state, total, lines } = section;
  if (total === 0) return '';
  const rest = leftOut(section);
  const isRecord = lines.some(({ record }) => record !== undefined);
  const listed = isRecord
    ? table(['record', 'key', 'problem', 'begins with'], lines.map(recordCells))
    : table(['key', 'since', ...(state === 'live' ? [] : ['reason']), 'job'], lines.map(postingCells));
  return `<section id="${state}"><h2>${STATES[state].name[0]?.toUpperCase()}${STATES[state].name.slice(1)} <span class="count">${total}</span></h2>
<p>${escapeHtml(STATES[state].meaning)}</p>
${listed}${rest === '' ? '' : `<p class="rest">${escapeHtml(rest)}</p>`}</section>`;
}

const EXCERPT_CHARS = 400;

function recordCells(line: ReportLine): string[] {
  const { key, record } = line;
  const mark = record?.discarded === true ? 'Discarded by a person: ' : '';
  return [
    cell('record', record?.number === undefined ? '' : String(record.number)),
    cell('key', key ?? '', 'key'),
    cell('problem', `${mark}${reasonText(line)}`),
    `<td data-label="begins with"><pre>${escapeHtml(oneLine(record?.excerpt ?? '', EXCERPT_CHARS))}</pre></td>`,
  ];
}

function postingCells(line: ReportLine): string[] {
  const { key, since, url, siteJobId, state } = line;
  const name = siteJobId ?? url ?? '';
  return [
    cell('key', key ?? '', 'key'),
    timeCell('since', since),
    ...(state === 'live' ? [] : [cell('reason', reasonText(line))]),
    isLink(url)
      ? `<td data-label="job"><a href="${escapeHtml(url)}" rel="noreferrer">${escapeHtml(name)}</a></td>`
      : cell('job', name),
  ];
}

/** The site chose the address, so anything but a page is shown as text. */
const isLink = (url: string | undefined): url is string =>
  url !== undefined && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

// The recent pulls of a feed as a table with bars, drawn with plain elements: pictures and scripts get lost in mail.

const TITLES = [
  'pull',
  'started',
  'status',
  'seen',
  'created',
  'updated',
  'deleted',
  'rejected',
  'unreadable',
  '',
] as const;

const LEGEND = [
  ['ok', 'on the site'],
  ['wait', 'waiting'],
  ['bad', 'rejected or unreadable'],
  ['other', 'repeated or skipped'],
] as const;

function trendHtml(trend: readonly TrendPull[]): string {
  if (trend.length === 0) return '';
  const most = Math.max(1, ...trend.map(({ open, seen }) => (open === undefined ? 0 : seen)));
  const legend = LEGEND.map(([kind, words]) => `<li><i class="${kind}"></i>${words}</li>`).join('');
  return `<section><h2>Recent pulls</h2><ul class="legend">${legend}</ul>${table(
    TITLES,
    trend.map((pull) => trendCells(pull, most)),
    'trend',
  )}</section>`;
}

function trendCells({ open, ...pull }: TrendPull, most: number): string[] {
  const count = (label: string, value: number | undefined) =>
    `<td data-label="${label}" class="n">${open === undefined ? '–' : (value ?? 0)}</td>`;
  const why = [...pull.notes, ...pull.shortfalls].map(textOf).join('; ');
  const status = pull.status.replace('_', ' ');
  return [
    cell('pull', String(pull.id)),
    timeCell('started', pull.startedAt),
    cell('status', open === undefined && why !== '' ? `${status}: ${why}` : status),
    count('seen', pull.seen),
    count('created', pull.created),
    count('updated', pull.updated),
    count('deleted', pull.deleted),
    count('rejected', open?.rejected),
    count('unreadable', pull.unreadable),
    `<td class="bar" aria-hidden="true">${open === undefined ? '' : bar(pull, open, most)}</td>`,
  ];
}

function bar(
  pull: Pick<TrendPull, 'unchanged' | 'created' | 'updated' | 'duplicates' | 'unreadable' | 'skipped'>,
  open: NonNullable<TrendPull['open']>,
  most: number,
): string {
  const parts = {
    ok: pull.unchanged + pull.created + pull.updated,
    wait: open.pending + open.in_doubt,
    bad: open.rejected + open.failed + pull.unreadable,
    other: pull.duplicates + pull.skipped,
  };
  return LEGEND.filter(([kind]) => parts[kind] > 0)
    .map(([kind]) => `<i class="${kind}" style="width:${((parts[kind] / most) * 100).toFixed(2)}%"></i>`)
    .join('');
}

// Escaped text and table cells for the page of a report.

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For text and for quoted attributes. Characters that control the direction of text or are invisible are shown as escapes. */
const escapeHtml = (text: string): string =>
  terminalText(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** @param label the column's title, which a narrow screen shows in front of the text. */
const cell = (label: string, text: string, kind?: 'key' | 'time'): string =>
  `<td data-label="${label}"${kind === undefined ? '' : ` class="${kind}"`}>${text === '' ? '<span class="none">–</span>' : `<bdi>${escapeHtml(text)}</bdi>`}</td>`;

const numberCell = (label: string, count: number): string => `<td data-label="${label}" class="n">${count}</td>`;

/** Titles of columns of numbers are aligned as their cells are. */
function table(titles: readonly string[], rows: readonly (readonly string[])[], kind?: 'trend'): string {
  const isNumber = (column: number) => rows[0]?.[column]?.includes(' class="n"') === true;
  const head = titles.map((title, at) => `<th scope="col"${isNumber(at) ? ' class="n"' : ''}>${title}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.join('')}</tr>`).join('\n');
  return `<table class="list${kind === undefined ? '' : ` ${kind}`}"><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table>`;
}

/** Without seconds, on one line. */
const timeCell = (label: string, time: Date): string => cell(label, formatTime(time).replace(/:\d\d(?= )/, ''), 'time');
