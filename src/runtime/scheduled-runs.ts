// Takes the runs of feeds' schedules as they come due, and sees each through: however many processes do, each run is one pull.
import type { FeedName } from '../posting/identifiers.ts';
import {
  type DueRun,
  endRun,
  type FeedSchedule,
  giveBackForgotten,
  giveBackRuns,
  nextDueInMs,
  type OnUnreadable,
  takeDueRuns,
} from '../store/feed/feed-schedule.ts';
import type { Database } from '../store/postgres/database.ts';
import { withRetry } from '../store/postgres/with-retry.ts';
import { nextRun } from './next-run.ts';

/** How a run ended: it is over until the next one is due, or is to be begun again. */
export type RunEnd = 'over' | 'again';

export interface RunOptions {
  readonly db: Database;
  /** The number of this process. */
  readonly worker: number;
  readonly schedules: readonly FeedSchedule[];
  /** Runs that may be under way at a time, most of them waiting for their source. */
  readonly mostAtOnce: number;
  /** Pulls the feed. Never rejects. */
  readonly run: (run: DueRun) => Promise<RunEnd>;
  /** Hears why a look failed; the next one follows. */
  readonly onError: (error: unknown) => void;
  /** Hears that the stored schedule of a feed can't be read, or its configured one either. */
  readonly onUnreadable: OnUnreadable;
}

export interface ScheduledRuns {
  /** Takes nothing new, waits for what is under way, `graceMs` at most, and gives back what has not ended. */
  stop(graceMs: number): Promise<void>;
}

/** Runs taken in one go: others may take the next ones. */
const TAKEN_AT_ONCE = 100;
/** Others give runs back, or die with them. */
const CHECK_EVERY_MS = 1_000;
const SHORTEST_PAUSE_MS = 20;
const FULL_PAUSE_MS = 100;
/** Before a feed that somebody else pulls is asked for again. */
const AGAIN_AFTER_MS = 2_000;
const RECONCILE_EVERY_MS = 30_000;
/** Before a schedule that can't be read is looked at again. */
const UNREADABLE_FOR_MS = 15_000;

/** Starts taking runs, until it is stopped. Outages of the database only interrupt it. */
export function startScheduledRuns(options: RunOptions): ScheduledRuns {
  const { db, worker, schedules, mostAtOnce } = options;
  const stopping = new AbortController();
  const running = new Map<FeedName, Promise<void>>();
  const notBefore = new Map<FeedName, number>();
  let reconciledAt = performance.now();

  /** Looks once. Resolves to how long to wait before the next look. */
  async function check(): Promise<number> {
    if (performance.now() - reconciledAt > RECONCILE_EVERY_MS) {
      await giveBackForgotten(db, worker, [...running.keys()]);
      reconciledAt = performance.now();
    }
    const room = mostAtOnce - running.size;
    if (room <= 0) return FULL_PAUSE_MS;
    const able = schedules.filter(({ feed }) => !running.has(feed) && (notBefore.get(feed) ?? 0) <= performance.now());
    const taken = await takeDueRuns(db, worker, able, Math.min(room, TAKEN_AT_ONCE), nextRun, (feed, error) => {
      notBefore.set(feed, performance.now() + UNREADABLE_FOR_MS);
      options.onUnreadable(feed, error);
    });
    for (const run of taken) begin(run);
    if (taken.length > 0) return 0;
    const waitMs = await nextDueInMs(
      db,
      able.map(({ feed }) => feed),
    );
    return Math.max(SHORTEST_PAUSE_MS, Math.min(CHECK_EVERY_MS, Math.ceil(waitMs ?? CHECK_EVERY_MS)));
  }

  function begin(run: DueRun): void {
    running.set(
      run.feed,
      seeThrough(run).finally(() => running.delete(run.feed)),
    );
  }

  async function seeThrough(run: DueRun): Promise<void> {
    const end = await options.run(run);
    // What was cut off by the stop is given back by it.
    if (stopping.signal.aborted && end === 'again') return;
    if (end === 'again') notBefore.set(run.feed, performance.now() + AGAIN_AFTER_MS);
    else notBefore.delete(run.feed);
    const note = end === 'again' ? () => giveBackRuns(db, worker, [run.feed]) : () => endRun(db, worker, run.feed);
    // What can't be noted now is taken for forgotten later, and runs once more.
    await withRetry(note, stopping.signal).catch(options.onError);
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      let pauseMs = CHECK_EVERY_MS;
      try {
        pauseMs = await check();
      } catch (error) {
        options.onError(error);
      }
      if (!stopping.signal.aborted && pauseMs > 0) await pause(pauseMs, stopping.signal);
    }
  }

  const looping = loop();
  return {
    async stop(graceMs) {
      stopping.abort();
      await looping;
      const ended = new AbortController();
      const all = Promise.all(running.values()).finally(() => ended.abort());
      // A timer that is left would keep the process from ending.
      await Promise.race([all, pause(graceMs, ended.signal)]);
      await giveBackForgotten(db, worker, []).catch(options.onError);
    },
  };
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
