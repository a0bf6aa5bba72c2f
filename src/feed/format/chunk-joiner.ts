// Joins chunks of any size so that a scanner sees unfinished parts whole, with little copying.
import { GrowingBytes } from '../batch/growing-bytes.ts';
import type { SplitEnd, SplitOptions, SplitSink, Splitter } from './format.ts';

/** Scans bytes and remembers its position, relative to the start of the bytes it is given. */
interface Scanner {
  /** Scans as far as the bytes allow; returns the position from which it needs the bytes again. */
  scan(bytes: Buffer): number;
  /** Moves the origin of all positions forward by `by` bytes. */
  shift(by: number): void;
}

/** Held and following bytes are joined in steps of this size: a record that spans two chunks is usually shorter. */
const JOIN_BYTES = 8_192;

/** Holds the bytes of earlier chunks that a scanner still needs. */
class ChunkJoiner {
  /** Where the bytes that are scanned begin in the document. */
  origin = 0;
  readonly #hold = new GrowingBytes(Buffer.allocUnsafeSlow(4 * JOIN_BYTES));

  /** The bytes held now; valid until the next `push`. */
  get held(): Buffer {
    return this.#hold.bytes;
  }

  /** Scans the next chunk, preceded by the bytes still needed of earlier ones. The chunk may be reused afterwards. */
  push(chunk: Buffer, scanner: Scanner): void {
    let taken = 0;
    while (this.#hold.length > 0 && taken < chunk.length) {
      const held = this.#hold.length;
      this.#hold.append(chunk, taken, Math.min(taken + JOIN_BYTES, chunk.length));
      const needed = scanner.scan(this.held);
      if (needed >= held) {
        // Earlier chunks are no longer needed: continue in this chunk itself.
        scanner.shift(held - taken);
        this.origin += held - taken;
        this.#hold.clear();
      } else {
        taken += this.#hold.length - held;
        this.#hold.dropFirst(needed);
        scanner.shift(needed);
        this.origin += needed;
      }
    }
    if (this.#hold.length > 0) return;
    const needed = scanner.scan(chunk);
    this.#hold.append(chunk, needed);
    scanner.shift(needed);
    this.origin += needed;
  }
}

// Hands the records of a document over by their extent, and those above the size limit as oversized.

export const OVERSIZED_HEAD_BYTES = 2_048;

export class RecordHandOver {
  /** Records handed over so far, including oversized ones. */
  records = 0;
  oversizedRecords = 0;
  readonly #sink: SplitSink;
  readonly #maxRecordBytes: number;
  /** At least the head, so that it does not depend on how the record arrives. */
  readonly #keptBytes: number;
  /** The first bytes of the current record, once it is above the limit. */
  #head: Buffer | undefined;

  constructor(sink: SplitSink, maxRecordBytes: number) {
    this.#sink = sink;
    this.#maxRecordBytes = maxRecordBytes;
    this.#keptBytes = Math.max(OVERSIZED_HEAD_BYTES, maxRecordBytes);
  }

  /** Whether the bytes of the current record are no longer kept. */
  get isOversized(): boolean {
    return this.#head !== undefined;
  }

  /** Whether the current record, which began at `start` and continues after these bytes, must be kept. */
  mustKeep(bytes: Buffer, start: number): boolean {
    return this.#head === undefined && bytes.length - start <= this.#keptBytes;
  }

  /** Keeps only the first bytes of the current record. */
  keepHead(bytes: Buffer, start: number): void {
    this.#head ??= copyHead(bytes, start, bytes.length);
  }

  /** Hands over the current record, `buffer[start..end)`. */
  end(buffer: Buffer, start: number, end: number, prefix?: Buffer): void {
    const length = end - start;
    this.records++;
    if (length > this.#maxRecordBytes) {
      this.oversizedRecords++;
      this.#sink.oversized(this.#head ?? copyHead(buffer, start, end), length, prefix);
      this.#head = undefined;
    } else {
      this.#sink.record(buffer, start, end, prefix);
    }
  }
}

const copyHead = (bytes: Buffer, start: number, end: number): Buffer =>
  Buffer.from(bytes.subarray(start, Math.min(start + OVERSIZED_HEAD_BYTES, end)));

/** What splitters have in common that find records by scanning the joined bytes. */
export abstract class ScanningSplitter implements Splitter, Scanner {
  protected readonly joiner = new ChunkJoiner();
  protected readonly handOver: RecordHandOver;

  constructor({ maxRecordBytes }: SplitOptions, sink: SplitSink) {
    this.handOver = new RecordHandOver(sink, maxRecordBytes);
  }

  abstract readonly refusal: string | undefined;

  get records(): number {
    return this.handOver.records;
  }

  get origin(): number {
    return this.joiner.origin;
  }

  push(chunk: Buffer): void {
    this.joiner.push(chunk, this);
  }

  abstract finish(isEndProven: boolean): SplitEnd;
  abstract scan(bytes: Buffer): number;
  abstract shift(by: number): void;
}
