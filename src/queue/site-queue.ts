// Turns posting keys into queue jobs of their site: at most one waits per posting, one more follows if one is running.
import { createHash } from 'node:crypto';
import type { FeedName, PostingKey, SiteName } from '../posting/identifiers.ts';
import type { QueueBackend } from './backend.ts';
import { limiterFor } from './rate-limit.ts';
import { type RunningWorker, startWorker } from './running-worker.ts';

/** All that a queue job carries: look at this posting. What is to be done with it stands in the database. */
export interface QueuedPosting {
  readonly feed: FeedName;
  readonly key: PostingKey;
}

export interface QueueCounts {
  /** Not yet taken by a worker. */
  readonly waiting: number;
  /** With a worker now, or with one that died and has not yet been missed. */
  readonly active: number;
}

export interface SiteQueue {
  /**
   * Adds a queue job for each. One that waits already is not added again; one that is being processed is processed once
   * more afterwards. Throws if the queue can't be reached; some of them may be added then.
   */
  addMany(postings: readonly QueuedPosting[]): Promise<void>;
  counts(): Promise<QueueCounts>;
  close(): Promise<void>;
}

const queueNameOf = (site: SiteName): string => `apply-${site}`;

/** The same posting has the same ID; a digest, since a key may hold any characters and be long. */
function deduplicationId({ feed, key }: QueuedPosting): string {
  // Feed names hold no `/`, so that no two pairs read alike.
  return createHash('sha256').update(`${feed}/${key}`).digest('base64url').slice(0, 22);
}

/** Opens a site's queue for adding and counting. */
export async function openSiteQueue(backend: QueueBackend, site: SiteName): Promise<SiteQueue> {
  const queue = await backend.queue<QueuedPosting>(queueNameOf(site));
  return {
    async addMany(postings) {
      for (let start = 0; start < postings.length; start += backend.addAtOnce) {
        const batch = postings.slice(start, start + backend.addAtOnce).map(({ feed, key }) => ({
          name: 'apply',
          data: { feed, key },
          // No `jobId`: one would lose what is added while the posting is being processed.
          opts: { deduplication: { id: deduplicationId({ feed, key }), keepLastIfActive: true } },
        }));
        await queue.addBulk(batch);
      }
    },
    async counts() {
      const { waiting = 0, active = 0 } = await queue.getJobCounts('waiting', 'active');
      return { waiting, active };
    },
    close: () => queue.close(),
  };
}

export interface ApplyWorkerOptions {
  readonly site: SiteName;
  /** Postings at a time, in this process. */
  readonly concurrency: number;
  /** Over all processes that work for this site; fractions too, `Infinity`: no limit. */
  readonly requestsPerSecond: number;
  readonly process: (item: QueuedPosting, signal: AbortSignal) => Promise<void>;
  /** Puts the posting into review: `process` threw at it, or processes died with it again and again. */
  readonly onPoisoned: (item: QueuedPosting, error: Error) => Promise<void>;
}

/** Starts working for a site in this process. */
export function startApplyWorker(backend: QueueBackend, options: ApplyWorkerOptions): Promise<RunningWorker> {
  const { site, concurrency, requestsPerSecond, process, onPoisoned } = options;
  const limiter = limiterFor(requestsPerSecond);
  return startWorker<QueuedPosting>(backend, {
    queueName: queueNameOf(site),
    concurrency,
    limiter,
    process,
    onPoisoned,
  });
}
