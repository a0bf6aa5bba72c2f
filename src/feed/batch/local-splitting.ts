// Splits a feed in this thread.
import type { RecordSink } from '../feed-reading.ts';
import type { SplitEnd, SplitSink, Splitter } from '../format/format.ts';
import { formatOf } from '../format/formats.ts';
import { RecordBatch } from './record-batch.ts';
import type { DocumentFacts, Splitting, SplittingOptions } from './splitting.ts';

/** Receives the line of each record before its batch is handed over; `undefined` if it is not known. */
export type OnRecord = (line: number | undefined) => void;

export class LocalSplitting implements Splitting {
  #options: SplittingOptions;
  readonly #sink: RecordSink;
  readonly #batch = RecordBatch.empty();
  readonly #onRecord: OnRecord | undefined;
  #splitter: Splitter;
  #lines: RecordLines | undefined;
  #ended = false;
  /** Records of the documents before this one. */
  #recordsBefore = 0;

  constructor(options: SplittingOptions, sink: RecordSink, onRecord?: OnRecord) {
    this.#options = options;
    this.#sink = sink;
    this.#onRecord = onRecord;
    this.#splitter = this.#createSplitter();
  }

  get records(): number {
    return this.#recordsBefore + this.#splitter.records;
  }

  get refusal(): string | undefined {
    return this.#ended ? undefined : this.#splitter.refusal;
  }

  begin(facts: DocumentFacts): void {
    this.#options = { ...this.#options, ...facts };
    // Otherwise the next bytes, or the end of the document, begin it.
    if (!this.#ended) this.#splitter = this.#createSplitter();
  }

  /** Splits without handing the records over. */
  hold(chunk: Buffer): void {
    if (this.#ended) this.#beginDocument();
    this.#lines?.add(chunk);
    this.#splitter.push(this.#batch.load(chunk));
  }

  async push(chunk: Buffer): Promise<void> {
    this.hold(chunk);
    await this.#handOver();
  }

  async endDocument(isEndProven: boolean): Promise<SplitEnd> {
    // A document without bytes.
    if (this.#ended) this.#beginDocument();
    this.#ended = true;
    const end = this.#splitter.finish(isEndProven);
    await this.#handOver();
    return end;
  }

  async close(): Promise<void> {}

  #beginDocument(): void {
    this.#recordsBefore = this.records;
    this.#splitter = this.#createSplitter();
    this.#ended = false;
  }

  #createSplitter(): Splitter {
    const sink = this.#onRecord === undefined ? this.#batch : this.#locatingSink(this.#onRecord);
    return formatOf(this.#options.format).createSplitter(this.#options, sink);
  }

  #locatingSink(onRecord: OnRecord): SplitSink {
    const lines = new RecordLines();
    this.#lines = lines;
    return {
      record: (buffer, start, end, prefix) => {
        onRecord(lines.lineAt(this.#splitter.origin + start));
        this.#batch.record(buffer, start, end, prefix);
      },
      oversized: (head, length, prefix) => {
        onRecord(undefined);
        this.#batch.oversized(head, length, prefix);
      },
    };
  }

  async #handOver(): Promise<void> {
    this.#batch.hash();
    this.#sink.take(this.#batch);
    this.#batch.clear();
    await this.#sink.drain();
  }
}

// Finds the lines on which the records of a document begin, while the document is split.
const LINE_FEED = 0x0a;

/** Takes positions in ascending order, as splitters hand over records. */
class RecordLines {
  /** Positions of the line feeds after the last record, from `#next` on. */
  #breaks: number[] = [];
  #next = 0;
  #passed = 0;
  #length = 0;

  /** Takes the next bytes of the document. */
  add(chunk: Buffer): void {
    this.#breaks = this.#breaks.slice(this.#next);
    this.#next = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) {
      this.#breaks.push(this.#length + at);
    }
    this.#length += chunk.length;
  }

  /** The line of a position, from 1. */
  lineAt(position: number): number {
    while ((this.#breaks[this.#next] ?? Number.POSITIVE_INFINITY) < position) {
      this.#next++;
      this.#passed++;
    }
    return this.#passed + 1;
  }
}
