// Turns rows into COPY's text format and streams them into a table.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { Session } from './database.ts';

export type Cell = string | number | boolean | Buffer | null;

// PostgreSQL documentation, COPY, "Text Format": backslash, tab, newline and carriage return are escaped.
const SPECIAL = /[\\\t\n\r]/g;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Writes rows with the columns in the given order, on the session's own transaction. Names are fixed, never data. */
export async function copyRows(
  session: Session,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  if (rows.length === 0) return;
  const sink = session.client.query(copyFrom(`copy ${table} (${columns.join(', ')}) from stdin`));
  await pipeline(Readable.from(encodeRows(rows), { objectMode: false }), sink);
}

const PIECE_CHARS = 1 << 18;

function* encodeRows(rows: readonly (readonly Cell[])[]): Generator<Buffer> {
  let piece = '';
  for (const row of rows) {
    piece += `${row.map(encodeCell).join('\t')}\n`;
    if (piece.length < PIECE_CHARS) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  if (piece !== '') yield Buffer.from(piece);
}

function encodeCell(cell: Cell): string {
  if (cell === null) return '\\N';
  if (typeof cell === 'string') return cell.replace(SPECIAL, (special) => ESCAPED[special] as string);
  if (Buffer.isBuffer(cell)) return `\\\\x${cell.toString('hex')}`;
  return String(cell);
}
