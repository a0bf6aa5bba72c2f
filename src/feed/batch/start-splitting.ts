// Splits the bytes of a feed into batches of hashed records: a short feed in this thread, what is longer in one of its own.
import { availableParallelism } from 'node:os';
import type { MappingSpec } from '../../posting/mapping.ts';
import type { RecordSink } from '../feed-reading.ts';
import type { SplitEnd, SplitOptions } from '../format/xml/xml-splitter.ts';
import { GrowingBytes } from './growing-bytes.ts';
import type { Splitting } from './splitting.ts';
import { SplittingHere } from './splitting-here.ts';
import { SplittingInThread } from './splitting-in-thread.ts';

/** A thread takes some 30 ms to start, in which ten times as much is split. */
const THREAD_FROM_BYTES = 2 * 1024 * 1024;

/** Where a feed is split, and what is done there besides. */
export interface SplittingPlace {
  /** Feeds with more bytes are split in a thread; where there is one core, none is by default. */
  readonly threadsFrom?: number;
  /** By what mapping a thread reads records as well, as far as it has the time. */
  readonly prefetchMapping?: MappingSpec;
}

/** Begins to split a feed. Throws where a path is not one. */
export function startSplitting(options: SplitOptions, sink: RecordSink, place: SplittingPlace = {}): Splitting {
  const from = place.threadsFrom ?? (availableParallelism() > 1 ? THREAD_FROM_BYTES : Number.POSITIVE_INFINITY);
  return from === Number.POSITIVE_INFINITY
    ? new SplittingHere(options, sink)
    : new SplittingBySize(options, sink, from, place.prefetchMapping);
}

/**
 * The beginning of the feed is split here as it comes, so that what is no feed is refused at once. Its records are held
 * back: if the feed ends there they are handed over, otherwise they are dropped, and a thread splits the feed again from
 * its first byte. So all records come from one splitter, and none comes twice.
 */
class SplittingBySize implements Splitting {
  readonly #options: SplitOptions;
  readonly #sink: RecordSink;
  readonly #threadsFrom: number;
  readonly #prefetchMapping: MappingSpec | undefined;
  #here: { readonly splitting: SplittingHere; readonly bytes: GrowingBytes } | undefined;
  #current: Splitting;

  constructor(options: SplitOptions, sink: RecordSink, threadsFrom: number, prefetchMapping: MappingSpec | undefined) {
    this.#options = options;
    this.#sink = sink;
    this.#threadsFrom = threadsFrom;
    this.#prefetchMapping = prefetchMapping;
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
      this.#current = new SplittingInThread(this.#options, this.#sink, this.#prefetchMapping);
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
