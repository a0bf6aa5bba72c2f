// Encodes rows in COPY's binary format and streams them into a table, a temporary one if that is only for the merge of a pull.
// Not pg-copy-streams-binary: it takes twice the time per row, knows no `jsonb`, has no types, and builds on packages that
// nobody maintains.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { type CleanTexts, CleanTextsWriter, mostUtf8Bytes, Utf8Writer } from '../../compact/clean-texts.ts';
import type { Session } from './database.ts';

/** Column types. The binary format requires the exact type. */
export type CellType = 'text' | 'json' | 'jsonb' | 'bytea' | 'boolean' | 'integer' | 'bigint';

/** Strings for text and `jsonb`; a posting's texts, or a buffer of UTF-8, for `json`; integers below 2^53. */
export type Cell = string | number | boolean | Buffer | CleanTexts | null;

/** Names and types of columns; names are constants, never data. */
export type CopyColumns = Readonly<Record<string, CellType>>;

/** SQL: creates a temporary table for such rows. */
export const temporaryTable = (table: string, columns: Readonly<Record<string, string>>): string =>
  `create temporary table ${table} (${Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')})`;

/** Each COPY costs a quarter of a millisecond, whatever its size: callers collect rows up to this many bytes. */
export const COPIED_TOGETHER_BYTES = 512 * 1024;

/** Enough for a small pull. */
const FIRST_BYTES = 1 << 16;
/** Memory beyond this is freed after a copy; most copies need less. */
const KEPT_BYTES = 4 << 20;
/** PostgreSQL documentation, COPY, "Binary Format": signature, no flags, no extension; -1 at the end. */
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const TRAILER = -1;
/** Precedes the text of a `jsonb`. */
const JSONB_VERSION = 1;
/** For the trailer, and so that a truncated text, which may end three bytes early, still ends beyond the row's limit. */
const SPARE_BYTES = 4;

/**
 * Copies rows into one table on one session, within its transaction. Rows are buffered in memory that is reused, as a first
 * pull sends thousands of times; the callers limit how much they add before sending.
 */
export class RowCopier {
  readonly #session: Session;
  readonly #statement: string;
  readonly #types: readonly CellType[];
  readonly #texts = new CleanTextsWriter();
  #memory: Buffer = Buffer.alloc(0);
  #used = 0;
  /** Being sent, or sent before; swapped with the other buffer at each send. */
  #otherMemory: Buffer = Buffer.alloc(0);

  constructor(session: Session, table: string, columns: CopyColumns) {
    this.#session = session;
    this.#statement = `copy ${table} (${Object.keys(columns).join(', ')}) from stdin (format binary)`;
    this.#types = Object.values(columns);
  }

  /** Bytes of rows not sent yet. */
  get waiting(): number {
    return this.#used;
  }

  /** Adds rows with their cells in column order; iterates lazily. */
  add(rows: Iterable<readonly Cell[]>): void {
    for (const row of rows) {
      const most = mostBytesOfRow(row);
      this.#ensure(HEADER.length + most + SPARE_BYTES);
      if (this.#used === 0) this.#used = HEADER.copy(this.#memory);
      const end = this.#writeRow(this.#used, row);
      // Texts that do not fit are truncated silently, so a row longer than its limit must never be sent.
      if (end - this.#used > most)
        throw new Error(`a row took ${end - this.#used} bytes, more than its limit of ${most}`);
      this.#used = end;
    }
  }

  /** Sends the added rows, if any; more may be added meanwhile. One call at a time. */
  async send(): Promise<void> {
    if (this.#used === 0) return;
    const bytes = this.#memory.subarray(0, this.#memory.writeInt16BE(TRAILER, this.#used));
    [this.#memory, this.#otherMemory] = [this.#otherMemory, this.#memory];
    this.#used = 0;
    const sink = this.#session.client.query(copyFrom(this.#statement));
    // Resolves only when the server has received everything: from then on nothing refers to the memory.
    await pipeline(Readable.from([bytes], { objectMode: false }), sink);
    if (this.#otherMemory.length > KEPT_BYTES) this.#otherMemory = Buffer.alloc(0);
  }

  /** Adds rows and sends them. */
  async copy(rows: Iterable<readonly Cell[]>): Promise<void> {
    this.add(rows);
    await this.send();
  }

  /** Makes room for `more` bytes after the used ones. */
  #ensure(more: number): void {
    if (this.#used + more <= this.#memory.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * (this.#used + more)));
    this.#memory.copy(grown, 0, 0, this.#used);
    this.#memory = grown;
  }

  /** Writes a row: its number of cells, then each cell preceded by its length. Returns the end offset. */
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

  /** Writes a cell's bytes at `start`; returns the end offset. */
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

/** Upper limit of a row's bytes: each cell with its length and, for JSON, its version. */
function mostBytesOfRow(row: readonly Cell[]): number {
  let most = 2;
  for (const cell of row) most += 5 + mostBytesOfCell(cell);
  return most;
}

/** Size of a `bigint`; other numbers take less. */
const NUMBER_BYTES = 8;

function mostBytesOfCell(cell: Cell): number {
  if (typeof cell === 'string') return mostUtf8Bytes(cell);
  if (Buffer.isBuffer(cell)) return cell.length;
  return typeof cell === 'object' && cell !== null ? CleanTextsWriter.mostBytes(cell as CleanTexts) : NUMBER_BYTES;
}

// Serialises values as JSON that a jsonb column accepts.

// What JSON.stringify writes for the zero character and for lone surrogates, neither of which jsonb accepts.
const REFUSED = /\\u(?:0000|d[89a-f])/;

/** JSON text of a value; the zero character and lone surrogates in its strings become U+FFFD. */
export function toJsonb(value: unknown): string {
  const text = JSON.stringify(value);
  if (!REFUSED.test(text)) return text;
  return JSON.stringify(value, (_name, part) =>
    typeof part === 'string' ? part.toWellFormed().replaceAll('\0', '\ufffd') : part,
  );
}

// A temporary table in which a pull collects rows for the merge at its end.

/** SQL: rows that fit on a page are stored as they are, as compressing them takes longer than everything else about them. */
export const UNCOMPRESSED = ' with (toast_tuple_target = 8160)';

/**
 * Exists from its first rows to the end of the transaction: to create and drop a table takes Postgres longer than most statements
 * of a pull, and few pulls need all of them.
 */
export class LazyTable extends RowCopier {
  readonly name: string;
  readonly #session: Session;
  readonly #columns: Readonly<Record<string, string>>;
  readonly #storage: string;
  #exists = false;

  /**
   * @param columns their types, and constraints. Names and types are constants, never data.
   * @param storage see `UNCOMPRESSED`.
   */
  constructor(
    session: Session,
    name: string,
    columns: Readonly<Record<string, `${CellType}${'' | ` ${string}`}`>>,
    storage = '',
  ) {
    const types = Object.entries(columns).map(([column, type]) => [column, bareType(type)]);
    super(session, name, Object.fromEntries(types));
    this.#session = session;
    this.name = name;
    this.#columns = columns;
    this.#storage = storage;
  }

  /** Whether it was created; otherwise it counts as empty. */
  get exists(): boolean {
    return this.#exists;
  }

  /** To read from, in `from` or `join` and followed by an alias: the table, or no rows while it does not exist. */
  get rows(): string {
    if (this.#exists) return this.name;
    const columns = Object.entries(this.#columns).map(([name, type]) => `null::${bareType(type)} as ${name}`);
    return `(select ${columns.join(', ')} where false)`;
  }

  /** Call it before a statement inserts rows; does nothing if the table exists. */
  async create(): Promise<void> {
    if (this.#exists) return;
    await this.#session.query(`${temporaryTable(this.name, this.#columns)}${this.#storage} on commit drop`);
    this.#exists = true;
  }

  /** Sends the added rows, if any, to the table, which then exists. */
  override async send(): Promise<void> {
    if (this.waiting > 0) await this.create();
    await super.send();
  }
}

const bareType = (type: string): CellType => type.split(' ', 1)[0] as CellType;
