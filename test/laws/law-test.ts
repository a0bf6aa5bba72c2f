// A test that may open installations, alone or beside others at the same time; what it opened ends with it.
import { test } from 'vitest';
import { type PrivateRedis, redisForTests } from '../support/redis.ts';
import { type Installation, type InstallationOptions, openInstallation } from './installation.ts';

/** How a test opens an installation; `queue: 'redis'` brings a server of its own along. */
export type Open = (options?: InstallationOptions) => Promise<Installation & { readonly redis?: PrivateRedis }>;

const redis = redisForTests();

/** Both queues, with whether they can be tested here. */
export const QUEUES = [
  { queue: 'database', available: true, note: '' },
  { queue: 'redis', available: redis.available, note: redis.note },
];

export const lawTest = test.extend<{ open: Open }>({
  // biome-ignore lint/correctness/noEmptyPattern: the form that Vitest wants of a fixture without needs.
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
