// Turns a function over one item into a BullMQ worker for queue jobs of one or several, which never loops and stops when told to.
import { setMaxListeners } from 'node:events';
import type { RateLimiterOptions } from 'bullmq';
import type { QueueBackend } from './backend.ts';
import { endsWithin } from './ends-within.ts';
import { NotClosedError } from './reported-error.ts';

export interface RunningWorker {
  /**
   * Takes nothing new and waits for what is being processed, `graceMs` at most; then the processors' signal aborts, and
   * a second later the connections are dropped.
   */
  stop(graceMs: number): Promise<void>;
  /** Takes nothing new until it is told to go on; what is being processed goes on. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

export interface WorkerTask<Data, Item> {
  readonly queueName: string;
  /** Queue jobs at a time, in this process. */
  readonly concurrency: number;
  /** The items of a queue job; they are processed side by side. */
  readonly itemsOf: (data: Data) => readonly Item[];
  /** Adds each of these items as a queue job of its own; absent where none has several. */
  readonly addApart?: ((items: readonly Item[]) => Promise<void>) | undefined;
  /** Over all processes together; absent: as fast as it goes. */
  readonly limiter: RateLimiterOptions | undefined;
  /**
   * Processes one item. The signal aborts when the worker is stopped and the grace is over. `handOver` says that the
   * item's queue job need not wait for it any more: what becomes of it if the process dies is taken care of elsewhere.
   */
  readonly process: (item: Item, signal: AbortSignal, handOver: () => void) => Promise<void>;
  /** Records an item that `process` threw at, or that processes died with again and again. Its queue job then ends. */
  readonly onPoisoned: (item: Item, error: Error) => Promise<void>;
}

/** A worker that was killed is noticed after the lock has run out, at the second look at the latest: 14 s. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 2000;

/**
 * Restarts and power cuts must not count against a posting, one that kills each process that touches it must end:
 * it is taken up this many times after processes died with it.
 */
const MOST_DEATHS = 10;

/** How long processors have to heed their signal, and connections to go down. */
const FORCE_MS = 1000;

/** Starts a worker; resolves once it takes queue jobs. Each runs once and ends, whatever comes of it. */
export async function startWorker<Data, Item>(
  backend: QueueBackend,
  task: WorkerTask<Data, Item>,
): Promise<RunningWorker> {
  const forced = new AbortController();
  // Every item in work may listen to the one signal.
  setMaxListeners(0, forced.signal);

  /** What is being processed, whether a queue job still waits for it or not. */
  const inFlight = new Set<Promise<void>>();

  async function processOne(item: Item, handOver: () => void): Promise<void> {
    try {
      await task.process(item, forced.signal, handOver);
    } catch (thrown) {
      // Cut off by the stop: not the item's fault.
      if (forced.signal.aborted) return;
      // Recorded before the queue job ends, so that the item can't be added and taken again in between.
      await task.onPoisoned(item, thrown instanceof Error ? thrown : new Error(String(thrown))).catch(backend.report);
    }
  }

  /** Resolves when the item was handed over, or is done with. */
  function begin(item: Item): Promise<void> {
    return new Promise((resolve) => {
      const ended = processOne(item, resolve).then(() => {
        inFlight.delete(ended);
        resolve();
      });
      inFlight.add(ended);
    });
  }

  const worker = await backend.worker<Data>(
    task.queueName,
    async (job) => {
      const items = task.itemsOf(job.data);
      // One of them may be what the process died of: the others are not to share its fate.
      if (items.length > 1 && job.stalledCounter > 0 && task.addApart !== undefined) return task.addApart(items);
      await Promise.all(items.map(begin));
    },
    {
      concurrency: task.concurrency,
      limiter: task.limiter,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: MOST_DEATHS,
      // How long an idle worker waits for the server's word before it looks for itself, in seconds.
      drainDelay: 5,
      // Pause after an error of the connection.
      runRetryDelay: 1000,
    },
  );
  worker.on('failed', (job, error) => {
    const [item, ...others] = job?.deferredFailure ? task.itemsOf(job.data) : [];
    if (item !== undefined && others.length === 0) {
      const poisoned = new Error(`processes died ${MOST_DEATHS + 1} times while they had it in work`);
      task.onPoisoned(item, poisoned).catch(backend.report);
    } else if (!forced.signal.aborted) backend.report(error);
  });

  let stopping: Promise<void> | undefined;
  const stop = async (graceMs: number): Promise<void> => {
    const closed = worker.close().then(() => Promise.all(inFlight));
    if (await endsWithin(closed, graceMs)) return;
    forced.abort(new Error('the worker is stopped'));
    if (await endsWithin(closed, FORCE_MS)) return;
    if (await endsWithin(worker.disconnect(), FORCE_MS)) return;
    backend.report(new NotClosedError(`the worker of queue ${task.queueName} did not close`));
  };
  return {
    stop(graceMs) {
      stopping ??= stop(graceMs);
      return stopping;
    },
    pause: () => worker.pause(true),
    resume: () => worker.resume(),
  };
}
