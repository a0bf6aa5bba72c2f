// Turns posting keys into queue jobs of their site: one for each posting, or for a batch of them where much is sent.
import { createHash } from 'node:crypto';
import type { FeedName, PostingKey, SiteName } from '../posting/identifiers.ts';
import type { QueueBackend } from './backend.ts';
import { endsWithin } from './ends-within.ts';
import { limiterFor } from './rate-limit.ts';
import { NotClosedError } from './reported-error.ts';
import { type RunningWorker, startWorker, type WorkerTask } from './running-worker.ts';

/** What a queue job says of a posting: look at it. What is to be done with it stands in the database. */
export interface QueuedPosting {
  readonly feed: FeedName;
  readonly key: PostingKey;
}

/** All that a queue job carries. One of an earlier version is a posting by itself. */
interface Batch {
  readonly postings: readonly QueuedPosting[];
}

/** Queue jobs, each with as many postings as the batch size says at most. */
export interface QueueCounts {
  /** Not yet taken by a worker. */
  readonly waiting: number;
  /** With a worker that has not handed all of it over yet, or with one that died and has not yet been missed. */
  readonly active: number;
}

export interface SiteQueue {
  /** Postings to a queue job; the last one of an `addMany` may have less. */
  readonly batchSize: number;
  /**
   * Adds them in this order, as many to a queue job as the batch size says. A batch that waits already is not added
   * again; one that is being processed is processed once more afterwards. Throws if the queue can't be reached; some of
   * them may be added then.
   */
  addMany(postings: readonly QueuedPosting[]): Promise<void>;
  /** Adds each as a queue job of its own, whatever the batch size. Throws as {@link SiteQueue.addMany} does. */
  addApart(postings: readonly QueuedPosting[]): Promise<void>;
  counts(): Promise<QueueCounts>;
  close(): Promise<void>;
}

const queueNameOf = (site: SiteName): string => `apply-${site}`;

const LARGEST_BATCH = 8;

/**
 * Postings to a queue job. One, so that each stands for itself, unless a queue job's own price would limit a site that
 * takes much: a batch is worth no more than 20 ms of its rate. All processes that work for the site must have the same:
 * queue jobs are what the limit of the rate counts.
 */
export function batchSizeFor(requestsPerSecond: number): number {
  return Math.max(1, Math.min(LARGEST_BATCH, Math.floor(requestsPerSecond / 50)));
}

/** A server that does not answer any more must not keep a process that ends. */
const CLOSE_MS = 5_000;

/** The same postings have the same ID; a digest, since a key may hold any characters and be long. */
function deduplicationId(postings: readonly QueuedPosting[]): string {
  const text = postings.map(({ feed, key }) => [feed, key]);
  return createHash('sha256').update(JSON.stringify(text)).digest('base64url').slice(0, 22);
}

function* batchesOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** Opens a site's queue for adding and counting. @param batchSize see {@link batchSizeFor}. */
export async function openSiteQueue(backend: QueueBackend, site: SiteName, batchSize = 1): Promise<SiteQueue> {
  const queue = await backend.queue<Batch>(queueNameOf(site));
  async function add(postings: readonly QueuedPosting[], toEach: number): Promise<void> {
    const jobs = [...batchesOf(postings, toEach)].map((batch) => ({
      name: 'apply',
      data: { postings: batch },
      // No `jobId`: one would lose what is added while the batch is being processed.
      opts: { deduplication: { id: deduplicationId(batch), keepLastIfActive: true } },
    }));
    for (const some of batchesOf(jobs, backend.addAtOnce)) await queue.addBulk(some);
  }
  return {
    batchSize,
    addMany: (postings) => add(postings, batchSize),
    addApart: (postings) => add(postings, 1),
    async counts() {
      const { waiting = 0, active = 0 } = await queue.getJobCounts('waiting', 'active');
      return { waiting, active };
    },
    async close() {
      if (await endsWithin(queue.close(), CLOSE_MS)) return;
      // Nothing is lost: what is still to be sent is in the backlog, whatever the queue has of it.
      backend.report(new NotClosedError(`queue ${queue.name} did not close within ${CLOSE_MS / 1000} s`));
      await endsWithin(queue.disconnect(), CLOSE_MS);
    },
  };
}

export interface ApplyWorkerOptions {
  readonly site: SiteName;
  /** Its queue, which tells how large batches are. */
  readonly queue: Pick<SiteQueue, 'batchSize' | 'addApart'>;
  /** Postings at a time, in this process, that are not handed over yet; of batches, as many as it takes for that. */
  readonly concurrency: number;
  /** Over all processes that work for this site; fractions too, `Infinity`: no limit. */
  readonly requestsPerSecond: number;
  /** See {@link WorkerTask.process}. */
  readonly process: (item: QueuedPosting, signal: AbortSignal, handOver: () => void) => Promise<void>;
  /** Puts the posting into review: `process` threw at it, or processes died with it before it was handed over. */
  readonly onPoisoned: (item: QueuedPosting, error: Error) => Promise<void>;
}

/**
 * Starts working for a site in this process. The postings of a batch are processed side by side; where a process died
 * with a batch, each comes again as a queue job of its own.
 */
export function startApplyWorker(backend: QueueBackend, options: ApplyWorkerOptions): Promise<RunningWorker> {
  const { site, queue, concurrency, requestsPerSecond, process, onPoisoned } = options;
  return startWorker<Batch | QueuedPosting, QueuedPosting>(backend, {
    queueName: queueNameOf(site),
    concurrency: Math.ceil(concurrency / queue.batchSize),
    limiter: limiterFor(requestsPerSecond / queue.batchSize),
    itemsOf: (batch) => ('postings' in batch ? batch.postings : [batch]),
    addApart: queue.addApart,
    process,
    onPoisoned,
  });
}
