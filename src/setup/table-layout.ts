// Finds the delimiter of a table, and the rows before its header: reports of programs begin with some.
import { DELIMITERS } from '../feed/format/format.ts';

const READ_ROWS = 60;
const SEPARATOR_LINE = /^"?sep=(.)"?\s*$/i;

/** The settings `csv` of a table; `undefined`: the header row tells everything. */
export function tableLayout(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  const all = bytes
    .toString('utf8', 0, 65_536)
    .replace(/^\ufeff/, '')
    .replaceAll(/"(?:[^"]|"")*"/g, '')
    .split(/\r\n|\n|\r/);
  const separator = SEPARATOR_LINE.exec(firstLineOf(bytes))?.[1];
  // The line with the separator is not one of the rows to skip.
  const rows = (separator === undefined ? all : all.slice(1)).slice(0, READ_ROWS);
  const delimiter = DELIMITERS.find((each) => each === separator) ?? bestDelimiter(rows);
  if (delimiter === undefined) return undefined;
  const counts = rows.map((row) => countOf(row, delimiter));
  const usual = usualOf(rows, delimiter);
  const header = counts.findIndex((count) => count >= Math.max(1, usual * 0.8));
  const inHeader = DELIMITERS.map((each) => countOf(rows[Math.max(0, header)] ?? '', each));
  const isTold =
    separator !== undefined || Math.max(...inHeader) === countOf(rows[Math.max(0, header)] ?? '', delimiter);
  const settings = {
    ...(isTold ? {} : { delimiter: delimiter === '\t' ? 'tab' : delimiter }),
    ...(header > 0 && usual > 1 ? { skip_rows: header } : {}),
  };
  return Object.keys(settings).length === 0 ? undefined : settings;
}

const firstLineOf = (bytes: Buffer): string =>
  bytes
    .toString('utf8', 0, 64)
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/, 1)[0] ?? '';

const countOf = (row: string, delimiter: string): number => row.split(delimiter).length - 1;

/** How often it occurs in most rows. Lists in cells must not count, so it is the same delimiter in all rows. */
function usualOf(rows: readonly string[], delimiter: string): number {
  const counts = rows.filter((row) => /[^\s,;|]/.test(row)).map((row) => countOf(row, delimiter));
  return counts.toSorted((a, b) => a - b)[Math.floor(counts.length / 2)] ?? 0;
}

/** The delimiter that occurs equally often in most rows; of several, the one with the most columns. */
function bestDelimiter(rows: readonly string[]): (typeof DELIMITERS)[number] | undefined {
  const filled = rows.filter((row) => /[^\s,;|]/.test(row));
  const rated = DELIMITERS.map((delimiter) => {
    const usual = usualOf(rows, delimiter);
    const equal = filled.filter((row) => countOf(row, delimiter) === usual).length / Math.max(1, filled.length);
    return { delimiter, usual, equal: Math.round(equal * 10) };
  }).filter(({ usual }) => usual > 0);
  return rated.sort((a, b) => b.equal - a.equal || b.usual - a.usual)[0]?.delimiter;
}
