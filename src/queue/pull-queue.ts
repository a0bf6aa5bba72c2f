// Turns feeds' schedules, and requests to pull now, into queue jobs that each say: pull this feed.
import { type FeedName, feedName } from '../posting/identifiers.ts';
import type { QueueBackend } from './backend.ts';
import { type RunningWorker, startWorker } from './running-worker.ts';

export interface FeedSchedule {
  readonly feed: FeedName;
  /** A cron expression. */
  readonly pattern: string;
  /** The IANA zone that the pattern is meant in. */
  readonly timeZone: string;
}

export interface PullQueue {
  /**
   * Makes the schedules in the queue these and no others. One that is as it should be is left alone, a run that is due
   * with it. Throws with every feed whose schedule could not be set; the others are set.
   */
  upsertSchedules(schedules: readonly FeedSchedule[]): Promise<void>;
  /** When each schedule runs next; a time that has passed means that its run waits for a worker. */
  nextRuns(): Promise<{ readonly feed: FeedName; readonly at: Date }[]>;
  /** Has the feed pulled as soon as a worker is free; if one is waiting already, that one will do. */
  requestPull(feed: FeedName): Promise<void>;
  close(): Promise<void>;
}

interface QueuedPull {
  readonly feed: FeedName;
}

const QUEUE_NAME = 'pull';

/** Pulls at a time, in one process: one that waits for a slow source must not hold up all others. */
const CONCURRENCY = 2;

/** BullMQ's name for the queue job of a schedule's next run. */
const runId = (scheduleId: string, at: number): string => `repeat:${scheduleId}:${at}`;

/** Opens the queue of pulls. */
export async function openPullQueue(backend: QueueBackend): Promise<PullQueue> {
  const queue = await backend.queue<QueuedPull>(QUEUE_NAME);
  return {
    async upsertSchedules(schedules) {
      const present = new Map((await queue.getJobSchedulers()).map((scheduler) => [scheduler.key, scheduler]));
      const problems: Error[] = [];
      for (const { feed, pattern, timeZone } of schedules) {
        const found = present.get(feed);
        present.delete(feed);
        // Setting a schedule discards its run that is due and waits for a worker, so a whole one is left alone. One
        // whose next run has no queue job (an error, or Redis was emptied) would never run again.
        const same = found?.pattern === pattern && found.tz === timeZone;
        if (same && (await queue.getJob(runId(feed, found.next ?? 0))) !== undefined) continue;
        try {
          await queue.upsertJobScheduler(feed, { pattern, tz: timeZone }, { name: 'pull', data: { feed } });
        } catch (cause) {
          problems.push(new Error(`feed ${feed}: the schedule "${pattern}" (${timeZone}) can't be set`, { cause }));
        }
      }
      for (const key of present.keys()) await queue.removeJobScheduler(key);
      if (problems.length > 0) throw new AggregateError(problems, problems.map(({ message }) => message).join('; '));
    },
    async nextRuns() {
      const schedulers = await queue.getJobSchedulers();
      return schedulers.map(({ key, next }) => ({ feed: feedName(key), at: new Date(next ?? 0) }));
    },
    async requestPull(feed) {
      await queue.add('pull', { feed }, { deduplication: { id: feed, keepLastIfActive: true } });
    },
    close: () => queue.close(),
  };
}

export interface PullWorkerOptions {
  /** Pulls one feed. Two pulls of one feed may be asked for at once: it must keep them apart itself. */
  readonly process: (feed: FeedName, signal: AbortSignal) => Promise<void>;
  /** Records a pull that threw; the schedule goes on. */
  readonly onFailed: (feed: FeedName, error: Error) => Promise<void>;
}

/** Starts pulling feeds in this process. */
export function startPullWorker(backend: QueueBackend, options: PullWorkerOptions): Promise<RunningWorker> {
  return startWorker<QueuedPull, QueuedPull>(backend, {
    queueName: QUEUE_NAME,
    concurrency: CONCURRENCY,
    itemsOf: (pull) => [pull],
    limiter: undefined,
    process: ({ feed }, signal) => options.process(feed, signal),
    onPoisoned: ({ feed }, error) => options.onFailed(feed, error),
  });
}
