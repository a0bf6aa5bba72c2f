// The report on a feed as one page to mail: no scripts, nothing loaded from elsewhere, and every text of feed and site escaped.
import type { PostingReport, TrendPull } from '../../operations/report.ts';
import { textOf } from '../../plan/message.ts';
import type { PullSummary } from '../../store/status/pull-summary.ts';
import { POSTING_STATES, type ReportLine } from '../../store/status/report-lines.ts';
import { oneLine, terminalText } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import {
  countText,
  GONE_PARTS,
  headline,
  omittedLines,
  openingSentences,
  reasonText,
  SEEN_PARTS,
  type Section,
  STATES,
} from './report-words.ts';

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
  const rest = omittedLines(section);
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

// The style sheet of a report's page: light and dark, on wide and narrow screens, and on paper.

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6676; --line: #dfe3e8; --ground: #f6f7f9; --card: #fff; --link: #0b5cad;
  --ok: #2f855a; --wait: #b7791f; --bad: #c53030; --other: #8793a3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa5b4; --line: #333c49; --ground: #14181e; --card: #1c222b;
  --link: #7ab8f5; --ok: #48a577; --wait: #d69e3c; --bad: #ef6b6b; --other: #76818f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 0 0 .4rem; font-size: 1.1rem; }
p { margin: .35rem 0; overflow-wrap: anywhere; max-width: 60rem; }
a { color: var(--link); }
.when, .rest, .none, section > p { color: var(--soft); }
section, .tiles > div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
section { margin-top: 1rem; padding: 1rem 1.15rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: .75rem; margin: 1.25rem 0 0; }
.tiles > div { display: flex; flex-direction: column-reverse; padding: .7rem 1rem; }
.tiles dt { color: var(--soft); font-size: .85rem; }
.tiles dd { margin: 0; font-size: 1.6rem; font-weight: 600; line-height: 1.2; font-variant-numeric: tabular-nums; }
nav { display: flex; flex-wrap: wrap; gap: .35rem 1rem; margin-top: 1rem; }
nav b, .count { font-variant-numeric: tabular-nums; }
.count { color: var(--soft); font-weight: 400; }
.beside { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: 0 1rem; }
table { border-collapse: collapse; }
th { text-align: left; font-weight: 600; }
th, td { padding: .3rem .75rem .3rem 0; vertical-align: top; }
thead th { white-space: nowrap; }
.list td { overflow-wrap: anywhere; min-width: 6.25rem; }
.list .key { min-width: 7.5rem; }
.list .n, .trend td { min-width: 0; }
.trend td:nth-child(3) { min-width: 8rem; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.sum { width: 100%; max-width: 26rem; }
.sum + .sum { margin-top: .6rem; }
.time { white-space: nowrap; }
.sum td:last-child { padding-right: 0; }
.sum tfoot tr:first-child > * { border-top: 1px solid var(--line); }
.list { width: 100%; margin-top: .4rem; }
thead .n { text-align: right; }
.list th { color: var(--soft); font-size: .85rem; font-weight: 400; }
.list tbody tr { border-top: 1px solid var(--line); }
.key, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .87em; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; max-width: 32rem; color: var(--soft); }
.bar { min-width: 9rem; width: 24%; white-space: nowrap; font-size: 0; padding: .6rem 0 0; }
i { display: inline-block; height: .75rem; }
i.ok { background: var(--ok); } i.wait { background: var(--wait); } i.bad { background: var(--bad); } i.other { background: var(--other); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .2rem 0; padding: 0; list-style: none; color: var(--soft); font-size: .85rem; }
.legend i { width: .75rem; margin-right: .4rem; vertical-align: -1px; }
@media (max-width: 44rem) {
  main { padding: 1rem .75rem 2rem; }
  section { padding: .85rem .8rem; }
  .list thead { display: none; }
  .list, .list tbody, .list tr, .list td { display: block; width: auto; }
  .list tbody tr { padding: .5rem 0; }
  .list td { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: .5rem; padding: .1rem 0; text-align: left; white-space: normal; }
  .list td::before { content: attr(data-label); color: var(--soft); font: .85rem/1.6 system-ui, sans-serif; }
  .list tbody .n { text-align: left; }
  .list td.bar { display: block; padding: .35rem 0; } .list td.bar::before { content: none; }
  .trend tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .1rem .5rem; }
  .list td, .list .key, .trend td:nth-child(3) { min-width: 0; }
  .trend td { display: block; } .trend td::before { display: block; }
  .trend td:nth-child(2) { grid-column: span 2; } .trend td:nth-child(3), .trend td.bar { grid-column: 1 / -1; }
}
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --line: #bbb; --ground: #fff; --card: #fff; --link: #000; --ok: #2f855a; --wait: #b7791f; --bad: #c53030; --other: #8793a3; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  section { border: 0; padding: 0; margin-top: 1.4rem; }
  tr { break-inside: avoid; }
  h2 { break-after: avoid; }
  i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
