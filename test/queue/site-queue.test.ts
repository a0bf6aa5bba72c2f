import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { openQueueBackend } from '../../src/queue/backend.ts';
import type { RunningWorker } from '../../src/queue/running-worker.ts';
import {
  type ApplyWorkerOptions,
  openSiteQueue,
  type QueuedPosting,
  type SiteQueue,
  startApplyWorker,
} from '../../src/queue/site-queue.ts';
import { collector, gate } from './gate.ts';
import { backends, redis, type TestBackend } from './queue-backends.ts';

const acme = feedName('acme');
const posting = (key: string, feed = acme): QueuedPosting => ({ feed, key: postingKey(key) });

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

  const openQueue = async () => {
    site = siteName(`site${++sites}`);
    queue = await openSiteQueue(backend, site);
    return queue;
  };
  const work = async (options: Partial<ApplyWorkerOptions> & Pick<ApplyWorkerOptions, 'process'>) => {
    const worker = await startApplyWorker(backend, {
      site,
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
  /** Waits until nothing is queued or in work. */
  const idle = () =>
    vi.waitUntil(async () => (await queue.counts()).waiting + (await queue.counts()).active === 0, 5000);

  test.skipIf(missing)('a posting added several times while it waits is processed once', async () => {
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

  test.skipIf(missing)('a posting added while it is processed is processed once more, afterwards', async () => {
    await openQueue();
    const seen = collector<string>();
    const finish = gate();
    let inWork = 0;
    await work({
      concurrency: 4,
      process: async ({ key }) => {
        expect(++inWork).toBe(1);
        seen.add(key);
        await finish.passed;
        inWork--;
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

  test.skipIf(missing)('keys of any characters and length arrive as they are, none taken for another', async () => {
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
    const wanted = [...keys.map((key) => posting(key)), posting('a', feedName('other')), posting('a', feedName('a'))];
    await queue.addMany(wanted);
    const seen = collector<QueuedPosting>();
    await work({ process: async (item) => seen.add(item) });
    await seen.reached(wanted.length);
    await idle();
    expect(seen.values).toEqual(wanted);
  });

  test.skipIf(missing)(
    'a posting that the processor throws at is recorded, does not loop and can come again',
    async () => {
      await openQueue();
      const poisoned = collector<[QueuedPosting, string]>();
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

  test.skipIf(missing)('a posting that is being recorded as poisoned is not taken again in between', async () => {
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

  test.skipIf(missing)('where poison cannot be recorded, the error is reported and the queue job ends', async () => {
    const errors = collector<string>();
    const own = await home.open((error) => errors.add(error.message));
    await openQueue();
    const seen = collector<string>();
    toStop.push(
      await startApplyWorker(own, {
        site,
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
  });

  test.skipIf(missing)('nothing stays behind', async () => {
    await openQueue();
    const all = Array.from({ length: 1500 }, (_, index) => posting(`key ${index}`));
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

test.skipIf(!redis.available)(`installations on one Redis keep to their own jobs${redis.note}`, async () => {
  const server = await redis.start();
  const open = (installation: string) =>
    openQueueBackend({ queue: server.url, databaseUrl: '', installation, onError: () => undefined });
  const site = siteName('board');
  const [first, second] = [await open('first'), await open('second')];
  const queue = await openSiteQueue(first, site);
  await queue.addMany([posting('a')]);
  const seen = collector<string>();
  const options = { site, concurrency: 1, requestsPerSecond: 1000, onPoisoned: async () => undefined };
  const stranger = await startApplyWorker(second, { ...options, process: async () => seen.add('stranger') });
  const owner = await startApplyWorker(first, { ...options, process: async () => seen.add('owner') });
  await seen.reached(1);
  await Promise.all([stranger.stop(1000), owner.stop(1000), queue.close()]);
  await server.stop();
  expect(seen.values).toEqual(['owner']);
});
