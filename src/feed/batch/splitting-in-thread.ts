// Splits a feed in a worker thread, while this thread reads the source, hashes records left unhashed, and plans.
import { Worker } from 'node:worker_threads';
import type { FieldMapping } from '../../posting/field-mapping.ts';
import type { RecordSink } from '../feed-reading.ts';
import type { SplitEnd } from '../format/format.ts';
import { CHUNK_BYTES, memoriesOf, RecordBatch } from './record-batch.ts';
import type { DocumentFacts, Splitting, SplittingOptions } from './splitting.ts';
import type { SplitBatch, SplittingWorkerData, ToSplitter } from './splitting-thread.ts';

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
export class SplittingInThread implements Splitting {
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
      workerData: { options, prefetchMapping } satisfies SplittingWorkerData,
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
    this.#post({ kind: 'chunk', packed }, memoriesOf(packed));
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

  #post(message: ToSplitter, transfer: ArrayBuffer[] = []): void {
    this.#thread.postMessage(message, transfer);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }
}
