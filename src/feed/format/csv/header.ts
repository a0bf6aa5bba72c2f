// The header row of a table: its delimiter and names, and the form in which every record carries it.
import { DELIMITERS, type Delimiter } from '../format.ts';
import { parseRow } from './parse-row.ts';

/** A name of a column of which the header has none: its number, from 1. */
const nameOf = (cell: string, index: number): string => cell.trim() || String(index + 1);

export const namesOf = (cells: readonly string[]): string[] => cells.map(nameOf);

/**
 * The delimiter that occurs most often in a header row, outside quotes; the first of the usual ones if several do;
 * `undefined` if there is only one column.
 */
export function detectDelimiter(header: string): Delimiter | undefined {
  let best: { readonly delimiter: Delimiter; readonly columns: number } | undefined;
  for (const delimiter of DELIMITERS) {
    const row = parseRow(header, delimiter);
    const columns = row.kind === 'cells' && !row.hasBareQuote ? row.cells.length : 1;
    if (columns > (best?.columns ?? 1)) best = { delimiter, columns };
  }
  return best?.delimiter;
}

/**
 * The header that precedes the row in every record, so that a record can be read by itself. All names are in quotes, so
 * that the character after the first one is the delimiter.
 */
export const headerText = (names: readonly string[], delimiter: Delimiter): string =>
  `${names.map((name) => `"${name.replaceAll('"', '""')}"`).join(delimiter)}\n`;

/** The header of a record that {@link headerText} wrote. */
export interface RecordHeader {
  /** With its line break. */
  readonly text: string;
  readonly names: readonly string[];
  readonly delimiter: Delimiter;
}

/** Only one: nearly all records of a process's current batch have the same header. */
let last: RecordHeader | undefined;

/** `undefined` for text that does not begin with such a header. */
export function readHeader(record: string): RecordHeader | undefined {
  if (last !== undefined && record.startsWith(last.text)) return last;
  const header = /^"(?:[^"]|"")*"([,;\t|]"(?:[^"]|"")*")*\n/.exec(record)?.[0];
  if (header === undefined) return undefined;
  const delimiter = DELIMITERS.find((one) => one === /^"(?:[^"]|"")*"(.)/.exec(header)?.[1]) ?? ',';
  const row = parseRow(header.slice(0, -1), delimiter);
  if (row.kind === 'fault') return undefined;
  last = { text: header, names: row.cells, delimiter };
  return last;
}
