import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type FeedName, feedName, type PostingRef, postingKey } from '../../src/posting/identifiers.ts';
import type { ReadReady } from '../../src/queue/dispatcher.ts';
import { type Dispatcher, type DispatcherOptions, startDispatcher, windowFor } from '../../src/queue/dispatcher.ts';

/** A backlog in memory: keys in order per feed; those in `done` are no longer ready. */
function backlogOf(sizes: Readonly<Record<string, number>>) {
  const done = new Set<string>();
  const asked: { feed: string; after: number | undefined; limit: number }[] = [];
  const total = { ...sizes };
  const readReady: ReadReady<number> = async (feed, after, limit) => {
    asked.push({ feed, after, limit });
    const items = [];
    for (let index = (after ?? -1) + 1; index < (total[feed] ?? 0) && items.length < limit; index++) {
      const key = `${feed} ${index}`;
      if (!done.has(key)) items.push({ key: postingKey(key), cursor: index });
    }
    return { items };
  };
  return { total, done, asked, readReady, feeds: async () => Object.keys(total).map(feedName) };
}

/** A queue in memory that deduplicates waiting postings, like the real one. */
function queueInMemory() {
  const jobs = new Map<string, PostingRef>();
  const added: PostingRef[] = [];
  let largest = 0;
  return {
    batchSize: 1,
    jobs,
    added,
    largest: () => largest,
    async addMany(postings: readonly PostingRef[]) {
      for (const posting of postings) {
        added.push(posting);
        jobs.set(`${posting.feed}/${posting.key}`, posting);
      }
      largest = Math.max(largest, jobs.size);
    },
    counts: async () => ({ waiting: jobs.size, active: 0 }),
    /** Completes the oldest queue jobs. */
    work(count: number, done: Set<string>) {
      for (const [id, { key }] of [...jobs].slice(0, count)) {
        jobs.delete(id);
        done.add(key);
      }
    },
  };
}

describe('dispatcher', () => {
  let dispatcher: Dispatcher | undefined;
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(async () => {
    await dispatcher?.stop();
    vi.useRealTimers();
  });

  const begin = (
    backlog: ReturnType<typeof backlogOf>,
    queue: ReturnType<typeof queueInMemory>,
    options: Partial<DispatcherOptions<number>> = {},
  ) => {
    dispatcher = startDispatcher<number>({
      feeds: backlog.feeds,
      readReady: backlog.readReady,
      queue,
      window: 1000,
      tryLead: async () => true,
      mayDispatch: async () => true,
      isWorking: () => false,
      onError: (error) => {
        throw error;
      },
      ...options,
    });
    return dispatcher;
  };
  const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000);

  test('a backlog of 100,000 goes through a window of 1,000, each posting about once', async () => {
    const backlog = backlogOf({ acme: 100_000 });
    const queue = queueInMemory();
    begin(backlog, queue);
    while (backlog.done.size < 100_000) {
      await vi.advanceTimersByTimeAsync(100);
      queue.work(150, backlog.done);
    }
    expect(queue.largest()).toBeLessThanOrEqual(1000);
    expect(queue.added.length).toBeLessThan(115_000);
  });

  test('nothing is added while the window is more than half full', async () => {
    const backlog = backlogOf({ acme: 10_000 });
    const queue = queueInMemory();
    begin(backlog, queue, { window: 100 });
    await seconds(1);
    expect(queue.jobs.size).toBe(100);
    queue.work(49, backlog.done);
    await seconds(20);
    expect(queue.added).toHaveLength(100);
    queue.work(1, backlog.done);
    await seconds(20);
    expect(queue.jobs.size).toBe(100);
  });

  test('each feed keeps the order of its backlog, and feeds alternate', async () => {
    const backlog = backlogOf({ large: 5000, small: 3, other: 5000 });
    const queue = queueInMemory();
    begin(backlog, queue, { window: 30 });
    await seconds(1);
    const keysOf = (feed: string) => queue.added.filter((posting) => posting.feed === feed).map(({ key }) => key);
    expect(keysOf('small')).toEqual(['small 0', 'small 1', 'small 2']);
    expect(keysOf('large')).toEqual(Array.from({ length: keysOf('large').length }, (_, index) => `large ${index}`));
    // The room that the small feed does not need is shared equally by the others.
    expect([keysOf('large').length, keysOf('other').length].toSorted()).toEqual([13, 14]);
    // Alternates between feeds instead of sending one after another.
    const feedsOf = (from: number) => queue.added.slice(from, from + 3).map(({ feed }) => feed);
    for (const from of [0, 3, 6]) expect(feedsOf(from).toSorted()).toEqual(['large', 'other', 'small']);
  });

  test('with more feeds than room, every feed is served in rotation', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `feed${index}`);
    const backlog = backlogOf(Object.fromEntries(names.map((name) => [name, 50])));
    const queue = queueInMemory();
    begin(backlog, queue, { window: 4 });
    for (let round = 0; round < 40; round++) {
      await seconds(1);
      queue.work(4, backlog.done);
    }
    expect(new Set(queue.added.map(({ feed }) => feed)).size).toBe(20);
  });

  test('a walk continues where it stopped, and restarts within seconds', async () => {
    const backlog = backlogOf({ acme: 3000 });
    const queue = queueInMemory();
    begin(backlog, queue);
    await vi.advanceTimersByTimeAsync(100);
    queue.work(600, backlog.done);
    await vi.advanceTimersByTimeAsync(1000);
    expect(backlog.asked.slice(0, 2).map(({ after }) => after)).toEqual([undefined, 999]);
    await seconds(6);
    queue.work(600, backlog.done);
    await seconds(1);
    expect(backlog.asked.map(({ after }) => after)).toEqual([undefined, 999, undefined]);
  });

  test('retries that become due behind the walk are added within seconds', async () => {
    const backlog = backlogOf({ acme: 10 });
    const queue = queueInMemory();
    const { isQuiet } = begin(backlog, queue);
    await seconds(1);
    queue.work(10, backlog.done);
    await seconds(2);
    expect(isQuiet()).toBe(true);
    backlog.done.delete('acme 3');
    await seconds(6);
    expect([...queue.jobs.keys()]).toEqual(['acme/acme 3']);
    expect(isQuiet()).toBe(false);
  });

  test('lost queue jobs are added again within seconds', async () => {
    const backlog = backlogOf({ acme: 700 });
    const queue = queueInMemory();
    begin(backlog, queue);
    await seconds(1);
    expect(queue.jobs.size).toBe(700);
    queue.jobs.clear();
    await seconds(6);
    expect(queue.jobs.size).toBe(700);
  });

  test('the next walk skips postings that are still queued, and adds those that returned unprocessed', async () => {
    const backlog = backlogOf({ acme: 100 });
    const queue = queueInMemory();
    const { wake } = begin(backlog, queue);
    await seconds(1);
    backlog.total.acme = 110;
    wake();
    await seconds(12);
    expect(queue.added).toHaveLength(110);
    // Taken from the queue, but still ready.
    queue.work(60, new Set());
    await seconds(6);
    expect(queue.added.slice(110).map(({ key }) => key)).toEqual(
      Array.from({ length: 60 }, (_, index) => `acme ${index}`),
    );
  });

  test('postings in flight hide neither waiting postings nor those that are ready again', async () => {
    const backlog = backlogOf({ acme: 3 });
    const queue = queueInMemory();
    let active = 0;
    begin(backlog, queue, { queue: { ...queue, counts: async () => ({ waiting: queue.jobs.size, active }) } });
    await seconds(1);
    // The first two hang, the third became ready again.
    queue.work(3, backlog.done);
    active = 2;
    await seconds(6);
    backlog.done.delete('acme 2');
    await seconds(6);
    expect(queue.added.slice(3).map(({ key }) => key)).toEqual(['acme 2']);
  });

  test.each(['counts', 'mayDispatch'])('after an outage of %s, queued postings are not added again', async (name) => {
    const backlog = backlogOf({ acme: 100 });
    const queue = queueInMemory();
    let away = false;
    const fails =
      <Result>(part: string, works: () => Promise<Result>) =>
      async () => {
        if (away && name === part) throw new Error('away');
        return works();
      };
    begin(backlog, queue, {
      queue: { ...queue, counts: fails('counts', queue.counts) },
      mayDispatch: fails('mayDispatch', async () => true),
      onError: () => undefined,
    });
    await seconds(1);
    away = true;
    await seconds(6);
    away = false;
    await seconds(12);
    expect(queue.added).toHaveLength(100);
  });

  test('a new leader does not know what is in the queue', async () => {
    const backlog = backlogOf({ acme: 100 });
    const queue = queueInMemory();
    let leads = true;
    begin(backlog, queue, { tryLead: async () => leads });
    await seconds(1);
    leads = false;
    await seconds(2);
    leads = true;
    await seconds(6);
    expect(queue.added).toHaveLength(200);
    expect(queue.jobs.size).toBe(100);
  });

  test('waking starts a walk at once', async () => {
    const backlog = backlogOf({ acme: 0 });
    const queue = queueInMemory();
    const { wake, isQuiet } = begin(backlog, queue);
    await seconds(3);
    expect(isQuiet()).toBe(true);
    backlog.total.acme = 5;
    wake();
    expect(isQuiet()).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    expect(queue.jobs.size).toBe(5);
  });

  test('a wake during a walk is not lost, and the dispatcher is not quiet until it was handled', async () => {
    const backlog = backlogOf({ acme: 0 });
    const queue = queueInMemory();
    let inTheMiddle = () => undefined as unknown;
    const { wake, isQuiet } = begin(backlog, queue, {
      readReady: async (...asked) => {
        const page = await backlog.readReady(...asked);
        inTheMiddle();
        return page;
      },
    });
    inTheMiddle = () => {
      inTheMiddle = () => undefined;
      backlog.total.acme = 1;
      wake();
    };
    await vi.advanceTimersByTimeAsync(1);
    expect(isQuiet()).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    expect(queue.jobs.size).toBe(1);
  });

  test('is not quiet until everything in the queue is done', async () => {
    const backlog = backlogOf({ acme: 1 });
    const queue = queueInMemory();
    const { isQuiet } = begin(backlog, queue);
    await seconds(1);
    // In flight: no longer ready, still in the queue.
    backlog.done.add('acme 0');
    await seconds(20);
    expect(isQuiet()).toBe(false);
    queue.jobs.clear();
    await seconds(2);
    expect(isQuiet()).toBe(true);
  });

  test('is not quiet while postings are in flight, and notices at once when they become ready again', async () => {
    const backlog = backlogOf({ acme: 1 });
    const queue = queueInMemory();
    let working = false;
    const { isQuiet } = begin(backlog, queue, { isWorking: () => working });
    await seconds(1);
    working = true;
    queue.work(1, backlog.done);
    await seconds(20);
    expect(isQuiet()).toBe(false);
    // It was not completed and is ready again.
    backlog.done.clear();
    await vi.advanceTimersByTimeAsync(1500);
    expect(queue.jobs.size).toBe(1);
  });

  test.each(['tryLead', 'mayDispatch'] as const)(
    'nothing is added until %s returns true; then everything is',
    async (name) => {
      const backlog = backlogOf({ acme: 5 });
      const queue = queueInMemory();
      let answer = false;
      const { isQuiet } = begin(backlog, queue, { [name]: async () => answer });
      await seconds(20);
      expect(queue.added).toEqual([]);
      expect(isQuiet()).toBe(false);
      answer = true;
      await seconds(3);
      expect(queue.jobs.size).toBe(5);
      answer = false;
      await seconds(2);
      queue.jobs.clear();
      await seconds(20);
      expect(queue.added).toHaveLength(5);
    },
  );

  test.each(['readReady', 'addMany', 'counts', 'tryLead', 'mayDispatch'])(
    'an outage of %s is reported, though not too often, and survived',
    async (name) => {
      const backlog = backlogOf({ acme: 5 });
      const queue = queueInMemory();
      let away = true;
      const fails =
        <Args extends unknown[], Result>(part: string, works: (...args: Args) => Promise<Result>) =>
        async (...args: Args): Promise<Result> => {
          if (away && part === name) throw new Error(`${part} is away`);
          return works(...args);
        };
      const errors: unknown[] = [];
      begin(backlog, queue, {
        readReady: fails('readReady', backlog.readReady),
        queue: { ...queue, addMany: fails('addMany', queue.addMany), counts: fails('counts', queue.counts) },
        tryLead: fails('tryLead', async () => true),
        mayDispatch: fails('mayDispatch', async () => true),
        onError: (error) => errors.push(error),
      });
      await seconds(60);
      expect(String(errors[0])).toBe(`Error: ${name} is away`);
      expect(errors.length).toBeLessThan(25);
      away = false;
      await seconds(6);
      expect(queue.jobs.size).toBe(5);
    },
  );

  test('postings that could not be added are read again, and the dispatcher is not quiet meanwhile', async () => {
    const backlog = backlogOf({ acme: 0 });
    const queue = queueInMemory();
    let failures = 1;
    const quietAtError: boolean[] = [];
    const { isQuiet } = begin(backlog, queue, {
      queue: {
        ...queue,
        addMany: async (postings) => {
          if (failures-- > 0) throw new Error('away');
          await queue.addMany(postings);
        },
      },
      onError: () => quietAtError.push(isQuiet()),
    });
    await seconds(1);
    expect(isQuiet()).toBe(true);
    backlog.total.acme = 5;
    while (failures > 0) await vi.advanceTimersByTimeAsync(100);
    await seconds(3);
    expect(queue.jobs.size).toBe(5);
    expect(quietAtError).toEqual([false]);
  });

  test('a feed that is added later is dispatched too', async () => {
    const backlog = backlogOf({ acme: 2 });
    const queue = queueInMemory();
    begin(backlog, queue);
    await seconds(1);
    backlog.total.newcomer = 2;
    await seconds(6);
    expect(new Set(queue.added.map(({ feed }): FeedName => feed)).size).toBe(2);
  });

  test('makes no calls after it was stopped', async () => {
    const backlog = backlogOf({ acme: 0 });
    const { stop } = begin(backlog, queueInMemory());
    await seconds(1);
    await stop();
    const before = backlog.asked.length;
    await seconds(60);
    expect(backlog.asked).toHaveLength(before);
  });
});

test.each([
  [Number.POSITIVE_INFINITY, 4, 1000],
  [200, 4, 1000],
  [10, 4, 200],
  [0.5, 4, 16],
  [1, 1, 20],
])('the window at %d a second with a concurrency of %d is %d', (requestsPerSecond, concurrency, window) => {
  expect(windowFor(requestsPerSecond, concurrency)).toBe(window);
});
