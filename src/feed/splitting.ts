// Splits the bytes of a feed into batches of hashed records: a short feed in this thread, what is longer in two others.
import { availableParallelism } from 'node:os';
import type { RecordSink } from './feed-reading.ts';
import { GrowingBytes } from './growing-bytes.ts';
import { RecordBatch } from './record-batch.ts';
import { SplittingInThread } from './splitting-in-thread.ts';
import { type SplitEnd, type SplitOptions, XmlSplitter } from './xml-splitter.ts';

/** What one feed's bytes are pushed into. */
export interface Splitting {
  /** Records so far. */
  readonly records: number;
  /** Why reading must stop: this is no feed, or one that is refused. */
  readonly refusal: string | undefined;
  /** Takes the next bytes, which may be reused afterwards. Throws what the sink throws. */
  push(chunk: Buffer): Promise<void>;
  /** Ends the document; all of its records were handed over then. */
  finish(): Promise<SplitEnd>;
  /** Ends what is still running, whatever became of the feed. */
  close(): Promise<void>;
}

/** Threads take some 30 ms to start, in which ten times as much is split. */
const THREADS_FROM_BYTES = 2 * 1024 * 1024;

/**
 * Begins to split a feed. Throws where a path is not one.
 * @param threadsFrom feeds with more bytes are split in threads; where there is one core, none is by default.
 */
export function startSplitting(options: SplitOptions, sink: RecordSink, threadsFrom?: number): Splitting {
  const from = threadsFrom ?? (availableParallelism() > 1 ? THREADS_FROM_BYTES : Number.POSITIVE_INFINITY);
  return from === Number.POSITIVE_INFINITY
    ? new SplittingHere(options, sink)
    : new SplittingBySize(options, sink, from);
}

class SplittingHere implements Splitting {
  readonly #sink: RecordSink;
  readonly #batch = RecordBatch.empty();
  readonly #splitter: XmlSplitter;

  constructor(options: SplitOptions, sink: RecordSink) {
    this.#sink = sink;
    this.#splitter = new XmlSplitter(options, this.#batch);
  }

  get records(): number {
    return this.#splitter.records;
  }

  get refusal(): string | undefined {
    return this.#splitter.refusal;
  }

  /** Splits without handing over. */
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

/**
 * The beginning of the feed is split here as it comes, so that what is no feed is refused at once. Its records are held
 * back: if the feed ends there they are handed over, otherwise they are dropped, and threads split the feed again from
 * its first byte. So all records come from one splitter, and none comes twice.
 */
class SplittingBySize implements Splitting {
  readonly #options: SplitOptions;
  readonly #sink: RecordSink;
  readonly #threadsFrom: number;
  #here: { readonly splitting: SplittingHere; readonly bytes: GrowingBytes } | undefined;
  #current: Splitting;

  constructor(options: SplitOptions, sink: RecordSink, threadsFrom: number) {
    this.#options = options;
    this.#sink = sink;
    this.#threadsFrom = threadsFrom;
    const splitting = new SplittingHere(options, sink);
    this.#here = { splitting, bytes: new GrowingBytes(Buffer.alloc(0)) };
    this.#current = splitting;
  }

  get records(): number {
    return this.#current.records;
  }

  get refusal(): string | undefined {
    return this.#current.refusal;
  }

  async push(chunk: Buffer): Promise<void> {
    const here = this.#here;
    if (here === undefined) {
      await this.#current.push(chunk);
    } else if (here.bytes.length + chunk.length <= this.#threadsFrom) {
      here.bytes.append(chunk);
      here.splitting.hold(chunk);
    } else {
      this.#here = undefined;
      this.#current = new SplittingInThread(this.#options, this.#sink);
      await this.#current.push(here.bytes.bytes);
      await this.#current.push(chunk);
    }
  }

  finish(): Promise<SplitEnd> {
    return this.#current.finish();
  }

  close(): Promise<void> {
    return this.#current.close();
  }
}
