// Writes mappings as lines of a CSV or JSON file, and reads such lines back, each checked separately.
import { CsvError, parse } from 'csv-parse/sync';
import type { Config } from '../../config/config.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { checkKey } from '../../posting/posting-key.ts';
import { readJobId } from '../../site/http/job-address.ts';
import type { MappingRow } from '../../store/mapping/find-jobs.ts';
import type { ImportLine } from '../../store/mapping/mapping-import.ts';
import { csvLine, unescapeFormula } from '../csv.ts';

/** The columns, in the order in which they are written. A file to be imported needs only the first three. */
const COLUMNS = ['feed', 'key', 'site_job_id', 'site_job_url', 'site', 'mapped_at'] as const;
const REQUIRED = COLUMNS.slice(0, 3);
type Cells = Readonly<Partial<Record<(typeof COLUMNS)[number], string>>>;

export type MappingFormat = 'csv' | 'jsonl';

/** The header line of a file; `undefined`: the format has none. */
export const headerLine = (format: MappingFormat): string | undefined =>
  format === 'csv' ? COLUMNS.join(',') : undefined;

export function mappingLine(row: MappingRow, format: MappingFormat): string {
  const cells = {
    feed: row.feed,
    key: row.key,
    site_job_id: row.siteJobId,
    site_job_url: row.url ?? null,
    site: row.site,
    mapped_at: row.since.toISOString(),
  };
  return format === 'jsonl' ? JSON.stringify(cells) : csvLine(COLUMNS.map((name) => cells[name] ?? ''));
}

/** Reads a file of either format: JSON lines if the first line starts with `{`. Empty lines are skipped but counted. */
export async function* readMappingLines(lines: AsyncIterable<string>, config: Config): AsyncGenerator<ImportLine> {
  let format: MappingFormat | undefined;
  let columns: readonly string[] | undefined;
  let isEmpty = true;
  for await (const block of blocksOf(lines)) {
    isEmpty = false;
    format ??= block[0]?.text.trimStart().startsWith('{') ? 'jsonl' : 'csv';
    const split = format === 'csv' ? splitCsv(block.map(({ text }) => text)) : undefined;
    for (const [at, { line, text }] of block.entries()) {
      try {
        if (split === undefined) yield judge(line, readJsonCells(text), config);
        else if (columns === undefined) columns = readHeader(split[at]);
        else yield judge(line, readCsvCells(split[at], columns), config);
      } catch (error) {
        if (!(error instanceof LineError)) throw error;
        yield { kind: 'problem', line, message: error.message };
        // Without a header, nothing else can be read.
        if (split !== undefined && columns === undefined) return;
      }
    }
  }
  if (isEmpty) yield { kind: 'problem', line: 1, message: 'the file is empty' };
}

/** Lines that are parsed together: for one line, a call of the CSV parser takes five times as long. */
const LINES_AT_ONCE = 200;

/** Numbers the lines and omits empty ones; a file of empty lines is one block without lines. */
async function* blocksOf(lines: AsyncIterable<string>): AsyncGenerator<readonly { line: number; text: string }[]> {
  let block: { line: number; text: string }[] = [];
  let line = 0;
  for await (const raw of lines) {
    line++;
    const text = line === 1 ? raw.replace(/^\uFEFF/, '') : raw;
    if (text.trim() !== '') block.push({ line, text });
    if (block.length < LINES_AT_ONCE) continue;
    yield block;
    block = [];
  }
  if (line > 0) yield block;
}

class LineError extends Error {}

function judge(line: number, cells: Cells, config: Config): ImportLine {
  const missing = REQUIRED.filter((name) => (cells[name] ?? '').trim() === '');
  if (missing.length > 0) throw new LineError(`${missing.join(' and ')} must not be empty`);
  const feed = config.feeds.get((cells.feed ?? '').trim() as FeedName);
  if (feed === undefined) {
    throw new LineError(`there is no feed ${cells.feed}; feeds: ${[...config.feeds.keys()].join(', ') || 'none'}`);
  }
  if (cells.site !== undefined && cells.site !== '' && cells.site !== feed.siteName) {
    throw new LineError(`feed ${feed.name} is mirrored into site ${feed.siteName}, not into ${cells.site}`);
  }
  const key = checkKey(cells.key ?? '');
  if (key.kind === 'no key') throw new LineError(`key: ${key.problems.map((problem) => problem.message).join('; ')}`);
  const siteJobId = readJobId(cells.site_job_id);
  if (siteJobId === undefined) throw new LineError(`"${cells.site_job_id?.slice(0, 60)}" can't be the ID of a job`);
  const url = cells.site_job_url === undefined || cells.site_job_url === '' ? undefined : cells.site_job_url;
  if (url !== undefined && !/^https?:\/\/[^\s\p{Cc}]+$/u.test(url)) {
    throw new LineError('site_job_url must begin with http:// or https://');
  }
  const since = readTime(cells.mapped_at ?? '');
  return { kind: 'mapping', line, feed: feed.name, site: feed.siteName, key: key.key, siteJobId, url, since };
}

/** ISO 8601 with all its parts, as written: the beginning of a time in a file that was cut is another time. */
const FULL_TIME = /^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/;

function readTime(text: string): Date | undefined {
  if (text === '') return undefined;
  // `Date` takes 30 February for 2 March.
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
  const time = new Date(text);
  if (FULL_TIME.test(text) && isDay && !Number.isNaN(time.getTime())) return time;
  throw new LineError(`mapped_at must be a time like 2026-03-20T10:00:00.000Z, not "${text.slice(0, 40)}"`);
}

function readHeader(cells: SplitLine): string[] {
  const names = refuseQuoting(cells).map((name) => name.trim());
  checkNames(names);
  const repeated = names.find((name, at) => names.indexOf(name) < at);
  if (repeated !== undefined) throw new LineError(`the first line names the column ${repeated} twice`);
  const missing = REQUIRED.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new LineError(`the first line must name the columns; ${missing.join(', ')} is missing`);
  return names;
}

function checkNames(names: readonly string[]): void {
  const unknown = names.filter((name) => !(COLUMNS as readonly string[]).includes(name));
  if (unknown.length > 0) throw new LineError(`unknown: ${shortened(unknown)}; known: ${COLUMNS.join(', ')}`);
}

/** The beginning is enough to recognise a file that does not hold mappings. */
function shortened(names: readonly string[]): string {
  const shown = names.slice(0, 6).map((name) => (name.length > 40 ? `${name.slice(0, 40)}…` : name));
  return [...shown, ...(names.length > shown.length ? [`${names.length - shown.length} more`] : [])].join(', ');
}

function readCsvCells(split: SplitLine, columns: readonly string[]): Cells {
  const cells = refuseQuoting(split);
  if (cells.length !== columns.length) {
    throw new LineError(`there are ${cells.length} cells, but the first line names ${columns.length} columns`);
  }
  return Object.fromEntries(columns.map((name, at) => [name, unescapeFormula(cells[at] ?? '')]));
}

/** The cells of a line; `undefined`: its quoting is invalid. */
type SplitLine = readonly string[] | undefined;

function refuseQuoting(cells: SplitLine): readonly string[] {
  if (cells === undefined) throw new LineError('invalid CSV quoting; quote like this: "a ""quoted"" word"');
  return cells;
}

/** Each line is one record, because our values never contain line breaks: an open quote spoils no other line. */
function splitCsv(lines: readonly string[]): SplitLine[] {
  const records = parseRecords(lines.join('\n'));
  if (records?.length === lines.length) return records;
  return lines.length === 1 ? [undefined] : lines.flatMap((line) => splitCsv([line]));
}

function parseRecords(text: string): string[][] | undefined {
  try {
    return parse(text, { record_delimiter: '\n', relax_column_count: true });
  } catch (error) {
    if (error instanceof CsvError) return undefined;
    throw error;
  }
}

function readJsonCells(text: string): Cells {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new LineError('this is not a JSON object');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new LineError('this is not a JSON object');
  }
  checkNames(Object.keys(value));
  const given = Object.entries(value).filter(([, cell]) => cell !== null);
  const odd = given.filter(([, cell]) => typeof cell !== 'string' && typeof cell !== 'number').map(([name]) => name);
  if (odd.length > 0) throw new LineError(`${odd.join(', ')} must be text`);
  return Object.fromEntries(given.map(([name, cell]) => [name, String(cell)]));
}
