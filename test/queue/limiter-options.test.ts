import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { limiterFor, openSiteQueue, startApplyWorker } from '../../src/queue/site-queue.ts';
import { leavesOut } from '../support/extent.ts';
import { collector } from './gate.ts';
import { backends, type TestBackend } from './queue-backends.ts';

describe('the window of a rate', () => {
  test.each([
    [0.01, { max: 1, duration: 100_000 }],
    [0.5, { max: 1, duration: 2000 }],
    [1, { max: 1, duration: 1000 }],
    [3, { max: 1, duration: 334 }],
    [10, { max: 1, duration: 100 }],
    [25, { max: 2, duration: 80 }],
    [1000, { max: 100, duration: 100 }],
    [Number.POSITIVE_INFINITY, undefined],
  ])('%d a second', (rate, window) => {
    expect(limiterFor(rate)).toEqual(window);
  });

  test.each([0, -1, Number.NaN])('%d a second is refused', (rate) => {
    expect(() => limiterFor(rate)).toThrow(RangeError);
  });

  test('allows at most the rate and at least nine tenths of it', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 50_000, noNaN: true }), (rate) => {
        const window = limiterFor(rate);
        if (window === undefined) return false;
        const allowed = (window.max * 1000) / window.duration;
        return allowed <= rate * (1 + 1e-9) && allowed >= rate * 0.9;
      }),
    );
  });
});

describe.each(backends)('rate limit on $title', ({ title, start, missing }) => {
  const variant = backends.findIndex((backend) => backend.title === title);
  let home: TestBackend;
  let backend: QueueBackend;
  beforeAll(async () => {
    if (missing) return;
    home = await start();
    backend = await home.open();
  });
  afterAll(() => home?.dispose());

  // `npm test` and CI: a batch with the database, single postings with Redis.
  const sizes = [4, 1].filter((_size, at) => !leavesOut(at, variant, backends.length));
  test.skipIf(missing).each(sizes)(
    'applies to two workers of a site together, with %d postings per queue job',
    async (size) => {
      const site = siteName(`limited${size}`);
      const queue = await openSiteQueue(backend, site, size);
      const requestsPerSecond = 40;
      const total = 60;
      await queue.addMany(
        Array.from({ length: total }, (_, index) => ({ feed: feedName('acme'), key: postingKey(`${index}`) })),
      );
      const takenAt = collector<number>();
      const options = {
        site,
        queue,
        concurrency: 8,
        requestsPerSecond,
        process: async () => takenAt.add(performance.now()),
        onPoisoned: async () => undefined,
      };
      const workers = [await startApplyWorker(backend, options), await startApplyWorker(backend, options)];
      await takenAt.reached(total);
      await Promise.all(workers.map((worker) => worker.stop(1000)));
      await queue.close();
      // Two windows may be adjacent, and taking a job is observed a moment after it was counted.
      const windowJobs = size * (limiterFor(requestsPerSecond / size)?.max ?? 0);
      const busiestSecond = Math.max(
        ...takenAt.values.map((from) => takenAt.values.filter((at) => at >= from && at < from + 1000).length),
      );
      expect(busiestSecond).toBeLessThanOrEqual(requestsPerSecond + 2 * windowJobs);
    },
  );
});
