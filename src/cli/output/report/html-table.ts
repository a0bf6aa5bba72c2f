// Escaped text and table cells for the page of a report.
import { terminalText } from '../../../telemetry/terminal-text.ts';
import { formatTime } from '../../../telemetry/times.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For text and for quoted attributes. Characters that control the direction of text or are invisible are shown as escapes. */
export const escapeHtml = (text: string): string =>
  terminalText(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** @param label the column's title, which a narrow screen shows in front of the text. */
export const cell = (label: string, text: string, kind?: 'key' | 'time'): string =>
  `<td data-label="${label}"${kind === undefined ? '' : ` class="${kind}"`}>${text === '' ? '<span class="none">–</span>' : `<bdi>${escapeHtml(text)}</bdi>`}</td>`;

export const numberCell = (label: string, count: number): string => `<td data-label="${label}" class="n">${count}</td>`;

/** Titles of columns of numbers are aligned as their cells are. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[], kind?: 'trend'): string {
  const isNumber = (column: number) => rows[0]?.[column]?.includes(' class="n"') === true;
  const head = titles.map((title, at) => `<th scope="col"${isNumber(at) ? ' class="n"' : ''}>${title}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.join('')}</tr>`).join('\n');
  return `<table class="list${kind === undefined ? '' : ` ${kind}`}"><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table>`;
}

/** Without seconds, on one line. */
export const timeCell = (label: string, time: Date): string =>
  cell(label, formatTime(time).replace(/:\d\d(?= )/, ''), 'time');
