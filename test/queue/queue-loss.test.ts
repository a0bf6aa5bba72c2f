// The queue may be lost at any time: the backlog is still processed completely.
// @module-tag slow
import { afterEach, describe, expect, test } from 'vitest';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';
import { openQueueBackend, type QueueBackend } from '../../src/queue/backend.ts';
import { startDispatcher } from '../../src/queue/dispatcher.ts';
import { LostJobError } from '../../src/queue/shared-connection.ts';
import { openSiteQueue, startApplyWorker } from '../../src/queue/site-queue.ts';
import { runSql, withDatabase } from '../support/sql.ts';
import { collector } from './gate.ts';
import { backends, redis } from './queue-backends.ts';

/** Three times as many as the queue holds at once. */
const TOTAL = 300;
/** The first of them. */
const BEFORE_LOSS = 75;
const site = siteName('board');
const acme = feedName('acme');

/** Processes postings from a backlog in memory; `first` resolves in the middle of the run, `all` at its end. */
async function run(backend: QueueBackend, batchSize = 4) {
  const queue = await openSiteQueue(backend, site, batchSize);
  const done = new Set<string>();
  const finished = collector<string>();
  const process = async ({ key }: { key: string }) => {
    // Long enough for some postings to be in flight at any moment.
    await new Promise(setImmediate);
    if (done.has(key)) return;
    done.add(key);
    finished.add(key);
  };
  const options = { site, queue, concurrency: 8, requestsPerSecond: Number.POSITIVE_INFINITY };
  const worker = await startApplyWorker(backend, { ...options, process, onPoisoned: async () => undefined });
  const dispatcher = startDispatcher<number>({
    feeds: async () => [acme],
    readReady: async (_feed, after, limit) => {
      const items = [];
      for (let index = (after ?? -1) + 1; index < TOTAL && items.length < limit; index++) {
        if (!done.has(`${index}`)) items.push({ key: postingKey(`${index}`), cursor: index });
      }
      return { items };
    },
    queue,
    window: 100,
    tryLead: async () => true,
    mayDispatch: async () => true,
    isWorking: () => false,
    onError: () => undefined,
  });
  return {
    first: finished.reached(BEFORE_LOSS),
    all: finished.reached(TOTAL),
    finished: finished.values,
    async end() {
      await dispatcher.stop();
      await worker.stop(2000);
      await queue.close();
    },
  };
}

const toEnd: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of toEnd.splice(0).reverse()) await end();
});

describe.each(backends)('on $title', ({ start, missing }) => {
  test.skipIf(missing).each([1, 4])(
    'a queue emptied during a run is refilled and all postings are processed, %d per queue job',
    async (batchSize) => {
      const home = await start();
      toEnd.push(home.dispose);
      const troubles: Error[] = [];
      const site = await run(await home.open((error) => troubles.push(error)), batchSize);
      toEnd.push(site.end);
      await site.first;
      await home.wipe();
      await site.all;
      expect(site.finished).toHaveLength(TOTAL);
      // A lost job is reported differently from an unreachable queue.
      const gone = troubles.filter(({ message }) => message.includes('Missing key'));
      expect(gone.every((error) => error instanceof LostJobError)).toBe(true);
    },
  );
});

test('a queue disconnected from the database during a run reconnects, and all postings are processed', async () => {
  const home = await backends[0]?.start();
  if (home === undefined) throw new Error('the first backend is the database');
  toEnd.push(home.dispose);
  const site = await run(await home.open(() => undefined));
  toEnd.push(site.end);
  await site.first;
  const server = withDatabase(home.address.databaseUrl, 'postgres');
  const name = new URL(home.address.databaseUrl).pathname.slice(1);
  const cut = await runSql(
    server,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`,
  );
  expect(cut.length).toBeGreaterThan(1);
  await site.all;
  expect(site.finished).toHaveLength(TOTAL);
});

test.skipIf(!redis.available)(
  `all postings are processed although Redis is killed during a run and restarts empty${redis.note}`,
  async () => {
    const before = await redis.start();
    const options = { queue: before.url, databaseUrl: '', installation: 'test', onError: () => undefined };
    const site = await run(await openQueueBackend(options));
    await site.first;
    await before.kill();
    const after = await redis.start(before.port);
    toEnd.push(after.stop, site.end);
    await site.all;
    expect(site.finished).toHaveLength(TOTAL);
  },
);
