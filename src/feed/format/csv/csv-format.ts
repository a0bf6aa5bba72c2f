// The format of tables: comma-separated values (RFC 4180), and what spreadsheets make of them. Parses the bytes of a
// record, its header and its row, into a tree of texts.
import { isUtf8 } from 'node:buffer';
import type { KeyRule } from '../../../posting/field-mapping.ts';
import {
  compileKeyOfTree,
  type FeedFormat,
  type ParseContext,
  type ParsedRecord,
  type RecoverKey,
  textWithFaults,
  unreadableRecord,
} from '../format.ts';
import { CsvSplitter } from './csv-splitter.ts';
import { parseRow, readHeader, treeOf } from './table.ts';

// Parses the bytes of one record of a table, its header and its row, into a tree of texts, or reports why it can't be read.

/**
 * Parses one record. Cells keep their text, except that `="text"` is the text. A name that several columns have gets the list of their cells. Rows with fewer
 * cells than the header are unreadable, because it is not known which are missing, unless the layout allows them; so are
 * rows with more cells that are not empty.
 */
export function parseRecord(bytes: Buffer, { lenient = false, table }: ParseContext = {}): ParsedRecord {
  if (!isUtf8(bytes)) {
    return unreadableRecord(
      'its bytes are not valid in the encoding of the feed; if the feed is really in another one, such as Windows-1252, configure encoding: windows-1252',
    );
  }
  return parseText(bytes.toString(), lenient, table?.allowMissingCells ?? false);
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
  parseRecord,
  compileKeyRecovery,
};
