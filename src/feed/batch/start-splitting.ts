// Splits the bytes of a feed into batches of hashed records: short feeds in this thread, longer ones in a worker
// thread.
import { availableParallelism } from 'node:os';
import type { FieldMapping } from '../../posting/field-mapping.ts';
import type { RecordSink } from '../feed-reading.ts';
import type { SplitEnd } from '../format/format.ts';
import { GrowingBytes } from './growing-bytes.ts';
import type { DocumentFacts, Splitting, SplittingOptions } from './splitting.ts';
import { type OnRecord, SplittingHere } from './splitting-here.ts';
import { SplittingInThread } from './splitting-in-thread.ts';

/** Starting a thread takes about 200 ms of CPU time, most of it to load its modules: far more than to split so few bytes. */
const THREAD_FROM_BYTES = 2 * 1024 * 1024;

/** Where a feed is split, and what else is done there. */
export interface SplittingThreadOptions {
  /** Feeds with more bytes are split in a worker thread; by default none on a single core. */
  readonly threadsFrom?: number;
  /** The mapping with which a worker thread also parses records if it has time. */
  readonly prefetchMapping?: FieldMapping;
  /** Feeds are then split in this thread, whatever their size. */
  readonly onRecord?: OnRecord;
}

/** Starts splitting a feed. Throws for an invalid path. */
export function startSplitting(
  options: SplittingOptions,
  sink: RecordSink,
  thread: SplittingThreadOptions = {},
): Splitting {
  if (thread.onRecord !== undefined) return new SplittingHere(options, sink, thread.onRecord);
  const from = thread.threadsFrom ?? (availableParallelism() > 1 ? THREAD_FROM_BYTES : Number.POSITIVE_INFINITY);
  return from === Number.POSITIVE_INFINITY
    ? new SplittingHere(options, sink)
    : new SplittingBySize(options, sink, from, thread.prefetchMapping);
}

/**
 * Splits the beginning of the feed in this thread, to refuse anything that is not a feed at once, and holds the records
 * of the current document back. If the document ends there, they are handed over. Otherwise they are dropped and a worker
 * thread splits that document from its first byte, and all later ones: the records of a document come from one splitter
 * and none comes twice.
 */
class SplittingBySize implements Splitting {
  #options: SplittingOptions;
  readonly #sink: RecordSink;
  readonly #threadsFrom: number;
  readonly #prefetchMapping: FieldMapping | undefined;
  /** Until a thread takes over; `bytes` of the current document. */
  #here: { readonly splitting: SplittingHere; readonly bytes: GrowingBytes } | undefined;
  /** Of the documents that ended in this thread. */
  readonly #ended = { bytes: 0, records: 0 };
  #current: Splitting;

  constructor(
    options: SplittingOptions,
    sink: RecordSink,
    threadsFrom: number,
    prefetchMapping: FieldMapping | undefined,
  ) {
    this.#options = options;
    this.#sink = sink;
    this.#threadsFrom = threadsFrom;
    this.#prefetchMapping = prefetchMapping;
    const splitting = new SplittingHere(options, sink);
    this.#here = { splitting, bytes: new GrowingBytes(Buffer.alloc(0)) };
    this.#current = splitting;
  }

  get records(): number {
    return (this.#here === undefined ? this.#ended.records : 0) + this.#current.records;
  }

  get refusal(): string | undefined {
    return this.#current.refusal;
  }

  begin(facts: DocumentFacts): void {
    this.#options = { ...this.#options, ...facts };
    this.#current.begin(facts);
  }

  async push(chunk: Buffer): Promise<void> {
    const here = this.#here;
    if (here === undefined) {
      await this.#current.push(chunk);
    } else if (this.#ended.bytes + here.bytes.length + chunk.length <= this.#threadsFrom) {
      here.bytes.append(chunk);
      here.splitting.hold(chunk);
    } else {
      this.#here = undefined;
      this.#current = new SplittingInThread(this.#options, this.#sink, this.#prefetchMapping);
      await this.#current.push(here.bytes.bytes);
      await this.#current.push(chunk);
    }
  }

  async endDocument(isEndProven: boolean): Promise<SplitEnd> {
    const end = await this.#current.endDocument(isEndProven);
    if (this.#here !== undefined) {
      this.#ended.bytes += this.#here.bytes.length;
      this.#ended.records += end.records;
      this.#here.bytes.clear();
    }
    return end;
  }

  close(): Promise<void> {
    return this.#current.close();
  }
}
