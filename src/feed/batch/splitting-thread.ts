// A thread that splits one feed: takes its bytes stretch by stretch, and sends them back with the records found in them,
// read already if that is wanted and there is the time.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { MappingSpec } from '../../posting/mapping.ts';
import type { ReadPosting } from '../../posting/posting.ts';
import { compileReader } from '../../posting/reader.ts';
import { parseRecord } from '../format/xml/parse-record.ts';
import { type SplitEnd, type SplitOptions, XmlSplitter } from '../format/xml/xml-splitter.ts';
import { memoriesOf, type PackedBatch, RecordBatch } from './record-batch.ts';

/** What the thread is begun with. */
export interface SplittingOrder {
  readonly options: SplitOptions;
  /** By what mapping records are read ahead; `undefined`: they are not. */
  readonly prefetchMapping: MappingSpec | undefined;
}

export type ToSplitter =
  /** The feed's next bytes, as a batch that was loaded with them. */
  { readonly kind: 'stretch'; readonly packed: PackedBatch } | { readonly kind: 'end' };

/** What came of a stretch of the feed, or of the document's end. */
export interface SplitBatch {
  readonly packed: PackedBatch;
  readonly refusal: string | undefined;
  readonly end: SplitEnd | undefined;
  /** Bytes that were split so far. */
  readonly splitBytes: number;
}

/**
 * With so many stretches waiting, the thread that plans is faster than this one: hashing and reading are left to it. They
 * are also what there is to do here while that one plans.
 */
const MANY_WAITING = 6;

if (parentPort === null) throw new Error('this script is a thread of jobmirror');
const port = parentPort;
let batch: RecordBatch;
let splitBytes = 0;
const { options, prefetchMapping } = workerData as SplittingOrder;
const reader = prefetchMapping === undefined ? undefined : compileReader(prefetchMapping);
const splitter = new XmlSplitter(options, {
  record: (buffer, start, end) => batch.record(buffer, start, end),
  oversized: (head, length) => batch.oversized(head, length),
});

const waiting: ToSplitter[] = [];
port.on('messageerror', (error) => {
  throw error;
});
port.on('message', (first: ToSplitter) => {
  waiting.push(first);
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const end = split(next);
    if (hasTime()) batch.hash();
    if (reader !== undefined) batch.prefetch(read, hasTime);
    const packed = batch.pack();
    const said: SplitBatch = { packed, refusal: splitter.refusal, end, splitBytes };
    port.postMessage(said, memoriesOf(packed));
  }
});

/** Takes what has come meanwhile, and says whether it is little enough. */
function hasTime(): boolean {
  for (let more = receiveMessageOnPort(port); more !== undefined; more = receiveMessageOnPort(port)) {
    waiting.push(more.message);
  }
  return waiting.length < MANY_WAITING;
}

/** What is unreadable is left to the thread that plans, which says why. */
function read(record: Buffer): ReadPosting | undefined {
  const parsed = parseRecord(record);
  const result = parsed.kind === 'tree' ? reader?.read(parsed.tree) : undefined;
  return result?.kind === 'unreadable' ? undefined : result;
}

/** Splits into `batch`. */
function split(message: ToSplitter): SplitEnd | undefined {
  if (message.kind === 'end') {
    batch = RecordBatch.empty();
    return splitter.finish();
  }
  batch = RecordBatch.unpack(message.packed);
  splitBytes += message.packed.bytesUsed;
  splitter.push(batch.loaded);
  return undefined;
}
