// Splits a feed in this thread.
import type { RecordSink } from '../feed-reading.ts';
import type { SplitEnd, Splitter } from '../format/format.ts';
import { formatOf } from '../format/formats.ts';
import { RecordBatch } from './record-batch.ts';
import type { Splitting, SplittingOptions } from './splitting.ts';

export class SplittingHere implements Splitting {
  readonly #options: SplittingOptions;
  readonly #sink: RecordSink;
  readonly #batch = RecordBatch.empty();
  #splitter: Splitter;
  #ended = false;
  /** Records of the documents before this one. */
  #recordsBefore = 0;

  constructor(options: SplittingOptions, sink: RecordSink) {
    this.#options = options;
    this.#sink = sink;
    this.#splitter = formatOf(options.format).createSplitter(options, this.#batch);
  }

  get records(): number {
    return this.#recordsBefore + this.#splitter.records;
  }

  get refusal(): string | undefined {
    return this.#ended ? undefined : this.#splitter.refusal;
  }

  /** Splits without handing the records over. */
  hold(chunk: Buffer): void {
    if (this.#ended) this.#beginDocument();
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
    this.#splitter = formatOf(this.#options.format).createSplitter(this.#options, this.#batch);
    this.#ended = false;
  }

  async #handOver(): Promise<void> {
    this.#batch.hash();
    this.#sink.take(this.#batch);
    this.#batch.clear();
    await this.#sink.drain();
  }
}
