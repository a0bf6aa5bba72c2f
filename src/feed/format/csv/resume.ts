// Finds the row with which reading continues after a broken one.
import { parseRow } from './parse-row.ts';
import { type CR, type LF, RowScanner } from './row-scanner.ts';
import type { Table } from './table-start.ts';

/** Rows that must fit the header in a row, and fewer where the document ends. A line of text rarely does, three never. */
const ROWS = 3;
const ROWS_AT_END = 2;
const MAX_LINES = 1_000;
const MAX_EVIDENCE_BYTES = 65_536;

export interface Document {
  readonly table: Table;
  readonly lineEnd: typeof LF | typeof CR;
  /** Whether no bytes follow. */
  readonly isWhole: boolean;
}

export type Resumption =
  | { readonly kind: 'found'; readonly at: number }
  /** Call again with more bytes. */
  | { readonly kind: 'more' }
  | { readonly kind: 'none' };

/** @param from a position in the broken row. @param to the next row is only looked for up to here. */
export function findNextRow(bytes: Buffer, from: number, to: number, document: Document): Resumption {
  let at = from;
  for (let lines = 0; lines < MAX_LINES; lines++) {
    const end = bytes.indexOf(document.lineEnd, at);
    if (end >= to || (end < 0 && bytes.length > to)) return { kind: 'none' };
    if (end < 0) return document.isWhole ? { kind: 'none' } : { kind: 'more' };
    at = end + 1;
    const fits = fitsFrom(bytes, at, document);
    if (fits === 'more') return { kind: 'more' };
    if (fits === 'yes') return { kind: 'found', at };
  }
  return { kind: 'none' };
}

function fitsFrom(bytes: Buffer, start: number, { table, lineEnd, isWhole }: Document): 'yes' | 'no' | 'more' {
  const evidence = bytes.subarray(start, start + MAX_EVIDENCE_BYTES);
  const endsHere = isWhole && evidence.length < MAX_EVIDENCE_BYTES;
  const scanner = new RowScanner({ delimiter: table.delimiter.charCodeAt(0) });
  scanner.lineEnd = lineEnd;
  for (let rows = 0; ; ) {
    const rowAt = scanner.at;
    scanner.begin(rowAt);
    const end = scanner.scan(evidence);
    const last = end === 'more' && endsHere && rowAt < evidence.length ? scanner.endOfLast(evidence) : undefined;
    if (end === 'end' || last !== undefined) {
      if (!fits(evidence.toString('utf8', rowAt, last?.endAt ?? scanner.endAt), table)) return 'no';
      if (++rows === ROWS) return 'yes';
      if (last !== undefined) return rows >= ROWS_AT_END ? 'yes' : 'no';
    } else if (end === 'fault' || evidence.length === MAX_EVIDENCE_BYTES) {
      return 'no';
    } else {
      if (!isWhole) return 'more';
      return endsHere && rowAt === evidence.length && rows >= ROWS_AT_END ? 'yes' : 'no';
    }
  }
}

function fits(text: string, { names, delimiter }: Table): boolean {
  const row = parseRow(text, delimiter);
  return row.kind === 'cells' && !row.hasBareQuote && row.cells.length === names.length;
}
