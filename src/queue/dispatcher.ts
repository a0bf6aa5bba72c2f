// Feeds a site's backlog, however long, into a bounded window of queue jobs, and refills it as they complete.
import { pause } from '../flow/pause.ts';
import type { FeedName, PostingKey, PostingRef } from '../posting/identifiers.ts';
import type { SiteQueue } from './site-queue.ts';

export interface DispatcherOptions<Cursor> {
  /** The feeds of the site that may have something to send; requested for each walk through the backlog. */
  readonly feeds: () => Promise<readonly FeedName[]>;
  readonly readReady: ReadReady<Cursor>;
  readonly queue: Pick<SiteQueue, 'batchSize' | 'addMany' | 'counts'>;
  /** Maximum of postings in the queue; see {@link windowFor}. */
  readonly window: number;
  /** Whether this process currently dispatches for the site. Called about once a second. */
  readonly tryLead: () => Promise<boolean>;
  /** Whether the site accepts requests, that is, is not paused. Called about once a second. */
  readonly mayDispatch: () => Promise<boolean>;
  /** Whether this process has postings in flight that it took from the queue: these may become ready again. */
  readonly isWorking: () => boolean;
  /** Called with the error of a failed round; the next round follows after a pause that grows to 5 s. */
  readonly onError: (error: unknown) => void;
}

export interface Dispatcher {
  /** Something became ready: start a new walk soon. */
  wake(): void;
  /**
   * Whether nothing was ready, queued or in flight here at the latest check, and `wake` was not called since. Always false
   * if another process leads or the site is paused. Changes that wait for their `not_before` do not count.
   */
  isQuiet(): boolean;
  /** Resolves when the current round has ended. */
  stop(): Promise<void>;
}

/** The largest window. It is refilled at half, which is half a second of work at 1,000 postings a second. */
const LARGEST_WINDOW = 1000;
const WINDOW_SECONDS = 20;

/**
 * How many postings to keep queued for a site: some seconds of its work, so that workers do not run dry, and a feed that
 * comes later does not wait long behind what is already queued.
 */
export function windowFor(requestsPerSecond: number, concurrency: number): number {
  return Math.min(LARGEST_WINDOW, Math.max(4 * concurrency, Math.ceil(requestsPerSecond * WINDOW_SECONDS)));
}

/** How often a walk through the whole backlog starts, to find due retries and lost queue jobs. */
const WALK_EVERY_MS = 5000;
/** If the queue has run dry, a walk starts at once, but not more often than this. */
const DRY_WALK_MS = 500;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;
const LONGEST_ERROR_PAUSE_MS = 5000;
const ASK_EVERY_MS = 1000;

/** Caches an answer for a second, as rounds are more frequent. */
function cachedForSecond(ask: () => Promise<boolean>): () => Promise<boolean> {
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
  const leads = cachedForSecond(options.tryLead);
  const mayDispatch = cachedForSecond(options.mayDispatch);
  const walk = startWalk(options.feeds, options.readReady);
  const stillQueued = rememberQueued(queue.batchSize);

  // A walk is due at the start, when nothing is known yet.
  let walkBeganAt = Number.NEGATIVE_INFINITY;
  let woken = false;
  let quiet = false;
  let stopped = false;
  let pauseMs = 0;
  let pausing = new AbortController();

  /** After an error, or while this process does not dispatch, earlier results no longer hold. */
  function forget(): void {
    quiet = false;
    walkBeganAt = Number.NEGATIVE_INFINITY;
  }

  /** Runs one round. Resolves to whether it found anything. */
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
    // Nothing is left to add, and no walk is due, even if the queue has run dry.
    const isIdle = walk.ended() && !woken && performance.now() - walkBeganAt < (quiet ? WALK_EVERY_MS : DRY_WALK_MS);
    if (isIdle) return false;
    const { waiting, active } = await queue.counts();
    // Counts each queue job as full: postings left out now are added by a later round.
    const queued = (waiting + active) * queue.batchSize;
    if (queued > window / 2) return false;
    const ageMs = performance.now() - walkBeganAt;
    const ranDry = queued === 0 && walk.ended() && !quiet && ageMs >= DRY_WALK_MS;
    const begins = woken || ranDry || ageMs >= WALK_EVERY_MS;
    if (begins) {
      // What becomes ready while the feeds are being read is left to the next walk.
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
      pausing = new AbortController();
      if (!stopped) await pause(pauseMs, pausing.signal);
    }
  }

  const ended = loop();
  return {
    wake() {
      woken = true;
      quiet = false;
      pauseMs = 0;
      pausing.abort();
    },
    isQuiet: () => quiet,
    stop() {
      stopped = true;
      pausing.abort();
      return ended;
    },
  };
}

/**
 * The postings that one producer has added to a queue that is processed in order. If others add to it too, or queue jobs are
 * taken out of order, a posting may be added again needlessly, or one or more walks late.
 */
interface StillQueued {
  /** Returns the postings that are not queued, or no longer. @param waiting queue jobs not taken yet. */
  withoutThose(postings: readonly PostingRef[], waiting: number): PostingRef[];
  /** Records postings added in one call, in this order. */
  added(postings: readonly PostingRef[]): void;
  /** The content of the queue is no longer known. */
  forget(): void;
}

/** @param batchSize postings per queue job. */
export function rememberQueued(batchSize: number): StillQueued {
  /** Number of each posting's queue job, oldest first. */
  const jobs = new Map<string, number>();
  let lastJob = 0;
  // Feed names contain no `/`, so no two pairs give the same ID.
  const idOf = ({ feed, key }: PostingRef): string => `${feed}/${key}`;
  return {
    withoutThose(postings, waiting) {
      for (const [id, job] of jobs) {
        if (job > lastJob - waiting) break;
        jobs.delete(id);
      }
      return postings.filter((posting) => !jobs.has(idOf(posting)));
    },
    added(postings) {
      for (const [at, posting] of postings.entries()) {
        if (at % batchSize === 0) lastJob++;
        const id = idOf(posting);
        jobs.delete(id);
        jobs.set(id, lastJob);
      }
    },
    forget: () => jobs.clear(),
  };
}

// Walks through the backlogs of a site's feeds in batches: each feed in its own order, all feeds in equal shares.

/** A page of one feed's backlog. `cursor` is the position of its entry; the next page begins after it. */
export interface ReadyPage<Cursor> {
  readonly items: readonly { readonly key: PostingKey; readonly cursor: Cursor }[];
}

/**
 * Reads the changes of a feed that may be sent now, in sending order: deletes, creates, updates; none whose `not_before` is
 * in the future. Returns at most `limit` entries after `after`; fewer mean that there are no more.
 */
export type ReadReady<Cursor> = (
  feed: FeedName,
  after: Cursor | undefined,
  limit: number,
) => Promise<ReadyPage<Cursor>>;

/**
 * A walk from the start of the backlogs to their end. Entries that become ready behind it are left to the next walk, so
 * completed entries are skipped once per walk, not once per batch.
 */
export interface BacklogWalk {
  /** The next entries, at most `limit`; fewer mean that the walk has ended. */
  take(limit: number): Promise<PostingRef[]>;
  /** Whether the walk has ended. */
  ended(): boolean;
  restart(): Promise<void>;
}

interface Position<Cursor> {
  readonly feed: FeedName;
  after: Cursor | undefined;
  ended: boolean;
}

/** Takes one from each list in rotation, so that no feed's postings wait for all of another's. */
function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  const merged: T[] = [];
  for (let index = 0; index < longest; index++) {
    for (const list of lists) {
      const item = list[index];
      if (item !== undefined) merged.push(item);
    }
  }
  return merged;
}

/** Starts at the end of an empty walk; each restart reads the feeds. */
function startWalk<Cursor>(feeds: () => Promise<readonly FeedName[]>, readReady: ReadReady<Cursor>): BacklogWalk {
  let places: Position<Cursor>[] = [];
  // Rotates the feed that is served first, so that with more feeds than room each gets its share.
  let first = 0;

  return {
    async take(limit) {
      const taken = new Map<FeedName, PostingRef[]>();
      let room = limit;
      while (room > 0) {
        const open = places.filter((place) => !place.ended);
        if (open.length === 0) break;
        const share = Math.ceil(room / open.length);
        first = (first + 1) % open.length;
        for (const place of [...open.slice(first), ...open.slice(0, first)]) {
          const wantedCount = Math.min(share, room);
          if (wantedCount === 0) break;
          const { items } = await readReady(place.feed, place.after, wantedCount);
          place.after = items.at(-1)?.cursor ?? place.after;
          place.ended = items.length < wantedCount;
          room -= items.length;
          const ofFeed = taken.get(place.feed) ?? [];
          for (const { key } of items) ofFeed.push({ feed: place.feed, key });
          taken.set(place.feed, ofFeed);
        }
      }
      return interleave([...taken.values()]);
    },
    ended: () => places.every((place) => place.ended),
    async restart() {
      places = (await feeds()).map((feed) => ({ feed, after: undefined, ended: false }));
    },
  };
}
