// Reads the beginning of a table, and tells which of its rows are records and what precedes each of them.
import { isUtf8 } from 'node:buffer';
import { didYouMean } from '../../posting/id-and-name.ts';
import { parseValuePath, textsAt } from '../../posting/paths/value-path.ts';
import type { RecordTree } from '../../posting/posting.ts';
import { DELIMITERS, type Delimiter, type TableLayout } from './format.ts';
import { CR, QUOTE } from './row-scanner.ts';
import { OPENING_BYTES, quote, refusalOf, statedError } from './unexpected-document.ts';

export interface Table {
  readonly names: readonly string[];
  readonly delimiter: Delimiter;
}

type TableStep =
  /** The row precedes the header. */
  | { readonly kind: 'skipped' }
  /** The row is the header, or without one the first record. */
  | { readonly kind: 'table'; readonly table: Table; readonly isRecord: boolean }
  | { readonly kind: 'refused'; readonly message: string };
/** Every record that is parsed carries the header. */
const MAX_HEADER_BYTES = 16_384;

const SKIPPED: TableStep = { kind: 'skipped' };
const refused = (message: string): TableStep => ({ kind: 'refused', message });

/** The first line with which Excel is told the delimiter. */
const SEPARATOR_LINE = /^"?sep=(.)"?$/i;

export class TableStart {
  readonly #layout: TableLayout;
  #rows = 0;
  #delimiter: Delimiter | undefined;

  constructor(layout: TableLayout) {
    this.#layout = layout;
    this.#delimiter = layout.delimiter;
  }

  /** Takes the next row of the document, without its line end. @param rest the bytes from the row's start on. */
  take(row: Buffer, rest: Buffer): TableStep {
    const text = row.toString();
    const separator = this.#rows === 0 ? SEPARATOR_LINE.exec(text)?.[1] : undefined;
    if (separator !== undefined) {
      this.#delimiter ??= DELIMITERS.find((delimiter) => delimiter === separator);
      return SKIPPED;
    }
    if (this.#rows++ < this.#layout.skipRows || isBlank(text)) return SKIPPED;
    const other = otherFormat(rest);
    if (other !== undefined) return refused(other);
    if (!isUtf8(row)) {
      return refused(
        'its first row contains bytes that are not valid in the encoding of the feed; if the feed is really in another one, such as Windows-1252, configure encoding: windows-1252',
      );
    }
    return this.#layout.columns === undefined ? this.#readHeader(text) : this.#readFirstRecord(text);
  }

  #readHeader(text: string): TableStep {
    const delimiter = this.#delimiter ?? detectDelimiter(text);
    if (delimiter === undefined) {
      return refused(
        `its header row has only one column, ${quote(text)}; configure csv.delimiter, or csv.skip_rows if other rows come first`,
      );
    }
    const row = parseRow(text, delimiter);
    if (row.kind === 'fault') return refused(`its header row can't be read: ${row.message}: ${quote(text)}`);
    return this.#tableOf(namesOf(row.cells), delimiter, false);
  }

  #readFirstRecord(text: string): TableStep {
    const names = this.#layout.columns ?? [];
    const delimiter = this.#delimiter ?? DELIMITERS.find((one) => cellsOf(text, one) === names.length);
    if (delimiter === undefined) {
      return refused(
        `csv.columns has ${names.length} names, and no usual delimiter divides the first row into as many cells: ${quote(text)}; configure csv.delimiter`,
      );
    }
    return this.#tableOf(names, delimiter, true);
  }

  /** Without the columns of the key this is another table, or an error page with a comma in it. */
  #tableOf(names: readonly string[], delimiter: Delimiter, isRecord: boolean): TableStep {
    const bytes = Buffer.byteLength(names.join());
    if (bytes > MAX_HEADER_BYTES) return refused(`the names of its columns have more than ${MAX_HEADER_BYTES} bytes`);
    const row = treeOf(names, names);
    const missing = this.#layout.keyPaths.find((path) => textsAt(parseValuePath(path), row).length === 0);
    if (missing === undefined) return { kind: 'table', table: { names, delimiter }, isRecord };
    return refused(
      `it has no column ${quote(missing)}, from which the key comes; its columns are ${names.slice(0, 20).map(quote).join(', ')}${names.length > 20 ? ', …' : ''}${didYouMean(missing, names, quote)}`,
    );
  }
}

/** Why a document that begins with these bytes is refused, if it is HTML, XML or JSON. */
export const otherFormat = (opening: Buffer): string | undefined =>
  /^\s*[<{[]/.test(opening.toString('latin1', 0, OPENING_BYTES))
    ? refusalOf('CSV', opening.subarray(0, OPENING_BYTES))
    : undefined;

/** Whether the row has nothing but delimiters, quotes and white space. */
const isBlank = (text: string): boolean => /^[\s,;|"]*$/.test(text);

function cellsOf(text: string, delimiter: Delimiter): number | undefined {
  const row = parseRow(text, delimiter);
  return row.kind === 'cells' && !row.hasBareQuote ? row.cells.length : undefined;
}

// Tells which rows of a table are records, and what precedes each of them.

const [TAB, SPACE, ANGLE] = [0x09, 0x20, 0x3c];

/** How programs, databases and servers begin a message that breaks off their output. */
const ERROR_LINE =
  /^\W*(?:(?:php|fatal|uncaught|unhandled|internal|server|parse|sql|database|[a-z]\w*(?:\.\w+)+)[ :]+){0,4}[\w.]*(?:error|exception|warning|traceback)\b(?:[ :(]|$)/i;
const MAY_BE_ERROR = /error|exception|warning|traceback/i;
const TAGS = /<\/?[a-z][^>]*>/gi;
const MAX_ERROR_LINE = 4_096;
const SEARCHED_BYTES = 160;

export class TableRows {
  /** The header: with it, a record can be read by itself. */
  readonly prefix: Buffer;
  readonly #table: Table;
  readonly #delimiter: number;
  /** The header row as it is in the document. */
  readonly #headerRow: Buffer | undefined;
  /** Names that were written in this header and the ones before, by how they are compared: the first spelling. */
  readonly #spellings: ReadonlyMap<string, string>;
  /** By byte: whether a name of a column begins with it. */
  readonly #isInitial = new Uint8Array(256);
  readonly #keyPaths: readonly string[];

  /** @param keyPaths what a header has. @param former the spellings of names in headers before. */
  constructor(
    table: Table,
    headerRow: Buffer | undefined,
    keyPaths: readonly string[],
    former: ReadonlyMap<string, string> = new Map(),
  ) {
    this.#table = table;
    // The number of a column without a name may be the ID in a row.
    const written = table.names.filter((name, at) => name !== nameOf('', at));
    this.#spellings = new Map([...written.map((name) => [folded(name), name] as const).reverse(), ...former]);
    this.#keyPaths = keyPaths;
    for (const name of this.#spellings.keys()) {
      for (const form of [name, name.toUpperCase()]) this.#isInitial[Buffer.from(form)[0] ?? 0] = 1;
    }
    this.#delimiter = table.delimiter.charCodeAt(0);
    this.#headerRow = headerRow === undefined ? undefined : Buffer.from(headerRow);
    this.prefix = Buffer.from(headerText(table.names, table.delimiter));
  }

  /** Whether the row is blank, or repeats the header, as in tables that were put together from several. */
  isSkipped(bytes: Buffer, start: number, end: number): boolean {
    const header = this.#headerRow;
    if (end - start === header?.length && bytes.compare(header, 0, header.length, start, end) === 0) return true;
    for (let at = start; at < end; at++) if (!this.#isEmpty(bytes[at] as number)) return false;
    return true;
  }

  /**
   * The names in a row that is another header, as in tables that were put together from several: it has the columns of the key, and most
   * of its cells are names of this header. Its names are spelled as before, so that the mapping of the fields finds them.
   */
  namesIn(bytes: Buffer, start: number, end: number): readonly string[] | undefined {
    const first = bytes[bytes[start] === QUOTE ? start + 1 : start] as number;
    if (this.#headerRow === undefined || this.#isInitial[first] === 0 || end - start > MAX_HEADER_BYTES)
      return undefined;
    const row = parseRow(bytes.toString('utf8', start, end), this.#table.delimiter);
    if (row.kind === 'fault' || !this.#spellings.has(folded(row.cells[0] ?? ''))) return undefined;
    const written = row.cells.filter((cell) => cell.trim() !== '');
    const known = written.filter((cell) => this.#spellings.has(folded(cell)));
    if (known.length < 2 || known.length * 2 <= written.length) return undefined;
    const names = this.#spelledAsBefore(namesOf(row.cells));
    const { names: current } = this.#table;
    if (names.length === current.length && names.every((name, at) => folded(name) === folded(current[at] ?? '')))
      return current;
    const tree = treeOf(names, names);
    return this.#keyPaths.every((path) => textsAt(parseValuePath(path), tree).length > 0) ? names : undefined;
  }

  /** Names that differ are kept apart. */
  #spelledAsBefore(names: readonly string[]): readonly string[] {
    const former = new Set([...this.#table.names, ...this.#spellings.values()]);
    const spelled = names.map((name) => (former.has(name) ? name : (this.#spellings.get(folded(name)) ?? name)));
    return new Set(spelled).size < new Set(names).size ? names : spelled;
  }

  /** For what follows a row with these names. */
  withNames(names: readonly string[], row: Buffer): { readonly table: Table; readonly rows: TableRows } {
    const table = { ...this.#table, names };
    return { table, rows: new TableRows(table, row, this.#keyPaths, this.#spellings) };
  }

  /** The error that the row states in place of a record. Its first cell is no ID then, but begins a sentence. */
  statedError(bytes: Buffer, start: number, end: number): string | undefined {
    const first = bytes[start] as number;
    if (end - start > MAX_ERROR_LINE || !(isLetter(first) || first === ANGLE)) return undefined;
    if (!MAY_BE_ERROR.test(bytes.toString('latin1', start, Math.min(end, start + SEARCHED_BYTES)))) return undefined;
    const text = bytes.toString('utf8', start, end);
    const plain = text.replace(TAGS, '').trim();
    const [opening = ''] = plain.split(this.#table.delimiter, 1);
    if (!ERROR_LINE.test(opening) || !/[\s:]\S*\s*\S/.test(opening)) return undefined;
    const row = parseRow(text, this.#table.delimiter, true);
    const isWhole = row.kind === 'cells' && row.cells.length >= this.#table.names.length;
    // With all its cells, only one that goes on like a message.
    return isWhole && !/^\W*\w*(?:error|exception|warning)\W*:\s/i.test(opening)
      ? undefined
      : statedError(quote(plain));
  }

  /** Whether the row has a cell for every column. */
  isWhole(bytes: Buffer, start: number, end: number): boolean {
    const row = parseRow(bytes.toString('utf8', start, end), this.#table.delimiter, true);
    return row.kind === 'cells' && row.cells.length >= this.#table.names.length;
  }

  #isEmpty(byte: number): boolean {
    return byte === this.#delimiter || byte === SPACE || byte === TAB || byte === QUOTE || byte === CR;
  }
}

const folded = (name: string): string => name.trim().toLowerCase();

const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

// The rows of a table as texts: the cells of a row, the header with its delimiter and names, and the tree of a record.

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

const namesOf = (cells: readonly string[]): string[] => cells.map(nameOf);

/**
 * The delimiter that occurs most often in a header row, outside quotes; the first of the usual ones if several do;
 * `undefined` if there is only one column.
 */
function detectDelimiter(header: string): Delimiter | undefined {
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
const headerText = (names: readonly string[], delimiter: Delimiter): string =>
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
