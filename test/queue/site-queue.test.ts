import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { feedName, type PostingRef, postingKey, siteName } from '../../src/posting/identifiers.ts';
import { openQueueBackend, type QueueBackend } from '../../src/queue/backend.ts';
import type { RunningWorker } from '../../src/queue/running-worker.ts';
import {
  type ApplyWorkerOptions,
  batchSizeFor,
  openSiteQueue,
  type SiteQueue,
  startApplyWorker,
} from '../../src/queue/site-queue.ts';
import { collector, gate } from './gate.ts';
import { backends, redis, type TestBackend } from './queue-backends.ts';

const acme = feedName('acme');
const posting = (key: string, feed = acme): PostingRef => ({ feed, key: postingKey(key) });

describe.each(backends)('site queue on $title', ({ start, missing }) => {
  let home: TestBackend;
  let backend: QueueBackend;
  let queue: SiteQueue;
  let sites = 0;
  let site = siteName('none');
  const toStop: RunningWorker[] = [];

  beforeAll(async () => {
    if (missing) return;
    home = await start();
    backend = await home.open();
  });
  afterAll(() => home?.dispose());
  afterEach(async () => {
    await Promise.all(toStop.splice(0).map((worker) => worker.stop(1000)));
    await queue?.close();
  });

  const openQueue = async (batchSize?: number) => {
    site = siteName(`site${++sites}`);
    queue = await openSiteQueue(backend, site, batchSize);
    return queue;
  };
  const work = async (options: Partial<ApplyWorkerOptions> & Pick<ApplyWorkerOptions, 'process'>) => {
    const worker = await startApplyWorker(backend, {
      site,
      queue,
      concurrency: 1,
      requestsPerSecond: Number.POSITIVE_INFINITY,
      onPoisoned: async (item, error) => {
        throw new Error(`poisoned: ${item.key}`, { cause: error });
      },
      ...options,
    });
    toStop.push(worker);
    return worker;
  };
  /** Waits until nothing is queued or in flight. */
  const idle = () =>
    vi.waitUntil(async () => (await queue.counts()).waiting + (await queue.counts()).active === 0, 60_000);

  test.skipIf(missing)('a posting added several times while queued is processed once', async () => {
    await openQueue();
    await queue.addMany([posting('a'), posting('a')]);
    await queue.addMany([posting('a'), posting('last')]);
    expect(await queue.counts()).toEqual({ waiting: 2, active: 0 });
    const seen = collector<string>();
    await work({ process: async ({ key }) => seen.add(key) });
    await seen.reached(2);
    await idle();
    expect(seen.values).toEqual(['a', 'last']);
  });

  test.skipIf(missing)('a posting added while in flight is processed once more afterwards', async () => {
    await openQueue();
    const seen = collector<string>();
    const finish = gate();
    let inFlight = 0;
    await work({
      concurrency: 4,
      process: async ({ key }) => {
        expect(++inFlight).toBe(1);
        seen.add(key);
        await finish.passed;
        inFlight--;
      },
    });
    await queue.addMany([posting('a')]);
    await seen.reached(1);
    await queue.addMany([posting('a')]);
    await queue.addMany([posting('a'), posting('a')]);
    expect(await queue.counts()).toEqual({ waiting: 0, active: 1 });
    finish.open();
    await seen.reached(2);
    await idle();
    expect(seen.values).toEqual(['a', 'a']);
  });

  test.skipIf(missing)('keys of any characters and length arrive unchanged and distinct', async () => {
    await openQueue();
    const keys = [
      '1',
      '01',
      'a:b',
      ':',
      'a b',
      ' a',
      "'",
      '"',
      '\\',
      '{}',
      '%',
      '*',
      '\u00e9',
      'e\u0301',
      '🧰'.repeat(500),
    ];
    keys.push(
      '__proto__',
      'constructor',
      'null',
      '\n',
      '\u0001',
      'A',
      'a',
      '\u{10FFFF}',
      'x'.repeat(5000),
      'repeat:a:1',
    );
    const desired = [...keys.map((key) => posting(key)), posting('a', feedName('other')), posting('a', feedName('a'))];
    await queue.addMany(desired);
    const seen = collector<PostingRef>();
    await work({ process: async (item) => seen.add(item) });
    await seen.reached(desired.length);
    await idle();
    expect(seen.values).toEqual(desired);
  });

  test.skipIf(missing)(
    'a posting for which the processor throws is recorded, does not loop, and can be added again',
    async () => {
      await openQueue();
      const poisoned = collector<[PostingRef, string]>();
      const seen = collector<string>();
      await work({
        process: async ({ key }) => {
          seen.add(key);
          if (key === 'bad') throw new Error('cannot be encoded');
        },
        onPoisoned: async (item, error) => poisoned.add([item, error.message]),
      });
      await queue.addMany([posting('bad'), posting('good')]);
      await seen.reached(2);
      await idle();
      expect(poisoned.values).toEqual([[posting('bad'), 'cannot be encoded']]);
      await queue.addMany([posting('bad')]);
      await poisoned.reached(2);
      await idle();
      expect(seen.values).toEqual(['bad', 'good', 'bad']);
    },
  );

  test.skipIf(missing)('a posting is not taken again while it is being recorded as poisoned', async () => {
    await openQueue();
    const events = collector<string>();
    const recorded = gate();
    await work({
      concurrency: 2,
      process: async () => {
        events.add('processed');
        throw new Error('bad');
      },
      onPoisoned: async () => {
        events.add('recording');
        await recorded.passed;
        events.add('recorded');
      },
    });
    await queue.addMany([posting('bad')]);
    await events.reached(2);
    await queue.addMany([posting('bad')]);
    expect(await queue.counts()).toEqual({ waiting: 0, active: 1 });
    recorded.open();
    await events.reached(6);
    expect(events.values.slice(0, 4)).toEqual(['processed', 'recording', 'recorded', 'processed']);
  });

  test.skipIf(missing)(
    'if a poisoned posting cannot be recorded, the error is reported and the queue job ends',
    async () => {
      const errors = collector<string>();
      const own = await home.open((error) => errors.add(error.message));
      await openQueue();
      const seen = collector<string>();
      toStop.push(
        await startApplyWorker(own, {
          site,
          queue,
          concurrency: 1,
          requestsPerSecond: Number.POSITIVE_INFINITY,
          process: async ({ key }) => {
            seen.add(key);
            throw new Error('bad');
          },
          onPoisoned: async () => {
            throw new Error('database is away');
          },
        }),
      );
      await queue.addMany([posting('a')]);
      await errors.reached(1);
      await idle();
      expect(errors.values).toEqual(['database is away']);
      expect(seen.values).toEqual(['a']);
    },
  );

  const postings = (...keys: string[]) => keys.map((key) => posting(key));

  test.skipIf(missing)('a batch is one queue job, whose postings are started concurrently and in order', async () => {
    await openQueue(3);
    await queue.addMany(postings('a', 'b', 'c', 'd'));
    expect(await queue.counts()).toEqual({ waiting: 2, active: 0 });
    const seen = collector<string>();
    const finish = gate();
    await work({
      process: async ({ key }) => {
        seen.add(key);
        await finish.passed;
      },
    });
    await seen.reached(3);
    expect(await queue.counts()).toEqual({ waiting: 1, active: 1 });
    expect(seen.values).toEqual(['a', 'b', 'c']);
    finish.open();
    await seen.reached(4);
    await idle();
    expect(seen.values).toEqual(['a', 'b', 'c', 'd']);
    expect(await home.remains()).toEqual([]);
  });

  test.skipIf(missing)('as many batches are in flight as the concurrency of postings requires', async () => {
    await openQueue(4);
    await queue.addMany(postings('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm'));
    const seen = collector<string>();
    const finish = gate();
    await work({
      concurrency: 8,
      process: async ({ key }) => {
        seen.add(key);
        await finish.passed;
      },
    });
    await seen.reached(8);
    expect(await queue.counts()).toEqual({ waiting: 2, active: 2 });
    finish.open();
    await seen.reached(13);
    await idle();
  });

  test.skipIf(missing)('a queued batch is not added again', async () => {
    await openQueue(2);
    await queue.addMany(postings('a', 'b', 'c'));
    await queue.addMany(postings('a', 'b', 'c'));
    expect(await queue.counts()).toEqual({ waiting: 2, active: 0 });
    // With a different start it is a different batch.
    await queue.addMany(postings('b', 'c'));
    expect(await queue.counts()).toEqual({ waiting: 3, active: 0 });
    const seen = collector<string>();
    await work({ process: async ({ key }) => seen.add(key) });
    await idle();
    expect(seen.values).toEqual(['a', 'b', 'c', 'b', 'c']);
  });

  test.skipIf(missing).each([1, 3])('a queue job with %d postings ends when they are handed over', async (size) => {
    await openQueue(size);
    await queue.addMany(postings('a', 'b', 'c', 'd', 'e', 'f'));
    const seen = collector<string>();
    const finished: string[] = [];
    const [finish, finishFirst] = [gate(), gate()];
    const worker = await work({
      process: async ({ key }, _signal, handOver) => {
        seen.add(key);
        if (key !== 'f') handOver();
        await (key === 'a' ? finishFirst : finish).passed;
        finished.push(key);
      },
    });
    await seen.reached(6);
    await vi.waitUntil(async () => (await queue.counts()).waiting === 0, 60_000);
    expect(await queue.counts()).toEqual({ waiting: 0, active: 1 });
    expect(finished).toEqual([]);
    finish.open();
    await idle();
    expect(finished).toEqual(['b', 'c', 'd', 'e', 'f']);
    // Waits for the posting that no queue job waits for any more.
    let stopped = false;
    const stop = worker.stop(20_000).then(() => {
      stopped = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(stopped).toBe(false);
    finishFirst.open();
    await stop;
    expect(finished).toEqual(['b', 'c', 'd', 'e', 'f', 'a']);
  });

  test.skipIf(missing)('after the grace, the signal reaches handed-over postings too', async () => {
    await openQueue(2);
    await queue.addMany(postings('a', 'b'));
    const aborted = collector<string>();
    const worker = await work({
      process: async ({ key }, signal, handOver) => {
        handOver();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        aborted.add(key);
        throw signal.reason;
      },
    });
    await idle();
    await worker.stop(10);
    expect(aborted.values).toEqual(['a', 'b']);
  });

  test.skipIf(missing)('a posting that fails after its handover is recorded, or else reported', async () => {
    const errors = collector<string>();
    const own = await home.open((error) => errors.add(error.message));
    await openQueue();
    const poisoned = collector<string>();
    toStop.push(
      await startApplyWorker(own, {
        site,
        queue,
        concurrency: 1,
        requestsPerSecond: Number.POSITIVE_INFINITY,
        process: async ({ key }, _signal, handOver) => {
          handOver();
          await new Promise((resolve) => setTimeout(resolve, 50));
          throw new Error(`late ${key}`);
        },
        onPoisoned: async ({ key }, error) => {
          poisoned.add(error.message);
          if (key === 'b') throw new Error('database is away');
        },
      }),
    );
    await queue.addMany(postings('a', 'b'));
    await errors.reached(1);
    await poisoned.reached(2);
    expect(poisoned.values).toEqual(['late a', 'late b']);
    expect(errors.values).toEqual(['database is away']);
  });

  test.skipIf(missing)('in a batch too, only the posting for which the processor throws is recorded', async () => {
    await openQueue(4);
    await queue.addMany(postings('a', 'bad', 'b', 'worse'));
    const poisoned = collector<string>();
    const done = collector<string>();
    await work({
      process: async ({ key }) => {
        if (key === 'bad' || key === 'worse') throw new Error('cannot be encoded');
        done.add(key);
      },
      onPoisoned: async ({ key }) => poisoned.add(key),
    });
    await idle();
    expect(done.values).toEqual(['a', 'b']);
    expect(poisoned.values).toEqual(['bad', 'worse']);
  });

  test.skipIf(missing)(
    'a batch with a poisoned posting that cannot be recorded ends with its last posting',
    async () => {
      const errors = collector<string>();
      const own = await home.open((error) => errors.add(error.message));
      await openQueue(2);
      const started = collector<string>();
      const finish = gate();
      toStop.push(
        await startApplyWorker(own, {
          site,
          queue,
          concurrency: 1,
          requestsPerSecond: Number.POSITIVE_INFINITY,
          process: async ({ key }) => {
            started.add(key);
            if (key === 'bad') throw new Error('bad');
            await finish.passed;
          },
          onPoisoned: async () => {
            throw new Error('database is away');
          },
        }),
      );
      await queue.addMany(postings('bad', 'slow', 'next', 'last'));
      await started.reached(2);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(started.values).toEqual(['bad', 'slow']);
      expect(await queue.counts()).toEqual({ waiting: 1, active: 1 });
      finish.open();
      await started.reached(4);
      await idle();
      expect(errors.values).toEqual(['database is away']);
    },
  );

  test.skipIf(missing)('a queue job of an earlier version, with a single posting, is processed', async () => {
    await openQueue();
    const earlier = await backend.queue<object>(`apply-${site}`);
    await earlier.add('apply', posting('a'), { removeOnComplete: true });
    await earlier.close();
    const seen = collector<PostingRef>();
    await work({ process: async (item) => seen.add(item) });
    await seen.reached(1);
    await idle();
    expect(seen.values).toEqual([posting('a')]);
    expect(await home.remains()).toEqual([]);
  });

  test.skipIf(missing)('the queue is empty once all postings have ended', async () => {
    await openQueue();
    const all = Array.from({ length: 100 }, (_, index) => posting(`key ${index}`));
    await queue.addMany(all);
    const seen = collector<string>();
    await work({
      concurrency: 8,
      process: async ({ key }) => {
        seen.add(key);
        if (key.endsWith('7')) throw new Error('bad');
      },
      onPoisoned: async () => undefined,
    });
    await seen.reached(all.length);
    await idle();
    expect(new Set(seen.values).size).toBe(all.length);
    expect(await home.remains()).toEqual([]);
  });
});

test.skipIf(!redis.available)(`installations on one Redis only take their own jobs${redis.note}`, async () => {
  const server = await redis.start();
  const open = (installation: string) =>
    openQueueBackend({ queue: server.url, databaseUrl: '', installation, onError: () => undefined });
  const site = siteName('board');
  const [first, second] = [await open('first'), await open('second')];
  const queue = await openSiteQueue(first, site);
  await queue.addMany([posting('a')]);
  const seen = collector<string>();
  const options = { site, queue, concurrency: 1, requestsPerSecond: 1000, onPoisoned: async () => undefined };
  const stranger = await startApplyWorker(second, { ...options, process: async () => seen.add('stranger') });
  const owner = await startApplyWorker(first, { ...options, process: async () => seen.add('owner') });
  await seen.reached(1);
  await Promise.all([stranger.stop(1000), owner.stop(1000), queue.close()]);
  await server.stop();
  expect(seen.values).toEqual(['owner']);
});

test.each([
  [0.5, 1],
  [99, 1],
  [100, 2],
  [1000, 20],
  [Number.POSITIVE_INFINITY, 32],
])('at %d a second, a queue job holds %d postings', (requestsPerSecond, size) => {
  expect(batchSizeFor(requestsPerSecond)).toBe(size);
});
