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

const FIRST_BYTES = 1 << 20;
/** Memory beyond this is given back after a copy; mostly a copy takes less. */
const KEPT_BYTES = 4 << 20;
/** PostgreSQL documentation, COPY, "Binary Format": signature, no flags, no extension; -1 at the end. */
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const TRAILER = -1;
const TRAILER_BYTES = 2;

/**
 * Copies rows into one table on one session, within its own transaction. Rows are written to memory whole, and that
 * memory is used again: the callers bound what they add before they send it, and a first pull sends thousands of times.
 */
export class RowCopier {
  readonly #session: Session;
  readonly #statement: string;
  readonly #types: readonly CellType[];
  #memory: Buffer = Buffer.alloc(0);
  #used = 0;
  /** What is being sent, or was; the next rows but one are added there. */
  #otherMemory: Buffer = Buffer.alloc(0);

  constructor(session: Session, table: string, columns: CopyColumns) {
    this.#session = session;
    this.#statement = `copy ${table} (${Object.keys(columns).join(', ')}) from stdin (format binary)`;
    this.#types = Object.values(columns);
  }

  /** Bytes of the rows that are to be sent. */
  get waiting(): number {
    return this.#used;
  }

  /** Adds rows with their cells in the order of the columns; a row is asked for when its turn comes. */
  add(rows: Iterable<readonly Cell[]>): void {
    for (const row of rows) {
      this.#ensure(HEADER.length + mostBytesOfRow(row) + TRAILER_BYTES);
      if (this.#used === 0) this.#used = HEADER.copy(this.#memory);
      this.#used = writeRow(this.#memory, this.#used, this.#types, row);
    }
  }

  /** Sends the rows that were added, if there are any; more may be added meanwhile. One call at a time. */
  async send(): Promise<void> {
    if (this.#used === 0) return;
    const bytes = this.#memory.subarray(0, this.#memory.writeInt16BE(TRAILER, this.#used));
    [this.#memory, this.#otherMemory] = [this.#otherMemory, this.#memory];
    this.#used = 0;
    const sink = this.#session.client.query(copyFrom(this.#statement));
    // Over only when the server has taken it all: from then on nothing refers to the memory.
    await pipeline(Readable.from([bytes], { objectMode: false }), sink);
    if (this.#otherMemory.length > KEPT_BYTES) this.#otherMemory = Buffer.alloc(0);
  }

  /** Adds rows and sends them. */
  async copy(rows: Iterable<readonly Cell[]>): Promise<void> {
    this.add(rows);
    await this.send();
  }

  /** Makes room for `more` bytes behind those that are used. */
  #ensure(more: number): void {
    if (this.#used + more <= this.#memory.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * (this.#used + more)));
    this.#memory.copy(grown, 0, 0, this.#used);
    this.#memory = grown;
  }
}

/** Bytes that a row takes at most: UTF-8 has up to three bytes for each of JavaScript's characters. */
function mostBytesOfRow(row: readonly Cell[]): number {
  let most = 2;
  for (const cell of row) {
    if (typeof cell === 'string') most += 5 + 3 * cell.length;
    else most += Buffer.isBuffer(cell) ? 4 + cell.length : 12;
  }
  return most;
}

/** Writes a row: the number of its cells, then each cell behind its length. Gives where the row ends. */
function writeRow(memory: Buffer, start: number, types: readonly CellType[], row: readonly Cell[]): number {
  let at = memory.writeInt16BE(row.length, start);
  for (const [column, cell] of row.entries()) {
    const end = cell === null ? at + 4 : writeCell(memory, at + 4, types[column] as CellType, cell);
    memory.writeInt32BE(cell === null ? -1 : end - at - 4, at);
    at = end;
  }
  return at;
}

/** Writes a cell's bytes at `start`; gives where they end. */
function writeCell(memory: Buffer, start: number, type: CellType, cell: Exclude<Cell, null>): number {
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
