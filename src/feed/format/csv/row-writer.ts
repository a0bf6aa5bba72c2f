// Hands over the rows of a table as records: each with the header, and without the rows that are no records.
import { GrowingBytes } from '../../batch/growing-bytes.ts';
import type { SplitSink } from '../format.ts';
import { headerText } from './header.ts';
import { parseRow } from './parse-row.ts';
import { CR, QUOTE } from './row-scanner.ts';
import type { Table } from './table-start.ts';

const [TAB, SPACE] = [0x09, 0x20];

export class RowWriter implements SplitSink {
  readonly #sink: SplitSink;
  /** The header and, after it, the current row. */
  readonly #record = new GrowingBytes(Buffer.allocUnsafeSlow(4_096));
  #headerBytes = 0;
  #table: Table | undefined;
  #delimiter = 0;
  /** The header row as it is in the document. */
  #headerRow: Buffer | undefined;

  constructor(sink: SplitSink) {
    this.#sink = sink;
  }

  begin(table: Table, headerRow: Buffer | undefined): void {
    this.#table = table;
    this.#delimiter = table.delimiter.charCodeAt(0);
    this.#headerRow = headerRow === undefined ? undefined : Buffer.from(headerRow);
    this.#record.append(Buffer.from(headerText(table.names, table.delimiter)));
    this.#headerBytes = this.#record.length;
  }

  record(buffer: Buffer, start: number, end: number): void {
    this.#record.cutTo(this.#headerBytes);
    this.#record.append(buffer, start, end);
    this.#sink.record(this.#record.memory, 0, this.#record.length);
  }

  /** Without the header, so that no key is taken from a row of which the end is missing. */
  oversized(head: Buffer, length: number): void {
    this.#sink.oversized(head, length);
  }

  /** Whether the row is blank, or repeats the header, as in tables that were put together from several. */
  isSkipped(bytes: Buffer, start: number, end: number): boolean {
    const header = this.#headerRow;
    if (
      header !== undefined &&
      end - start === header.length &&
      bytes.compare(header, 0, header.length, start, end) === 0
    )
      return true;
    for (let at = start; at < end; at++) if (!this.#isEmpty(bytes[at] as number)) return false;
    return true;
  }

  /** Whether the row has a cell for every column. */
  isWhole(bytes: Buffer, start: number, end: number): boolean {
    if (this.#table === undefined) return false;
    const row = parseRow(bytes.toString('utf8', start, end), this.#table.delimiter, true);
    return row.kind === 'cells' && row.cells.length >= this.#table.names.length;
  }

  #isEmpty(byte: number): boolean {
    return byte === this.#delimiter || byte === SPACE || byte === TAB || byte === QUOTE || byte === CR;
  }
}
