// Splits the bytes of a feed into batches of hashed records: short feeds in this thread, longer ones in a worker
// thread.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { FieldMapping } from '../../posting/field-mapping.ts';
import type { RecordSink } from '../feed-reading.ts';
import type { SplitEnd, SplitSink, Splitter } from '../format/format.ts';
import { formatOf } from '../format/formats.ts';
import { GrowingBytes } from './growing-bytes.ts';
import { CHUNK_BYTES, RecordBatch, transferredBuffersOf } from './record-batch.ts';
import { type DocumentFacts, PROGRAM_VERSION, type Splitting, type SplittingOptions } from './splitting.ts';
import type { SplitBatch, SplitterMessage, SplittingWorkerData } from './splitting-thread.ts';

/** Starting a thread takes about 200 ms of CPU time, most of it to load its modules: far more than to split so few bytes. */
const THREAD_FROM_BYTES = 2 * 1024 * 1024;

/** Where a feed is split, and what else is done there. */
interface SplittingThreadOptions {
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
  if (thread.onRecord !== undefined) return new LocalSplitting(options, sink, thread.onRecord);
  const from = thread.threadsFrom ?? (availableParallelism() > 1 ? THREAD_FROM_BYTES : Number.POSITIVE_INFINITY);
  return from === Number.POSITIVE_INFINITY
    ? new LocalSplitting(options, sink)
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
  #here: { readonly splitting: LocalSplitting; readonly bytes: GrowingBytes } | undefined;
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
    const splitting = new LocalSplitting(options, sink);
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

// Splits a feed in a worker thread, while this thread reads the source, hashes records left unhashed, and plans.

/** Maximum batches in flight: enough to keep the worker thread busy while this one plans. */
const MAX_IN_FLIGHT = 12;
/**
 * Young generation of the thread's heap. Its garbage is short-lived, and the default would take several times as much.
 */
const YOUNG_MEBIBYTES = 3;

/** Threads run the compiled script, even where the sources run uncompiled, as in tests. */
const SCRIPT = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/src/feed/batch/splitting-thread.js' : './splitting-thread.js',
  import.meta.url,
);

/** Batches are loaded here, split in the worker thread, and consumed here. */
class SplittingInThread implements Splitting {
  records = 0;
  refusal: string | undefined;
  readonly #sink: RecordSink;
  readonly #thread: Worker;
  readonly #spare: RecordBatch[] = [];
  #loading = RecordBatch.empty();
  #inFlight = 0;
  /** Records of the documents that ended. */
  #endedRecords = 0;
  #sentBytes = 0;
  #splitBytes = 0;
  readonly #arrived: SplitBatch[] = [];
  #end: SplitEnd | undefined;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  /** @param prefetchMapping the mapping with which the thread also parses records if it has time. */
  constructor(options: SplittingOptions, sink: RecordSink, prefetchMapping?: FieldMapping) {
    this.#sink = sink;
    this.#thread = new Worker(SCRIPT, {
      name: 'splitting',
      workerData: { version: PROGRAM_VERSION, options, prefetchMapping } satisfies SplittingWorkerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEBIBYTES },
      // Process options, such as a profiler's, must not apply to the thread.
      execArgv: [],
    });
    this.#thread.on('message', (batch: SplitBatch) => {
      this.#arrived.push(batch);
      this.refusal ??= batch.refusal;
      this.#wake();
    });
    this.#thread.on('messageerror', (error) => this.#fail(error));
    this.#thread.on('error', (error) => this.#fail(error));
    this.#thread.on('exit', () => this.#fail(new Error('the thread that splits the feed exited unexpectedly')));
  }

  begin(facts: DocumentFacts): void {
    this.#post({ kind: 'begin', facts });
  }

  async push(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const to = Math.min(chunk.length, at + CHUNK_BYTES - this.#loading.bytes.length);
      this.#loading.load(chunk, at, to);
      at = to;
      if (this.#loading.bytes.length === CHUNK_BYTES) await this.#send();
    }
  }

  async endDocument(isEndProven: boolean): Promise<SplitEnd> {
    await this.#send();
    this.#post({ kind: 'end', isEndProven });
    this.#inFlight++;
    while (this.#end === undefined) await this.#take();
    const end = this.#end;
    this.#end = undefined;
    this.refusal = undefined;
    this.#endedRecords += end.records;
    this.#checkAccounts();
    return end;
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }

  async #send(): Promise<void> {
    const packed = this.#loading.pack();
    this.#sentBytes += packed.bytesUsed;
    this.#post({ kind: 'chunk', packed }, transferredBuffersOf(packed));
    this.#inFlight++;
    this.#loading = this.#spare.pop() ?? RecordBatch.empty();
    while (this.#arrived.length > 0 || this.#inFlight >= MAX_IN_FLIGHT) await this.#take();
  }

  /** Waits for the next batch and hands it over. */
  async #take(): Promise<void> {
    while (this.#arrived.length === 0) {
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const { packed, end, splitBytes } = this.#arrived.shift() as SplitBatch;
    const batch = RecordBatch.unpack(packed);
    batch.hash();
    this.#inFlight--;
    this.records += batch.count;
    this.#end = end;
    this.#splitBytes = splitBytes;
    this.#sink.take(batch);
    await this.#sink.drain();
    batch.clear();
    if (batch.isWorthKeeping) this.#spare.push(batch);
  }

  /** Compares what was sent with what came back: a lost batch would look like gone postings. */
  #checkAccounts(): void {
    const ended = this.#endedRecords;
    if (this.#inFlight === 0 && ended === this.records && this.#splitBytes === this.#sentBytes) return;
    throw new Error(
      `splitting the feed failed: ${this.records} of ${ended} records came back, ${this.#splitBytes} of ${this.#sentBytes} bytes were split`,
    );
  }

  #post(message: SplitterMessage, transfer: ArrayBuffer[] = []): void {
    this.#thread.postMessage(message, transfer);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }
}

// Splits a feed in this thread.

/** Receives the line of each record before its batch is handed over; `undefined` if it is not known. */
type OnRecord = (line: number | undefined) => void;

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
