// Turns rows into COPY's binary format and streams them into a table.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { Session } from './database.ts';

/** Types of columns. The binary format asks for the very type of the column; `jsonb` takes JSON text. */
export type CellType = 'text' | 'jsonb' | 'bytea' | 'boolean' | 'integer' | 'bigint';

/** Text and JSON as strings, bytes as buffers, whole numbers below 2^53. */
export type Cell = string | number | boolean | Buffer | null;

/** Names and types of columns; names are fixed, never data. */
export type CopyColumns = Readonly<Record<string, CellType>>;

/** Writes rows with their cells in the order of the columns, on the session's own transaction. */
export async function copyRows(
  session: Session,
  table: string,
  columns: CopyColumns,
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  if (rows.length === 0) return;
  const names = Object.keys(columns).join(', ');
  const sink = session.client.query(copyFrom(`copy ${table} (${names}) from stdin (format binary)`));
  await pipeline(Readable.from(encodeRows(Object.values(columns), rows), { objectMode: false }), sink);
}

const PIECE_BYTES = 1 << 18;
/** PostgreSQL documentation, COPY, "Binary Format": signature, no flags, no extension; -1 at the end. */
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const TRAILER = Buffer.from([0xff, 0xff]);

function* encodeRows(types: readonly CellType[], rows: readonly (readonly Cell[])[]): Generator<Buffer> {
  yield HEADER;
  let piece = new CopyPiece(PIECE_BYTES);
  for (const row of rows) {
    const most = row.reduce((sum: number, cell) => sum + mostBytes(cell), 2);
    if (piece.room < most) {
      if (piece.bytes.length > 0) yield piece.bytes;
      piece = new CopyPiece(Math.max(PIECE_BYTES, most));
    }
    piece.addRow(types, row);
  }
  yield piece.bytes;
  yield TRAILER;
}

/** Bytes that a cell takes at most, with its length: UTF-8 has up to three bytes for each of JavaScript's characters. */
function mostBytes(cell: Cell): number {
  if (typeof cell === 'string') return 5 + 3 * cell.length;
  return Buffer.isBuffer(cell) ? 4 + cell.length : 12;
}

/** Memory that rows are written to, one cell after the other, each behind its length. */
class CopyPiece {
  readonly #memory: Buffer;
  #at = 0;

  constructor(size: number) {
    this.#memory = Buffer.allocUnsafeSlow(size);
  }

  get room(): number {
    return this.#memory.length - this.#at;
  }

  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#at);
  }

  addRow(types: readonly CellType[], row: readonly Cell[]): void {
    this.#at = this.#memory.writeInt16BE(row.length, this.#at);
    for (const [at, cell] of row.entries()) {
      const start = this.#at + 4;
      const end = cell === null ? start : this.#writeCell(types[at] as CellType, cell, start);
      this.#memory.writeInt32BE(cell === null ? -1 : end - start, this.#at);
      this.#at = end;
    }
  }

  /** Writes a cell's bytes at `start`; gives where they end. */
  #writeCell(type: CellType, cell: Exclude<Cell, null>, start: number): number {
    const memory = this.#memory;
    switch (type) {
      case 'text':
        return start + memory.write(cell as string, start);
      case 'jsonb':
        // A version number comes first.
        memory[start] = 1;
        return start + 1 + memory.write(cell as string, start + 1);
      case 'bytea':
        return start + (cell as Buffer).copy(memory, start);
      case 'boolean':
        return memory.writeUInt8(cell === true ? 1 : 0, start);
      case 'integer':
        return memory.writeInt32BE(cell as number, start);
      case 'bigint':
        return memory.writeBigInt64BE(BigInt(cell as number), start);
      default:
        return type satisfies never;
    }
  }
}
