// Takes scheduled runs as they come due and completes each: with any number of processes, each run is one pull.
import { endsWithin, pause } from '../../flow/pause.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import {
  type DueRun,
  endRun,
  type FeedSchedule,
  giveBackForgotten,
  giveBackRuns,
  makeDue,
  nextDueInMs,
  type OnInvalidSchedule,
  takeDueRuns,
} from '../../store/feed/feed-schedule.ts';
import type { Database } from '../../store/postgres/database.ts';
import { withRetry } from '../../store/postgres/transient-error.ts';
import { nextRun } from './next-run.ts';

/** How a run ended: over until the next one is due, or to be started again. */
export type RunEnd = 'over' | 'again';

interface RunOptions {
  readonly db: Database;
  /** The worker number of this process. */
  readonly worker: number;
  readonly schedules: readonly FeedSchedule[];
  /** Maximum number of concurrent runs, most of them waiting for their source. */
  readonly mostAtOnce: number;
  /** The feeds whose pulls a person has paused: their runs stay due. By default none. */
  readonly pausedFeeds?: () => Promise<ReadonlySet<FeedName>>;
  /** Pulls the feed. Never rejects. */
  readonly run: (run: DueRun) => Promise<RunEnd>;
  /** Receives the error of a failed check; the next check follows. */
  readonly onError: (error: unknown) => void;
  /** Feeds that wait for a pull of this process that another configuration began. */
  readonly isPulled?: (feed: FeedName) => boolean;
  /** Receives feeds whose stored or configured schedule cannot be read. */
  readonly onInvalidSchedule: OnInvalidSchedule;
}

export interface Schedules {
  /**
   * Takes no more runs. Those that run go on, and count as over: the schedule says when the next ones are due. One that has to be
   * started again, or is cut off by `stop`, is due at once.
   * @param onEnded called when they have ended
   */
  leave(onEnded: () => void): Promise<void>;
  readonly isPulling: (feed: FeedName) => boolean;
  /** Takes no more runs, waits up to `graceMs` for running ones, and gives back those that have not ended. */
  stop(graceMs: number): Promise<void>;
}

/** Runs taken at once; other processes may take the rest. */
const TAKEN_AT_ONCE = 100;
/** Runs may also become free because other processes return them or die. */
const CHECK_EVERY_MS = 1_000;
const SHORTEST_PAUSE_MS = 20;
const FULL_PAUSE_MS = 100;
/** Delay before retrying a feed that another process pulls. */
const AGAIN_AFTER_MS = 2_000;
const RECONCILE_EVERY_MS = 30_000;
/** Delay before checking an unreadable schedule again. */
const UNREADABLE_FOR_MS = 15_000;

/** Takes runs until stopped. Database outages only interrupt it. */
export function startScheduledRuns(options: RunOptions): Schedules {
  const { db, worker, schedules, mostAtOnce } = options;
  /** Aborts when no more runs are taken: by `leave` or by `stop`. */
  const ending = new AbortController();
  /** Aborts by `stop` only. */
  const stopping = new AbortController();
  let isLeft = false;
  const running = new Map<FeedName, Promise<void>>();
  const notBefore = new Map<FeedName, number>();
  let reconciledAt = performance.now();

  /** Checks once. Resolves to the delay before the next check. */
  async function check(): Promise<number> {
    if (performance.now() - reconciledAt > RECONCILE_EVERY_MS) {
      await giveBackForgotten(db, worker, [...running.keys()]);
      reconciledAt = performance.now();
    }
    const room = mostAtOnce - running.size;
    if (room <= 0) return FULL_PAUSE_MS;
    const paused = await options.pausedFeeds?.();
    const able = schedules.filter(
      ({ feed }) =>
        !(running.has(feed) || paused?.has(feed) || options.isPulled?.(feed)) &&
        (notBefore.get(feed) ?? 0) <= performance.now(),
    );
    const taken = await takeDueRuns(db, worker, able, Math.min(room, TAKEN_AT_ONCE), nextRun, (feed, error) => {
      notBefore.set(feed, performance.now() + UNREADABLE_FOR_MS);
      options.onInvalidSchedule(feed, error);
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
    // `stop` gives back the runs that it cut off.
    if (stopping.signal.aborted && !isLeft && end === 'again') return;
    if (end === 'again') notBefore.set(run.feed, performance.now() + AGAIN_AFTER_MS);
    else notBefore.delete(run.feed);
    const record = end === 'again' ? () => startAgain([run.feed]) : () => endRun(db, worker, run.feed);
    // If this cannot be recorded now, the run is later treated as forgotten and runs once more.
    await withRetry(record, stopping.signal).catch(options.onError);
  }

  async function startAgain(feeds: readonly FeedName[]): Promise<void> {
    await giveBackRuns(db, worker, feeds);
    // `leave` has ended them, so nothing else tells whoever follows.
    if (isLeft) await makeDue(db, feeds);
  }

  async function loop(): Promise<void> {
    while (!ending.signal.aborted) {
      let pauseMs = CHECK_EVERY_MS;
      try {
        pauseMs = await check();
      } catch (error) {
        options.onError(error);
      }
      if (!ending.signal.aborted && pauseMs > 0) await pause(pauseMs, ending.signal);
    }
  }

  const looping = loop();
  return {
    isPulling: (feed) => running.has(feed),
    async leave(onEnded) {
      isLeft = true;
      ending.abort();
      await looping;
      void Promise.all(running.values()).then(onEnded);
      for (const feed of running.keys()) await endRun(db, worker, feed).catch(options.onError);
    },
    async stop(graceMs) {
      ending.abort();
      stopping.abort();
      await looping;
      await endsWithin(Promise.all(running.values()), graceMs);
      await giveBackForgotten(db, worker, []).catch(options.onError);
      if (isLeft) await startAgain([...running.keys()]).catch(options.onError);
    },
  };
}
