// Turns rows into COPY's binary format and streams them into a table.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { type CleanTexts, CleanTextsWriter } from '../../posting/clean-texts.ts';
import { mostUtf8Bytes, Utf8Writer } from '../../posting/utf8-writer.ts';
import type { Session } from './database.ts';

/** Types of columns. The binary format asks for the very type. */
export type CellType = 'text' | 'json' | 'jsonb' | 'bytea' | 'boolean' | 'integer' | 'bigint';

/** Text and `jsonb` as strings, `json` as texts of a posting or as a buffer with its UTF-8, whole numbers below 2^53. */
export type Cell = string | number | boolean | Buffer | CleanTexts | null;

/** Names and types of columns; names are fixed, never data. */
export type CopyColumns = Readonly<Record<string, CellType>>;

const FIRST_BYTES = 1 << 20;
/** Memory beyond this is given back after a copy; mostly a copy takes less. */
const KEPT_BYTES = 4 << 20;
/** PostgreSQL documentation, COPY, "Binary Format": signature, no flags, no extension; -1 at the end. */
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const TRAILER = -1;
/** Comes before the text of a `jsonb`. */
const JSONB_VERSION = 1;
/** For the trailer, and so that a text that is cut off, which may end three bytes early, still ends where no row may. */
const SPARE_BYTES = 4;

/**
 * Copies rows into one table on one session, within its own transaction. Rows are written to memory whole, and that
 * memory is used again: the callers bound what they add before they send it, and a first pull sends thousands of times.
 */
export class RowCopier {
  readonly #session: Session;
  readonly #statement: string;
  readonly #types: readonly CellType[];
  readonly #texts = new CleanTextsWriter();
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
      const most = mostBytesOfRow(row);
      this.#ensure(HEADER.length + most + SPARE_BYTES);
      if (this.#used === 0) this.#used = HEADER.copy(this.#memory);
      const end = this.#writeRow(this.#used, row);
      // Texts that do not fit are cut off without a word: a row that is longer than it can be is never sent.
      if (end - this.#used > most) throw new Error(`a row of ${end - this.#used} bytes was taken for one of ${most}`);
      this.#used = end;
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

  /** Writes a row: the number of its cells, then each cell behind its length. Gives where the row ends. */
  #writeRow(start: number, row: readonly Cell[]): number {
    const memory = this.#memory;
    let at = memory.writeInt16BE(row.length, start);
    for (let column = 0; column < row.length; column++) {
      const cell = row[column] ?? null;
      const end = cell === null ? at + 4 : this.#writeCell(at + 4, this.#types[column] as CellType, cell);
      memory.writeInt32BE(cell === null ? -1 : end - at - 4, at);
      at = end;
    }
    return at;
  }

  /** Writes a cell's bytes at `start`; gives where they end. */
  #writeCell(start: number, type: CellType, cell: Exclude<Cell, null>): number {
    const memory = this.#memory;
    switch (type) {
      case 'text':
        return start + memory.write(cell as string, start);
      case 'json': {
        if (Buffer.isBuffer(cell)) return start + cell.copy(memory, start);
        const json = new Utf8Writer(memory, start);
        this.#texts.write(cell as CleanTexts, json);
        return json.end();
      }
      case 'jsonb':
        memory[start] = JSONB_VERSION;
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

/** Bytes that a row takes at most, each cell with its length before it and, as JSON, its version. */
function mostBytesOfRow(row: readonly Cell[]): number {
  let most = 2;
  for (const cell of row) most += 5 + mostBytesOfCell(cell);
  return most;
}

/** Of a `bigint`; the others take less. */
const NUMBER_BYTES = 8;

function mostBytesOfCell(cell: Cell): number {
  if (typeof cell === 'string') return mostUtf8Bytes(cell);
  if (Buffer.isBuffer(cell)) return cell.length;
  return typeof cell === 'object' && cell !== null ? CleanTextsWriter.mostBytes(cell as CleanTexts) : NUMBER_BYTES;
}
