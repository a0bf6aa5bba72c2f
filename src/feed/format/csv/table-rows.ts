// Tells which rows of a table are records, and what precedes each of them.
import { headerText } from './header.ts';
import { parseRow } from './parse-row.ts';
import { CR, QUOTE } from './row-scanner.ts';
import type { Table } from './table-start.ts';

const [TAB, SPACE] = [0x09, 0x20];

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

  /** Whether the row has a cell for every column. */
  isWhole(bytes: Buffer, start: number, end: number): boolean {
    const row = parseRow(bytes.toString('utf8', start, end), this.#table.delimiter, true);
    return row.kind === 'cells' && row.cells.length >= this.#table.names.length;
  }

  #isEmpty(byte: number): boolean {
    return byte === this.#delimiter || byte === SPACE || byte === TAB || byte === QUOTE || byte === CR;
  }
}
