// CSV that people exchange with review: lines for spreadsheets and programs, and tables of values to be replaced. The lines are not written by
// csv-stringify, because its guard against formulas changes values that begin with an apostrophe.
import { CsvError, parse } from 'csv-parse/sync';
import type { Fields } from '../posting/posting.ts';

export type ValueTable =
  | { readonly kind: 'table'; readonly values: Fields }
  | { readonly kind: 'unusable'; readonly message: string };

/** With `info`, the parser returns where each record ends. */
interface Line {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/**
 * Two columns: the value that an entry has, and its new value. A first line `old,new` is a heading. An empty new value removes the field.
 */
export function readValueTable(text: string): ValueTable {
  let lines: Line[];
  try {
    lines = parse(text, {
      bom: true,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as Line[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return unusable(error.message);
  }
  const values = new Map<string, string>();
  for (const [at, { record, info }] of lines.entries()) {
    const [old = '', to = ''] = record;
    if (record.length !== 2)
      return unusable(`line ${info.lines} has ${record.length} columns, not 2: the old and the new value`);
    if (at === 0 && old.toLowerCase() === 'old' && to.toLowerCase() === 'new') continue;
    const before = values.get(old);
    if (before !== undefined && before !== to) {
      return unusable(`line ${info.lines} replaces "${old}" with "${to}", and an earlier line with "${before}"`);
    }
    values.set(old, to);
  }
  if (values.size === 0) return unusable('it has no line with an old and a new value');
  return { kind: 'table', values: Object.fromEntries(values) };
}

const unusable = (message: string): ValueTable => ({ kind: 'unusable', message });

/** One line without its end. */
export const csvLine = (cells: readonly string[]): string => cells.map((cell) => csvCell(guardFormula(cell))).join(',');

/**
 * A cell that a spreadsheet would treat as a formula gets a leading apostrophe, and so does one that already has
 * apostrophes before such text: reading removes exactly one.
 */
const guardFormula = (text: string): string => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text);

/** The value of a cell as it was before it was written. */
export const unescapeFormula = (text: string): string => (/^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text);

/** RFC 4180, section 2. */
const csvCell = (text: string): string => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
