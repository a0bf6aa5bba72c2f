// Reads the list of a feed with details and requests the details, before the list is planned.
import type { FeedReading } from '../../feed/feed-reading.ts';
import type { OpenedFeed } from '../../feed/read-feed.ts';
import type { RateLimiter } from '../../flow/rate-limiter.ts';
import { crossStep } from '../../telemetry/steps.ts';
import type { FeedSetup, PullContext } from '../feed-setup.ts';
import { asStreamingFeed } from '../pull-slots.ts';
import { DetailedList } from './detailed-list.ts';

interface ListContext extends PullContext {
  /** That of the list. */
  readonly limiter?: RateLimiter;
  /** See `DetailsContext`. */
  readonly mayStore: boolean;
  readonly refusal?: string;
  /** Its number, for the log; a plan has none. */
  readonly pull?: number;
  /** See `RecordIntake`. */
  readonly samplesKnown?: boolean;
}

/** Calls `work` once the list was read, and its details were looked up or requested. Until then no transaction is open. */
export async function withDetailedList<T>(
  setup: FeedSetup,
  { pull, samplesKnown, ...context }: ListContext,
  opened: Pick<OpenedFeed, 'read'>,
  work: (list: DetailedList, reading: Extract<FeedReading, { kind: 'read' | 'failed' }>) => Promise<T>,
): Promise<T> {
  const { log, signal, onProgress } = context;
  const list = await DetailedList.open(setup, context, samplesKnown);
  try {
    const reading = await asStreamingFeed(signal, (wait) => opened.read(list, { onProgress, wait }));
    signal.throwIfAborted();
    crossStep('records-read');
    if (reading.kind === 'read') {
      await list.requestDetails();
      if (pull !== undefined) log.info({ feed: setup.feed, pull, ...list.reader.counts }, 'details read');
      crossStep('details-read');
    }
    return await work(list, reading);
  } finally {
    await list.close();
  }
}
