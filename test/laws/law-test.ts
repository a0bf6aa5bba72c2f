// A test that may open installations, alone or concurrently with other tests; they close when the test ends.
import { test } from 'vitest';
import type { MirrorOptions } from '../support/mirror.ts';
import { type PrivateRedis, redisForTests } from '../support/redis.ts';
import { type Installation, openInstallation } from './installation.ts';

/** Opens an installation; `queue: 'redis'` also starts a Redis server for it. */
export type Open = (options?: MirrorOptions) => Promise<Installation & { readonly redis?: PrivateRedis }>;

const redis = redisForTests();

/** Both queues, and whether each can be tested on this machine. */
export const QUEUES = [
  { queue: 'database', available: true, note: '' },
  { queue: 'redis', available: redis.available, note: redis.note },
];

export const lawTest = test.extend<{ open: Open }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires this form for a fixture without dependencies.
  open: async ({}, use) => {
    const ends: (() => Promise<void>)[] = [];
    await use(async (options = {}) => {
      const server = options.queue === 'redis' ? await redis.start() : undefined;
      if (server !== undefined) ends.push(() => server.stop());
      const installation = await openInstallation({ ...options, queue: server?.url ?? options.queue });
      ends.push(() => installation.close());
      return { ...installation, redis: server };
    });
    for (const end of ends.reverse()) await end();
  },
});
