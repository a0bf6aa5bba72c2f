// Splits a feed in this thread.
import type { RecordSink } from '../feed-reading.ts';
import type { SplitEnd, Splitter } from '../format/format.ts';
import { formatOf } from '../format/formats.ts';
import { RecordBatch } from './record-batch.ts';
import type { Splitting, SplittingOptions } from './splitting.ts';

export class SplittingHere implements Splitting {
  readonly #sink: RecordSink;
  readonly #batch = RecordBatch.empty();
  readonly #splitter: Splitter;

  constructor(options: SplittingOptions, sink: RecordSink) {
    this.#sink = sink;
    this.#splitter = formatOf(options.format).createSplitter(options, this.#batch);
  }

  get records(): number {
    return this.#splitter.records;
  }

  get refusal(): string | undefined {
    return this.#splitter.refusal;
  }

  /** Splits without handing the records over. */
  hold(chunk: Buffer): void {
    this.#splitter.push(this.#batch.load(chunk));
  }

  async push(chunk: Buffer): Promise<void> {
    this.hold(chunk);
    await this.#handOver();
  }

  async finish(): Promise<SplitEnd> {
    const end = this.#splitter.finish();
    await this.#handOver();
    return end;
  }

  async close(): Promise<void> {}

  async #handOver(): Promise<void> {
    this.#batch.hash();
    this.#sink.take(this.#batch);
    this.#batch.clear();
    await this.#sink.drain();
  }
}
