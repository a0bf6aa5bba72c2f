// Worker thread that splits the documents of one feed: receives their bytes in chunks and returns them with the records
// found, already parsed if requested and if there is time.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { FieldMapping } from '../../posting/field-mapping.ts';
import type { ReadPosting } from '../../posting/posting.ts';
import { compileReader } from '../../posting/reader.ts';
import type { SplitEnd } from '../format/format.ts';
import { formatOf } from '../format/formats.ts';
import { type PackedBatch, RecordBatch, transferredBuffersOf } from './record-batch.ts';
import { type DocumentFacts, PROGRAM_VERSION, type SplittingOptions } from './splitting.ts';

/** The thread's start parameters. */
export interface SplittingWorkerData {
  /** Of the thread that starts this one. */
  readonly version: string;
  readonly options: SplittingOptions;
  /** The mapping with which to parse records ahead; `undefined`: do not. */
  readonly prefetchMapping: FieldMapping | undefined;
}

export type SplitterMessage =
  /** Begins the next document; has no reply. */
  | { readonly kind: 'begin'; readonly facts: DocumentFacts }
  /** The feed's next bytes, loaded into a batch. */
  | { readonly kind: 'chunk'; readonly packed: PackedBatch }
  | { readonly kind: 'end'; readonly isEndProven: boolean };

/** The result of splitting a chunk, or of the document's end. */
export interface SplitBatch {
  readonly packed: PackedBatch;
  readonly refusal: string | undefined;
  readonly end: SplitEnd | undefined;
  /** Bytes split so far. */
  readonly splitBytes: number;
}

/**
 * With this many chunks waiting, this thread is slower than the planning thread, so hashing and parsing are left to
 * that one. Otherwise they fill the time here while the other thread plans.
 */
const MANY_WAITING = 6;

if (parentPort === null) throw new Error('this script must run as a worker thread of jobmirror');
const port = parentPort;
let batch: RecordBatch;
let splitBytes = 0;
const { version, options: startOptions, prefetchMapping } = workerData as SplittingWorkerData;
if (version !== PROGRAM_VERSION)
  throw new Error('another version of jobmirror was installed while this process runs: restart it');
let options = startOptions;
const reader = prefetchMapping === undefined ? undefined : compileReader(prefetchMapping);
const format = formatOf(options.format);
const createSplitter = () =>
  format.createSplitter(options, {
    record: (buffer, start, end, prefix) => batch.record(buffer, start, end, prefix),
    oversized: (head, length, prefix) => batch.oversized(head, length, prefix),
  });
let splitter = createSplitter();

const waiting: SplitterMessage[] = [];
port.on('messageerror', (error) => {
  throw error;
});
port.on('message', (first: SplitterMessage) => {
  waiting.push(first);
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (next.kind === 'begin') {
      options = { ...options, ...next.facts };
      splitter = createSplitter();
      continue;
    }
    const { end, refusal } = split(next);
    if (hasTime()) batch.hash();
    if (reader !== undefined) batch.prefetch(read, hasTime);
    const packed = batch.pack();
    const result: SplitBatch = { packed, refusal, end, splitBytes };
    port.postMessage(result, transferredBuffersOf(packed));
  }
});

/** Receives pending messages and returns whether few enough are waiting. */
function hasTime(): boolean {
  for (let more = receiveMessageOnPort(port); more !== undefined; more = receiveMessageOnPort(port)) {
    waiting.push(more.message);
  }
  return waiting.length < MANY_WAITING;
}

/** Leaves records that are not one posting to the planning thread, which counts them. */
function read(record: Buffer): ReadPosting | undefined {
  const parsed = format.parseRecord(record);
  const result = parsed.kind === 'tree' ? reader?.read(parsed.tree) : undefined;
  return result?.kind === 'posting' || result?.kind === 'invalid' ? result : undefined;
}

/** Splits a message's bytes into `batch`. After the end of a document, the next bytes begin another one. */
function split(message: Exclude<SplitterMessage, { kind: 'begin' }>): Pick<SplitBatch, 'end' | 'refusal'> {
  if (message.kind === 'end') {
    batch = RecordBatch.empty();
    const ended = splitter;
    splitter = createSplitter();
    return { end: ended.finish(message.isEndProven), refusal: ended.refusal };
  }
  batch = RecordBatch.unpack(message.packed);
  splitBytes += message.packed.bytesUsed;
  splitter.push(batch.loaded);
  return { end: undefined, refusal: splitter.refusal };
}
