// Tells which rows of a table are records, and what precedes each of them.
import { quote } from '../not-this-format.ts';
import { statedError } from '../stated-errors.ts';
import { headerText } from './header.ts';
import { parseRow } from './parse-row.ts';
import { CR, QUOTE } from './row-scanner.ts';
import type { Table } from './table-start.ts';

const [TAB, SPACE, ANGLE] = [0x09, 0x20, 0x3c];

/** How programs, databases and servers begin a message that breaks off their output. */
const ERROR_LINE =
  /^\W*(?:(?:php|fatal|uncaught|unhandled|internal|server|parse|sql|database|[a-z]\w*(?:\.\w+)+)[ :]+){0,4}[\w.]*(?:error|exception|warning|traceback)\b(?:[ :(]|$)/i;
const MAY_BE_ERROR = /error|exception|warning|traceback/i;
const TAGS = /<\/?[a-z][^>]*>/gi;
const MAX_ERROR_LINE = 4_096;
const OPENING_BYTES = 160;

export class TableRows {
  /** The header: with it, a record can be read by itself. */
  readonly prefix: Buffer;
  readonly #table: Table;
  readonly #delimiter: number;
  /** The header row as it is in the document. */
  readonly #headerRow: Buffer | undefined;

  constructor(table: Table, headerRow: Buffer | undefined) {
    this.#table = table;
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

  /** The error that the row states in place of a record. Its first cell is no ID then, but begins a sentence. */
  statedError(bytes: Buffer, start: number, end: number): string | undefined {
    const first = bytes[start] as number;
    if (end - start > MAX_ERROR_LINE || !(isLetter(first) || first === ANGLE)) return undefined;
    if (!MAY_BE_ERROR.test(bytes.toString('latin1', start, Math.min(end, start + OPENING_BYTES)))) return undefined;
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

const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
