// Splits a feed in a thread of its own, while this one takes it from its source, hashes if it has the time, looks up and plans.
import { Worker } from 'node:worker_threads';
import type { MappingSpec } from '../../posting/mapping.ts';
import type { RecordSink } from '../feed-reading.ts';
import type { SplitEnd, SplitOptions } from '../format/xml/xml-splitter.ts';
import { CHUNK_BYTES, memoriesOf, RecordBatch } from './record-batch.ts';
import type { Splitting } from './splitting.ts';
import type { SplitBatch, SplittingOrder, ToSplitter } from './splitting-thread.ts';

/** Batches that did not come back yet: enough for the thread to go on while this one plans. */
const MOST_UNDER_WAY = 12;
/** Mebibytes for the thread's young garbage, all of which is gone at once; it would take several times as much. */
const YOUNG_MEBIBYTES = 3;

/** Threads run what is compiled, also where the sources run as they are (the tests). */
const SCRIPT = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/src/feed/batch/splitting-thread.js' : './splitting-thread.js',
  import.meta.url,
);

/** Batches go to and fro: loaded here, they are split there, and taken here. */
export class SplittingInThread implements Splitting {
  records = 0;
  refusal: string | undefined;
  readonly #sink: RecordSink;
  readonly #thread: Worker;
  readonly #spare: RecordBatch[] = [];
  #loading = RecordBatch.empty();
  #underWay = 0;
  #sentBytes = 0;
  #splitBytes = 0;
  readonly #arrived: SplitBatch[] = [];
  #end: SplitEnd | undefined;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  /** @param prefetchMapping by what mapping the thread reads records as well, as far as it has the time. */
  constructor(options: SplitOptions, sink: RecordSink, prefetchMapping?: MappingSpec) {
    this.#sink = sink;
    this.#thread = new Worker(SCRIPT, {
      name: 'splitting',
      workerData: { options, prefetchMapping } satisfies SplittingOrder,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEBIBYTES },
      // Options of the process, such as a profiler's, are not for its threads.
      execArgv: [],
    });
    this.#thread.on('message', (batch: SplitBatch) => {
      this.#arrived.push(batch);
      this.refusal ??= batch.refusal;
      this.#wake();
    });
    this.#thread.on('messageerror', (error) => this.#fail(error));
    this.#thread.on('error', (error) => this.#fail(error));
    this.#thread.on('exit', () => this.#fail(new Error('the thread that splits the feed ended by itself')));
  }

  async push(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const to = Math.min(chunk.length, at + CHUNK_BYTES - this.#loading.bytes.length);
      this.#loading.load(chunk, at, to);
      at = to;
      if (this.#loading.bytes.length === CHUNK_BYTES) await this.#send();
    }
  }

  async finish(): Promise<SplitEnd> {
    await this.#send();
    this.#tell({ kind: 'end' });
    this.#underWay++;
    while (this.#end === undefined) await this.#take();
    this.#checkAccounts(this.#end);
    return this.#end;
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }

  async #send(): Promise<void> {
    const packed = this.#loading.pack();
    this.#sentBytes += packed.bytesUsed;
    this.#tell({ kind: 'stretch', packed }, memoriesOf(packed));
    this.#underWay++;
    this.#loading = this.#spare.pop() ?? RecordBatch.empty();
    while (this.#arrived.length > 0 || this.#underWay >= MOST_UNDER_WAY) await this.#take();
  }

  /** Waits for the next batch, and hands it over. */
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
    this.#underWay--;
    this.records += batch.count;
    this.#end = end;
    this.#splitBytes = splitBytes;
    this.#sink.take(batch);
    await this.#sink.drain();
    batch.clear();
    if (batch.isWorthKeeping) this.#spare.push(batch);
  }

  /** What went and what came back: a batch that is lost would look like postings that are gone. */
  #checkAccounts({ records }: SplitEnd): void {
    if (this.#underWay === 0 && records === this.records && this.#splitBytes === this.#sentBytes) return;
    throw new Error(
      `splitting the feed went wrong: ${this.records} of ${records} records came back, ${this.#splitBytes} of ${this.#sentBytes} bytes were split`,
    );
  }

  #tell(message: ToSplitter, transfer: ArrayBuffer[] = []): void {
    this.#thread.postMessage(message, transfer);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }
}
