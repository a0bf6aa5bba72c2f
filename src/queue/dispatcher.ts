// Turns a site's backlog, however long, into a bounded window of queue jobs, and fills it up as it is worked off.
import type { FeedName } from '../posting/identifiers.ts';
import { type ReadReady, startWalk } from './backlog-walk.ts';
import type { SiteQueue } from './site-queue.ts';
import { rememberQueued } from './still-queued.ts';

export interface DispatcherOptions<Cursor> {
  /** The feeds of the site that may have something to send; asked for at each walk through the backlog. */
  readonly feeds: () => Promise<readonly FeedName[]>;
  readonly readReady: ReadReady<Cursor>;
  readonly queue: Pick<SiteQueue, 'batchSize' | 'addMany' | 'counts'>;
  /** Postings in the queue at most; see {@link windowFor}. */
  readonly window: number;
  /** Whether this process is the one that dispatches for the site, now. Asked about once a second. */
  readonly tryLead: () => Promise<boolean>;
  /** Whether the site may be sent to: not paused. Asked about once a second. */
  readonly mayDispatch: () => Promise<boolean>;
  /** Whether this process has something in work that it took from the queue: when it ends, it may be ready once more. */
  readonly isWorking: () => boolean;
  /** Hears why a round failed; the next one follows after a pause that grows to 5 s. */
  readonly onError: (error: unknown) => void;
}

export interface Dispatcher {
  /** Something became ready: look from the start, soon. */
  wake(): void;
  /**
   * Nothing is ready, queued or in work here, as of the latest look and since the latest `wake`. Always false where
   * another process leads or the site may not be sent to. What waits for its `not_before` does not count.
   */
  isQuiet(): boolean;
  /** Resolves when the round that is under way is over. */
  stop(): Promise<void>;
}

/** The window at full speed: half a second of work at 1,000 a second. */
const LARGEST_WINDOW = 1000;
const WINDOW_SECONDS = 20;

/**
 * How many postings to keep queued for a site: some seconds of its work, so that neither the workers run dry nor a feed
 * that comes later waits long behind what is queued already.
 */
export function windowFor(requestsPerSecond: number, concurrency: number): number {
  return Math.min(LARGEST_WINDOW, Math.max(4 * concurrency, Math.ceil(requestsPerSecond * WINDOW_SECONDS)));
}

/** A walk through the whole backlog begins this often: it finds retries that became due and queue jobs that were lost. */
const WALK_EVERY_MS = 5000;
/** Where the queue has run dry, a walk begins at once, though not more often than this. */
const DRY_WALK_MS = 500;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;
const LONGEST_ERROR_PAUSE_MS = 5000;
const ASK_EVERY_MS = 1000;

/** Remembers an answer for a second: rounds follow one another more often than that. */
function askedSeldom(ask: () => Promise<boolean>): () => Promise<boolean> {
  let answer = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - askedAt >= ASK_EVERY_MS) {
      answer = await ask();
      askedAt = performance.now();
    }
    return answer;
  };
}

/** Starts dispatching for one site, until it is stopped. Outages of Redis and Postgres only interrupt it. */
export function startDispatcher<Cursor>(options: DispatcherOptions<Cursor>): Dispatcher {
  const { queue, window } = options;
  const leads = askedSeldom(options.tryLead);
  const mayDispatch = askedSeldom(options.mayDispatch);
  const walk = startWalk(options.feeds, options.readReady);
  const stillQueued = rememberQueued(queue.batchSize);

  // A walk is due from the beginning: nothing is known yet.
  let walkBeganAt = Number.NEGATIVE_INFINITY;
  let woken = false;
  let quiet = false;
  let stopped = false;
  let pauseMs = 0;
  let endPause: () => void = () => undefined;

  /** After an error, or while this process has no say, nothing is known any more. */
  function forget(): void {
    quiet = false;
    walkBeganAt = Number.NEGATIVE_INFINITY;
  }

  /** Looks once. Resolves to whether it found anything. */
  async function round(): Promise<boolean> {
    if (!(await leads())) {
      stillQueued.forget();
      forget();
      return false;
    }
    if (!(await mayDispatch())) {
      forget();
      return false;
    }
    const { waiting, active } = await queue.counts();
    // As if each were full: what is added once too late is added all the same.
    const queued = (waiting + active) * queue.batchSize;
    if (queued > window / 2) return false;
    const ageMs = performance.now() - walkBeganAt;
    const ranDry = queued === 0 && walk.ended() && !quiet && ageMs >= DRY_WALK_MS;
    const begins = woken || ranDry || ageMs >= WALK_EVERY_MS;
    if (begins) {
      // What becomes ready while the feeds are asked for is for the next walk.
      woken = false;
      walkBeganAt = performance.now();
      await walk.restart();
    }
    if (walk.ended() && !begins) return false;
    const ready = await walk.take(window - queued);
    const postings = stillQueued.withoutThose(ready, waiting);
    if (postings.length > 0) {
      quiet = false;
      await queue.addMany(postings);
      stillQueued.added(postings);
    } else if (begins && queued === 0) quiet = !woken && !options.isWorking();
    return ready.length > 0;
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      let longestMs = LONGEST_PAUSE_MS;
      try {
        if (await round()) pauseMs = 0;
      } catch (error) {
        forget();
        longestMs = LONGEST_ERROR_PAUSE_MS;
        options.onError(error);
      }
      pauseMs = Math.min(longestMs, Math.max(SHORTEST_PAUSE_MS, 2 * pauseMs));
      if (!stopped) await pause(pauseMs);
    }
  }

  const ended = loop();
  return {
    wake() {
      woken = true;
      quiet = false;
      pauseMs = 0;
      endPause();
    },
    isQuiet: () => quiet,
    stop() {
      stopped = true;
      endPause();
      return ended;
    },
  };
}
