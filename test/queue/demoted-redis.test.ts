// A Redis that was demoted keeps its connections, and refuses what stores something; its address leads to the new primary.
import { connect, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';
import { openQueueBackend } from '../../src/queue/backend.ts';
import { openSiteQueue, startApplyWorker } from '../../src/queue/site-queue.ts';
import { listen } from '../support/listen.ts';
import { redis } from './queue-backends.ts';

const posting = (key: string) => ({ feed: feedName('acme'), key: postingKey(key) });

it.skipIf(!redis.available)(`a queue and its worker go on with the new primary${redis.note}`, async () => {
  const [first, second] = [await redis.start(), await redis.start()];
  let primary = first.port;
  const address = createServer((client) => {
    const server = connect(primary, '127.0.0.1');
    for (const [one, other] of [[client, server] as const, [server, client] as const])
      one.on('error', () => undefined).on('close', () => other.destroy());
    client.pipe(server).pipe(client);
  });
  const port = await listen(address);
  const backend = await openQueueBackend({
    queue: `redis://127.0.0.1:${port}`,
    databaseUrl: '',
    installation: 'test',
    onError: () => undefined,
  });
  const site = siteName('board');
  const queue = await openSiteQueue(backend, site);
  const done = new Set<string>();
  const worker = await startApplyWorker(backend, {
    site,
    queue,
    concurrency: 1,
    requestsPerSecond: Number.POSITIVE_INFINITY,
    process: async ({ key }) => void done.add(key),
    onPoisoned: async () => undefined,
  });
  const processed = async (key: string): Promise<boolean> => {
    await queue.addMany([posting(key)]).catch(() => undefined);
    return done.has(key);
  };
  await expect.poll(() => processed('before')).toBe(true);
  const client = new Redis(first.url);
  await client.replicaof('127.0.0.1', second.port);
  client.disconnect();
  primary = second.port;
  await expect.poll(() => processed('after')).toBe(true);
  await worker.stop(1_000);
  await queue.close();
  address.close();
  for (const server of [first, second]) await server.stop();
});
