// Adds postings to their site's queue: one queue job per posting, or per batch of them at high rates.
import { createHash } from 'node:crypto';
import type { RateLimiterOptions } from 'bullmq';
import { endsWithin } from '../flow/pause.ts';
import { RATE_WINDOW_MS } from '../flow/rate-limiter.ts';
import type { PostingRef, SiteName } from '../posting/identifiers.ts';
import type { QueueBackend } from './backend.ts';
import type { QueueTiming } from './queue-timing.ts';
import { type RunningWorker, startWorker, type WorkerTask } from './running-worker.ts';
import { NotClosedError } from './shared-connection.ts';

/** Data of a queue job: postings to check. What has to be done is in the database. Queue jobs of earlier versions hold a single posting instead. */
interface Batch {
  readonly postings: readonly PostingRef[];
}

/** Numbers of queue jobs, each with at most as many postings as the batch size. */
export interface QueueCounts {
  /** Not yet taken by a worker. */
  readonly waiting: number;
  /** With a worker that has not handed over all of it, or with one that died and was not missed yet. */
  readonly active: number;
}

export interface SiteQueue {
  /** Postings per queue job; the last one of an `addMany` may have fewer. */
  readonly batchSize: number;
  /**
   * Adds them in this order, in batches. A batch that is already waiting is not added again; one that is being processed is
   * processed once more afterwards. Throws if the queue is unreachable; some of the postings may have been added by then.
   */
  addMany(postings: readonly PostingRef[]): Promise<void>;
  /** Adds each as a separate queue job, whatever the batch size. Throws like {@link SiteQueue.addMany}. */
  addApart(postings: readonly PostingRef[]): Promise<void>;
  counts(): Promise<QueueCounts>;
  close(): Promise<void>;
}

const queueNameOf = (site: SiteName): string => `apply-${site}`;

/** A queue job costs as much as storing three or four outcomes. */
const LARGEST_BATCH = 32;

/**
 * Postings per queue job: one, unless the cost of a queue job would limit a fast site; a batch holds at most 20 ms of its
 * rate. All processes of the site must use the same size, because the rate limit counts queue jobs.
 */
export function batchSizeFor(requestsPerSecond: number): number {
  return Math.max(1, Math.min(LARGEST_BATCH, Math.floor(requestsPerSecond / 50)));
}

/** An unresponsive server must not keep a process from ending. */
const CLOSE_MS = 5_000;

/** Equal for equal postings; a digest, as a key may be long and contain any characters. */
function deduplicationId(postings: readonly PostingRef[]): string {
  const text = postings.map(({ feed, key }) => [feed, key]);
  return createHash('sha256').update(JSON.stringify(text)).digest('base64url').slice(0, 22);
}

function* batchesOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** Opens a site's queue for adding and counting. @param batchSize see {@link batchSizeFor}. */
export async function openSiteQueue(backend: QueueBackend, site: SiteName, batchSize = 1): Promise<SiteQueue> {
  const queue = await backend.queue<Batch>(queueNameOf(site));
  async function add(postings: readonly PostingRef[], toEach: number): Promise<void> {
    const jobs = [...batchesOf(postings, toEach)].map((batch) => ({
      name: 'apply',
      data: { postings: batch },
      // No `jobId`: with one, postings added while the batch is being processed would be lost.
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
      // Nothing is lost: what remains to be sent is in the backlog.
      backend.report(new NotClosedError(`queue ${queue.name} did not close within ${CLOSE_MS / 1000} s`));
      await endsWithin(queue.disconnect(), CLOSE_MS);
    },
  };
}

export interface ApplyWorkerOptions {
  readonly site: SiteName;
  /** The site's queue, which determines the batch size. */
  readonly queue: Pick<SiteQueue, 'batchSize' | 'addApart'>;
  /** Postings in this process that are not handed over yet; with batches, as many batches as that takes. */
  readonly concurrency: number;
  /** Over all processes of this site; may be a fraction; `Infinity` for no limit. */
  readonly requestsPerSecond: number;
  /** See {@link WorkerTask.process}. */
  readonly process: (item: PostingRef, signal: AbortSignal, handOver: () => void) => Promise<void>;
  /** Puts a posting into review after `process` threw, or after processes died with it before it was handed over. */
  readonly onPoisoned: (item: PostingRef, error: Error) => Promise<void>;
  readonly timing?: QueueTiming | undefined;
}

/**
 * Starts working for a site in this process. The postings of a batch are processed concurrently; if a process dies with a
 * batch, each posting returns as a separate queue job.
 */
export function startApplyWorker(backend: QueueBackend, options: ApplyWorkerOptions): Promise<RunningWorker> {
  const { site, queue, concurrency, requestsPerSecond, process, onPoisoned, timing } = options;
  return startWorker<Batch | PostingRef, PostingRef>(backend, {
    queueName: queueNameOf(site),
    concurrency: Math.ceil(concurrency / queue.batchSize),
    limiter: limiterFor(requestsPerSecond / queue.batchSize),
    itemsOf: (batch) => ('postings' in batch ? batch.postings : [batch]),
    addApart: queue.addApart,
    process,
    onPoisoned,
    timing,
  });
}

/**
 * A window of whole jobs and milliseconds that never exceeds the rate: 0.5/s is one job in 2,000 ms, 10/s one in 100 ms,
 * 1,000/s a hundred in 100 ms.
 *
 * @param requestsPerSecond above 0; `Infinity` for no limit.
 * @throws RangeError for anything else.
 */
export function limiterFor(requestsPerSecond: number): RateLimiterOptions | undefined {
  if (!(requestsPerSecond > 0)) throw new RangeError(`requests per second must be above 0, not ${requestsPerSecond}`);
  if (requestsPerSecond === Number.POSITIVE_INFINITY) return undefined;
  const max = Math.max(1, Math.floor((requestsPerSecond * RATE_WINDOW_MS) / 1000));
  return { max, duration: Math.ceil((max * 1000) / requestsPerSecond) };
}
