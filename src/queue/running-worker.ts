// Turns a function over one item into a BullMQ worker that never loops, and that stops when it is told to.
import { setMaxListeners } from 'node:events';
import type { RateLimiterOptions } from 'bullmq';
import type { QueueBackend } from './backend.ts';

export interface RunningWorker {
  /**
   * Takes nothing new and waits for what is being processed, `graceMs` at most; then the processors' signal aborts, and
   * a second later the connections are dropped. What was cut off is delivered again, here or elsewhere.
   */
  stop(graceMs: number): Promise<void>;
}

export interface WorkerTask<Item> {
  readonly queueName: string;
  /** Items at a time, in this process. */
  readonly concurrency: number;
  /** Over all processes together; absent: as fast as it goes. */
  readonly limiter: RateLimiterOptions | undefined;
  /** Processes one item. The signal aborts when the worker is stopped and the grace is over. */
  readonly process: (item: Item, signal: AbortSignal) => Promise<void>;
  /** Records an item that `process` threw at, or that processes died with again and again. Its queue job then ends. */
  readonly onPoisoned: (item: Item, error: Error) => Promise<void>;
}

/** A worker that was killed is noticed after the lock has run out, at the second look at the latest: 14 s. */
const LOCK_MS = 10_000;
const STALLED_LOOK_MS = 2000;

/**
 * Restarts and power cuts must not count against a posting, one that kills each process that touches it must end:
 * it is taken up this many times after processes died with it.
 */
const MOST_DEATHS = 10;

/** How long processors have to heed their signal, and connections to go down. */
const FORCE_MS = 1000;

async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Starts a worker; resolves once it takes items. A queue job runs once and ends, whatever comes of it. */
export async function startWorker<Item>(backend: QueueBackend, task: WorkerTask<Item>): Promise<RunningWorker> {
  const forced = new AbortController();
  // Every item in work may listen to the one signal.
  setMaxListeners(0, forced.signal);

  const worker = await backend.worker<Item>(
    task.queueName,
    async (job) => {
      try {
        await task.process(job.data, forced.signal);
      } catch (thrown) {
        // Cut off by the stop: not the item's fault.
        if (forced.signal.aborted) throw thrown;
        // Recorded before the queue job ends, so that the item can't be added and taken again in between.
        await task.onPoisoned(job.data, thrown instanceof Error ? thrown : new Error(String(thrown)));
      }
    },
    {
      concurrency: task.concurrency,
      limiter: task.limiter,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_LOOK_MS,
      maxStalledCount: MOST_DEATHS,
      // How long an idle worker waits for the server's word before it looks for itself, in seconds.
      drainDelay: 5,
      // Pause after an error of the connection.
      runRetryDelay: 1000,
    },
  );
  // Other jobs that fail were thrown at above, where nobody could record them: the error says so, the backlog has them.
  worker.on('failed', (job, error) => {
    if (job?.deferredFailure) {
      const poisoned = new Error(`processes died ${MOST_DEATHS + 1} times while they had it in work`);
      task.onPoisoned(job.data, poisoned).catch(backend.report);
    } else if (!forced.signal.aborted) backend.report(error);
  });

  let stopping: Promise<void> | undefined;
  const stop = async (graceMs: number): Promise<void> => {
    const closed = worker.close();
    if (await settlesWithin(closed, graceMs)) return;
    forced.abort(new Error('the worker is stopped'));
    if (await settlesWithin(closed, FORCE_MS)) return;
    await settlesWithin(worker.disconnect(), FORCE_MS);
  };
  return {
    stop(graceMs) {
      stopping ??= stop(graceMs);
      return stopping;
    },
  };
}
