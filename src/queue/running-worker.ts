// Runs a function over single items as a BullMQ worker for queue jobs of one or several items; always stops in bounded time.
import { setMaxListeners } from 'node:events';
import type { RateLimiterOptions } from 'bullmq';
import { endsWithin } from '../flow/pause.ts';
import type { QueueBackend } from './backend.ts';
import { QUEUE_TIMING, type QueueTiming } from './queue-timing.ts';
import { NotClosedError } from './shared-connection.ts';

export interface RunningWorker {
  /**
   * Takes nothing new and waits at most `graceMs` for items in flight; then aborts the processors' signal, and a second
   * later drops the connections.
   * @param cutOff ends the grace before its time
   */
  stop(graceMs: number, cutOff?: AbortSignal): Promise<void>;
  /** Takes nothing new until resumed; items in flight continue. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

export interface WorkerTask<Data, Item> {
  readonly queueName: string;
  /** Concurrent queue jobs in this process. */
  readonly concurrency: number;
  /** The items of a queue job, which are processed concurrently. */
  readonly itemsOf: (data: Data) => readonly Item[];
  /** Adds each of these items as a separate queue job; absent if queue jobs never have several items. */
  readonly addApart?: ((items: readonly Item[]) => Promise<void>) | undefined;
  /** Limit over all processes together; absent for no limit. */
  readonly limiter: RateLimiterOptions | undefined;
  /**
   * Processes one item. The signal aborts when the worker is stopped and its grace is over. `handOver` says that the queue
   * job need not wait for the item any more: if the process dies from then on, the item is recovered elsewhere.
   */
  readonly process: (item: Item, signal: AbortSignal, handOver: () => void) => Promise<void>;
  /** Records an item for which `process` threw, or with which processes died repeatedly. Its queue job then ends. */
  readonly onPoisoned: (item: Item, error: Error) => Promise<void>;
  readonly timing?: QueueTiming | undefined;
}

/**
 * Restarts and power cuts must not count against a posting, but one that kills every process must end: this is how often it
 * is retried after processes died with it.
 */
const MOST_DEATHS = 10;

/** How long processors have to react to their signal, and connections to close. */
const FORCE_MS = 1000;

/** Starts a worker; resolves once it takes queue jobs. Each queue job runs once and ends, whatever the outcome. */
export async function startWorker<Data, Item>(
  backend: QueueBackend,
  task: WorkerTask<Data, Item>,
): Promise<RunningWorker> {
  const { timing = QUEUE_TIMING } = task;
  const forced = new AbortController();
  // Every item in flight may listen to this one signal.
  setMaxListeners(0, forced.signal);

  /** Items in flight, whether or not a queue job still waits for them. */
  const inFlight = new Set<Promise<void>>();

  async function processOne(item: Item, handOver: () => void): Promise<void> {
    try {
      await task.process(item, forced.signal, handOver);
    } catch (thrown) {
      // Aborted by the stop, which is not the item's fault.
      if (forced.signal.aborted) return;
      // Recorded before the queue job ends, so that the item cannot be added and taken again in between.
      await task.onPoisoned(item, thrown instanceof Error ? thrown : new Error(String(thrown))).catch(backend.report);
    }
  }

  /** Resolves when the item was handed over or has ended. */
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
      // One item may be the reason why the process died, so the others are processed separately.
      if (items.length > 1 && job.stalledCounter > 0 && task.addApart !== undefined) return task.addApart(items);
      await Promise.all(items.map(begin));
    },
    {
      concurrency: task.concurrency,
      limiter: task.limiter,
      lockDuration: timing.lockMs,
      stalledInterval: timing.stalledCheckMs,
      maxStalledCount: MOST_DEATHS,
      // How long, in seconds, an idle worker waits for a notification before it polls.
      drainDelay: 5,
      // Pause after a connection error.
      runRetryDelay: 1000,
    },
  );
  worker.on('failed', (job, error) => {
    const [item, ...others] = job?.deferredFailure ? task.itemsOf(job.data) : [];
    if (item !== undefined && others.length === 0) {
      const poisoned = new Error(`processes died ${MOST_DEATHS + 1} times while processing it`);
      task.onPoisoned(item, poisoned).catch(backend.report);
    } else if (!forced.signal.aborted) backend.report(error);
  });

  let stopping: Promise<void> | undefined;
  const stop = async (graceMs: number, cutOff: AbortSignal | undefined): Promise<void> => {
    const closed = worker.close().then(() => Promise.all(inFlight));
    if (await endsWithin(closed, graceMs, cutOff)) return;
    forced.abort(new Error('the worker is stopped'));
    if (await endsWithin(closed, FORCE_MS)) return;
    if (await endsWithin(worker.disconnect(), FORCE_MS)) return;
    backend.report(new NotClosedError(`the worker of queue ${task.queueName} did not close`));
  };
  return {
    stop(graceMs, cutOff) {
      stopping ??= stop(graceMs, cutOff);
      return stopping;
    },
    pause: () => worker.pause(true),
    resume: () => worker.resume(),
  };
}
