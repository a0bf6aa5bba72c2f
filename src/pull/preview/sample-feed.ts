// Reads the beginning of a feed, to find likely mistakes of its configuration.
import type { RecordBatch } from '../../feed/batch/record-batch.ts';
import { readFeed } from '../../feed/read-feed.ts';
import type { FeedSetup } from '../feed-setup.ts';
import { FIRST_RECORDS, RecordSample } from '../record-sample.ts';

/** A document without records is not read any further. */
const MOST_BYTES = 64 * 1024 * 1024;

/** One sentence for each likely mistake, or why the feed cannot be read. Throws only the reason of the signal. */
export async function sampleFeed(setup: FeedSetup, signal: AbortSignal): Promise<readonly string[]> {
  const sample = new RecordSample(setup);
  const enough = new AbortController();
  let records = 0;
  const sink = {
    take(batch: RecordBatch) {
      sample.take(batch);
      records += batch.count;
      if (records >= FIRST_RECORDS) enough.abort();
    },
    drain: () => undefined,
  };
  const onProgress = ({ bytes }: { readonly bytes: number }) => {
    if (bytes > MOST_BYTES) enough.abort();
  };
  try {
    const reading = await readFeed(setup.source, sink, {
      signal: AbortSignal.any([signal, enough.signal]),
      onProgress,
      threadsFromBytes: Number.POSITIVE_INFINITY,
    });
    if (reading.kind === 'failed') return [reading.message];
    if (reading.kind === 'read' && reading.advice !== undefined) return [reading.advice];
    if (reading.kind === 'read' && reading.records === 0) return reading.shortfalls;
  } catch (error) {
    signal.throwIfAborted();
    if (!enough.signal.aborted) throw error;
  }
  return sample.mistakes();
}
