// A thread that splits one feed: takes its bytes stretch by stretch, and sends them back with the records found in them.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { type PackedBatch, RecordBatch } from './record-batch.ts';
import { type SplitEnd, type SplitOptions, XmlSplitter } from './xml-splitter.ts';

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
 * With so many stretches waiting, the thread that reads is faster than this one: the hashing is left to it. They are also
 * what there is to do here while that one plans.
 */
const MANY_WAITING = 6;

if (parentPort === null) throw new Error('this script is a thread of jobmirror');
const port = parentPort;
let batch: RecordBatch;
let splitBytes = 0;
const splitter = new XmlSplitter(workerData as SplitOptions, {
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
    for (let more = receiveMessageOnPort(port); more !== undefined; more = receiveMessageOnPort(port)) {
      waiting.push(more.message);
    }
    if (waiting.length < MANY_WAITING) batch.hash();
    const packed = batch.pack();
    const said: SplitBatch = { packed, refusal: splitter.refusal, end, splitBytes };
    port.postMessage(said, [packed.bytes, packed.facts]);
  }
});

/** Splits into `batch`. */
function split(message: ToSplitter): SplitEnd | undefined {
  if (message.kind === 'end') {
    batch = RecordBatch.empty();
    return splitter.finish();
  }
  batch = RecordBatch.unpack(message.packed);
  splitBytes += message.packed.bytesUsed;
  splitter.push(batch.bytes);
  return undefined;
}
