// The rows of a table as texts: the cells of a row, the header with its delimiter and names, and the tree of a record.
import type { RecordTree } from '../../../posting/posting.ts';
import { DELIMITERS, type Delimiter } from '../format.ts';

type ParsedRow =
  /** `repairs`: quotes inside quotes that were taken for text. `inner`: how many cells a row has that may begin in such a cell. */
  | {
      readonly kind: 'cells';
      readonly cells: string[];
      readonly repairs: number;
      readonly hasBareQuote: boolean;
      readonly inner: readonly number[];
    }
  /** @see RowEnd `at`: characters from the start of the row. */
  | { readonly kind: 'fault'; readonly at: number; readonly message: string };

/** @param text without the line end. @param lenient take a quote that does not end its cell for text. */
export function parseRow(text: string, delimiter: Delimiter, lenient = false): ParsedRow {
  const cells: string[] = [];
  let repairs = 0;
  let hasBareQuote = false;
  /** Of each row that may begin in a cell: how many more cells precede that cell's end there than here. */
  const shifts = new Set<number>();
  for (let at = 0; ; at++) {
    if (text[at] !== '"') {
      const end = endOfPlain(text, at, delimiter);
      const cell = text.slice(at, end);
      hasBareQuote ||= cell.includes('"');
      cells.push(cell);
      at = end;
    } else {
      const quoted = parseQuoted(text, at, delimiter, lenient);
      if (quoted.kind === 'fault') return quoted;
      if (quoted.repairs > 0) {
        for (const before of cellsBefore(text.slice(at + 1, quoted.end - 1), delimiter))
          shifts.add(before - cells.length);
      }
      cells.push(quoted.text);
      repairs += quoted.repairs;
      at = quoted.end;
    }
    if (at === text.length) {
      return { kind: 'cells', cells, repairs, hasBareQuote, inner: [...shifts].map((shift) => cells.length + shift) };
    }
  }
}

function endOfPlain(text: string, at: number, delimiter: Delimiter): number {
  const end = text.indexOf(delimiter, at);
  return end < 0 ? text.length : end;
}

/**
 * If a cell in quotes does not end, the quote with which a later row begins a cell seems to be one inside quotes. For each line
 * in the cell that may be the beginning of such a row: how many cells precede that quote.
 */
function cellsBefore(content: string, delimiter: Delimiter): number[] {
  const [, ...lines] = content.split(/\r\n|\r|\n/);
  return lines.flatMap((line) => {
    let quote = line.indexOf('"');
    while (quote >= 0 && line[quote + 1] === '"') quote = line.indexOf('"', quote + 2);
    if (quote < 0) return [];
    while (line[quote - 1] === '"') quote--;
    const before = line.slice(0, quote);
    if (before !== '' && !before.endsWith(delimiter)) return [];
    const row = parseRow(before, delimiter);
    return row.kind === 'cells' && !row.hasBareQuote ? [row.cells.length - 1] : [];
  });
}

type Quoted =
  | { readonly kind: 'quoted'; readonly text: string; readonly end: number; readonly repairs: number }
  | Extract<ParsedRow, { kind: 'fault' }>;

/** @param start the opening quote. */
function parseQuoted(row: string, start: number, delimiter: Delimiter, lenient: boolean): Quoted {
  let text = '';
  let repairs = 0;
  let from = start + 1;
  for (;;) {
    const quote = row.indexOf('"', from);
    if (quote < 0) return { kind: 'fault', at: start, message: 'a cell in quotes does not end' };
    const next = row[quote + 1];
    if (next === undefined || next === delimiter) {
      return { kind: 'quoted', text: text + row.slice(from, quote), end: quote + 1, repairs };
    }
    text += row.slice(from, quote + 1);
    from = quote + 1;
    if (next === '"') from++;
    else if (lenient) repairs++;
    else return { kind: 'fault', at: quote, message: 'a quote inside quotes is not doubled' };
  }
}

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
interface RecordHeader {
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

/** Name of a column → its cell; the list of the cells of all columns with that name. Missing cells are empty. */
export function treeOf(names: readonly string[], cells: readonly string[]): RecordTree {
  // Names come from the feed, so the object has no prototype: `__proto__` and `constructor` are ordinary names.
  const tree: { [name: string]: string | string[] } = Object.create(null);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const cell = cells[index] ?? '';
    const before = tree[name];
    if (before === undefined) tree[name] = cell;
    else if (typeof before === 'string') tree[name] = [before, cell];
    else before.push(cell);
  }
  return tree;
}
