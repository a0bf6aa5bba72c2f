// The format of tables: comma-separated values (RFC 4180), and what spreadsheets make of them. Parses the bytes of a
// record, its header and its row, into a tree of texts.
import type { KeyRule } from '../../posting/field-mapping.ts';
import { ScanningSplitter } from './chunk-joiner.ts';
import {
  compileKeyOfTree,
  type FeedFormat,
  type ParseContext,
  type ParsedRecord,
  parseTextOf,
  type RecoverKey,
  type SplitEnd,
  type SplitOptions,
  type SplitSink,
  textWithFaults,
  unreadableRecord,
} from './format.ts';
import { type CR, LF, RowScanner } from './row-scanner.ts';
import { otherFormat, parseRow, readHeader, type Table, TableRows, TableStart, treeOf } from './table.ts';

// Parses the bytes of one record of a table, its header and its row, into a tree of texts, or reports why it can't be read.

/**
 * Parses one record. Cells keep their text, except that `="text"` is the text. A name that several columns have gets the list of their cells. Rows with fewer
 * cells than the header are unreadable, because it is not known which are missing, unless the layout allows them; so are
 * rows with more cells that are not empty.
 */
export function parseCells(bytes: Buffer, { lenient = false, table }: ParseContext = {}): ParsedRecord {
  return parseTextOf(bytes, (text) => parseText(text, lenient, table?.allowMissingCells ?? false));
}

function parseText(record: string, lenient: boolean, allowMissingCells: boolean): ParsedRecord {
  const header = readHeader(record);
  if (header === undefined) return unreadableRecord('it has no header');
  const { names, delimiter, text } = header;
  const row = parseRow(record.slice(text.length), delimiter, lenient);
  if (row.kind === 'fault') {
    const line = record.slice(text.length, text.length + row.at).split('\n').length;
    return unreadableRecord(`${row.message} (line ${line} of the record)`);
  }
  const { cells, repairs, hasBareQuote, inner } = row;
  const extra = cells.slice(names.length);
  // Empty ones are left over from wider rows. A quote in the middle of a cell rather shows that two rows were joined.
  if (extra.length > 0 && (hasBareQuote || !extra.every(isBlank))) {
    return unreadableRecord(`it has ${cells.length} cells, and the header has ${names.length} columns`);
  }
  if (cells.length < names.length && !allowMissingCells) {
    return unreadableRecord(
      `it has only ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}, and the header has ${names.length} columns; if the last cells of a row may be left out, set csv.allow_missing_cells`,
    );
  }
  const least = allowMissingCells ? 2 : names.length;
  const isOther = (count: number) => count >= least && cells.slice(cells.length - count + names.length).every(isBlank);
  if (inner.some(isOther)) {
    return unreadableRecord('a quote inside quotes is not doubled, and another row may begin in that cell');
  }
  const tree = treeOf(names, cells.map(withoutFormula));
  return repairs === 0
    ? { kind: 'tree', tree }
    : { kind: 'tree', tree, repairs: [`${repairs} ${repairs === 1 ? 'quote' : 'quotes'} inside quotes not doubled`] };
}

/** Programs write `="00123"` so that Excel keeps the zeros. */
const withoutFormula = (cell: string): string => (cell.startsWith('="') ? cell.replace(/^="([^"]*)"\s*$/, '$1') : cell);

const isBlank = (cell: string): boolean => cell.trim() === '';

/**
 * Compiles the recovery of an unreadable record's key. Only bytes that cannot be decoded leave no doubt about it: a misplaced
 * quote or a missing cell may have moved any cell, or joined several rows. Throws `MalformedPathError`.
 */
function compileKeyRecovery(rule: KeyRule): RecoverKey {
  const keyOf = compileKeyOfTree(rule);
  return (record) => {
    const parsed = parseText(textWithFaults(record), false, false);
    return parsed.kind === 'tree' ? keyOf(parsed.tree) : undefined;
  };
}

export const csvFormat: FeedFormat = {
  createSplitter: (options, sink) => new CsvSplitter(options, sink),
  parseRecord: parseCells,
  compileKeyRecovery,
};

// Splits the UTF-8 bytes of a table, in chunks of any size, into its rows, without parsing them.

const PLAIN_TABLE = { skipRows: 0, allowMissingCells: false, keyPaths: [] };

/**
 * A quote inside quotes that is not doubled could hide any number of rows. Reading continues where several rows in a row fit
 * the header; everything before is one unreadable record, and the document counts as incomplete. Where no such rows
 * follow, the rest is not read.
 */
class CsvSplitter extends ScanningSplitter {
  refusal: string | undefined;
  readonly #maxRecordBytes: number;
  readonly #scanner: RowScanner;
  readonly #shortfalls = new Shortfalls();
  readonly #start: TableStart;
  readonly #keyPaths: readonly string[];
  #table: Table | undefined;
  #rows: TableRows | undefined;
  #rowStart = 0;
  #inBroken = false;
  /** Bytes of the document before the current ones. */
  #before = 0;
  #isWhole = false;

  /** Throws for an invalid key path. */
  constructor(options: SplitOptions, sink: SplitSink) {
    super(options, sink);
    const { maxRecordBytes, lenient, table = PLAIN_TABLE } = options;
    this.#maxRecordBytes = maxRecordBytes;
    this.#scanner = new RowScanner({ lenient });
    this.#start = new TableStart(table);
    this.#keyPaths = table.keyPaths;
  }

  finish(isEndProven: boolean): SplitEnd {
    this.#isWhole = true;
    const { held } = this.joiner;
    this.scan(held);
    while (this.refusal === undefined && this.#endsInQuotes(held) && this.#leaveUnclosed(held)) this.scan(held);
    if (this.refusal === undefined) this.#finishRow(held, isEndProven);
    if (this.refusal === undefined && this.#table === undefined) {
      this.#refuse(this.#shortfalls.all()[0] ?? 'the feed is empty: it has no header row');
    }
    const { records, oversizedRecords } = this.handOver;
    return { records, oversizedRecords, refusal: this.refusal, shortfalls: this.#shortfalls.all(), isOpen: true };
  }

  shift(by: number): void {
    this.#rowStart -= by;
    this.#before += by;
    this.#scanner.shift(by);
  }

  scan(bytes: Buffer): number {
    while (this.refusal === undefined) {
      const end = this.#inBroken ? 'fault' : this.#scanner.scan(bytes);
      if (end === 'end') {
        this.#takeRow(bytes, this.#scanner.endAt);
        this.#beginRow(this.#scanner.at);
      } else if (end === 'more') {
        return this.#neededOfRow(bytes);
      } else if (!this.#skipBroken(bytes)) {
        return this.#rowStart;
      }
    }
    return bytes.length;
  }

  #beginRow(at: number): void {
    this.#rowStart = at;
    this.#scanner.begin(at);
  }

  #takeRow(bytes: Buffer, end: number): void {
    if (this.#rows === undefined) this.#takeStart(bytes, end);
    else if (this.handOver.isOversized) this.#handOver(bytes, end);
    else if (!this.#rows.isSkipped(bytes, this.#rowStart, end)) {
      const names = this.#rows.namesIn(bytes, this.#rowStart, end);
      if (names !== undefined) return void this.#takeHeader(names, bytes.subarray(this.#rowStart, end));
      const error = this.#rows.statedError(bytes, this.#rowStart, end);
      if (error === undefined) this.#handOver(bytes, end);
      else this.#shortfalls.note(error);
    }
  }

  #takeStart(bytes: Buffer, end: number): void {
    const row = bytes.subarray(this.#rowStart, end);
    if (row.length > this.#maxRecordBytes) this.#refuseLongStart();
    if (this.refusal !== undefined) return;
    const step = this.#start.take(row, bytes.subarray(this.#rowStart));
    if (step.kind === 'refused') this.#refuse(step.message);
    if (step.kind !== 'table') return;
    this.#table = step.table;
    this.#scanner.delimiter = step.table.delimiter.charCodeAt(0);
    this.#rows = new TableRows(step.table, step.isRecord ? undefined : row, this.#keyPaths);
    if (step.isRecord) this.#handOver(bytes, end);
  }

  /** What follows has these columns. */
  #takeHeader(names: readonly string[], row: Buffer): void {
    if (names === this.#table?.names) return;
    const next = this.#rows?.withNames(names, row);
    this.#table = next?.table;
    this.#rows = next?.rows;
  }

  #handOver(bytes: Buffer, end: number): void {
    this.handOver.end(bytes, this.#rowStart, end, this.#rows?.prefix);
  }

  #neededOfRow(bytes: Buffer): number {
    if (this.handOver.mustKeep(bytes, this.#rowStart)) return this.#rowStart;
    if (this.#table === undefined) {
      this.#refuseLongStart();
      return bytes.length;
    }
    this.handOver.keepHead(bytes, this.#rowStart);
    // The byte before tells whether a quote opens a cell.
    return Math.max(this.#rowStart, this.#scanner.at - 1);
  }

  /** Ends a broken row where the next one begins. False: more bytes are needed. */
  #skipBroken(bytes: Buffer): boolean {
    const fault = `a quote inside quotes is not doubled near byte ${this.#before + this.#scanner.at} of the document`;
    if (this.#table === undefined) {
      this.#refuse(otherFormat(bytes.subarray(this.#rowStart)) ?? `its first rows can't be read: ${fault}`);
      return true;
    }
    const next = this.#findNextRow(bytes);
    this.#inBroken = next.kind === 'more';
    if (this.#inBroken) return false;
    const broken = `record ${this.records + 1} is broken: ${fault}`;
    if (next.kind === 'found') {
      this.#endBroken(bytes, next.at, broken);
    } else {
      // With the quote and what follows it, so that the parser finds the same fault.
      this.#handOver(bytes, Math.min(bytes.length, this.#scanner.at + 2));
      this.#refuse(`${broken}; what follows was not read`);
    }
    return true;
  }

  #findNextRow(bytes: Buffer): Resumption {
    const { at, lineEnd = LF } = this.#scanner;
    const isOversized = this.handOver.isOversized || at + 1 - this.#rowStart > this.#maxRecordBytes;
    if (this.#table === undefined || isOversized) return { kind: 'none' };
    const document = { table: this.#table, lineEnd, isWhole: this.#isWhole };
    return findNextRow(bytes, this.#rowStart, this.#rowStart + this.#maxRecordBytes, document);
  }

  #endBroken(bytes: Buffer, next: number, why: string): void {
    this.#shortfalls.note(why);
    this.#handOver(bytes, next - 1);
    this.#beginRow(next);
  }

  #refuseLongStart(): void {
    this.#refuse(`one of its first rows has more than ${this.#maxRecordBytes} bytes`);
  }

  #refuse(message: string): void {
    this.refusal ??= message;
  }

  #endsInQuotes(bytes: Buffer): boolean {
    return this.#rowStart < bytes.length && this.#scanner.endOfLast(bytes) === undefined;
  }

  /** Ends a row with a cell that never ends where the next one begins. False: there is none. */
  #leaveUnclosed(bytes: Buffer): boolean {
    const next = this.#findNextRow(bytes);
    const where = this.#table === undefined ? 'its header row' : `record ${this.records + 1}`;
    if (next.kind === 'found') this.#endBroken(bytes, next.at, `${where} is broken: a cell in quotes does not end`);
    else this.#shortfalls.note(`the document ends inside quotes in ${where}`);
    return next.kind === 'found';
  }

  /** Takes what follows the last line end. */
  #finishRow(bytes: Buffer, isEndProven: boolean): void {
    const last = this.#rowStart < bytes.length ? this.#scanner.endOfLast(bytes) : undefined;
    if (last === undefined) return;
    const { endAt: end, hasLineEnd } = last;
    const where = this.#table === undefined ? 'its header row' : `record ${this.records + 1}`;
    if (hasLineEnd) {
      this.#takeRow(bytes, end);
    } else if (!isEndProven) {
      this.#shortfalls.note(
        `the document ends inside ${where}: the last line has no line break, and nothing else proves where the document ends`,
      );
    } else if (
      this.#rows === undefined ||
      this.handOver.isOversized ||
      this.#rows.isSkipped(bytes, this.#rowStart, end) ||
      this.#rows.statedError(bytes, this.#rowStart, end) !== undefined ||
      this.#rows.isWhole(bytes, this.#rowStart, end)
    ) {
      this.#takeRow(bytes, end);
    } else {
      this.#shortfalls.note(`the document ends inside ${where}: its last line has too few cells and no line break`);
    }
  }
}

// Finds the row with which reading continues after a broken one.

/** Rows that must fit the header in a row, and fewer where the document ends. A line of text rarely does, three never. */
const ROWS = 3;
const ROWS_AT_END = 2;
const MAX_LINES = 1_000;
const MAX_EVIDENCE_BYTES = 65_536;

interface Document {
  readonly table: Table;
  readonly lineEnd: typeof LF | typeof CR;
  /** Whether no bytes follow. */
  readonly isWhole: boolean;
}

type Resumption =
  | { readonly kind: 'found'; readonly at: number }
  /** Call again with more bytes. */
  | { readonly kind: 'more' }
  | { readonly kind: 'none' };

/** @param from a position in the broken row. @param to the next row is only looked for up to here. */
function findNextRow(bytes: Buffer, from: number, to: number, document: Document): Resumption {
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

// Collects the reasons why a document is incomplete, without repeats and without limitless memory.
const MAX_SHORTFALLS = 20;

class Shortfalls {
  readonly #texts = new Set<string>();

  note(shortfall: string): void {
    if (this.#texts.size < MAX_SHORTFALLS) this.#texts.add(shortfall);
  }

  all(): readonly string[] {
    return [...this.#texts];
  }
}
