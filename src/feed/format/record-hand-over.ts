// Hands the records of a document over by their extent, and those above the size limit as oversized.
import type { SplitSink } from './format.ts';

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
