// Clocks that are wrong neither hold up a queue nor make queue jobs run twice.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { type ApplyWorkerOptions, openSiteQueue, startApplyWorker } from '../../src/queue/site-queue.ts';
import { runSql } from '../support/sql.ts';
import { collector, gate } from './gate.ts';
import { backends } from './queue-backends.ts';

const childWorker = join(packageRoot, 'test/queue/child-worker.mjs');
const HOUR_MS = 3_600_000;
const site = siteName('board');
const refOf = (key: string) => ({ feed: feedName('acme'), key: postingKey(key) });

const toEnd: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const end of toEnd.splice(0).reverse()) await end();
});

async function work(
  backend: QueueBackend,
  process: (key: string) => Promise<void>,
  options: Pick<ApplyWorkerOptions, 'requestsPerSecond' | 'timing'> = { requestsPerSecond: 10 },
) {
  const queue = await openSiteQueue(backend, site);
  const worker = await startApplyWorker(backend, {
    site,
    queue,
    concurrency: 1,
    process: ({ key }) => process(key),
    onPoisoned: async () => undefined,
    ...options,
  });
  toEnd.push(queue.close, () => worker.stop(1_000));
  return queue;
}

test('the times of a queue in Postgres are those of its server, not of the process', async () => {
  const home = await backends[0]?.start();
  if (home === undefined) throw new Error('the first backend is the database');
  toEnd.push(home.dispose);
  const now = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + HOUR_MS);
  const taken = collector<string>();
  const finish = gate();
  toEnd.push(async () => finish.open());
  const process = async (key: string) => {
    taken.add(key);
    if (key === 'b') await finish.passed;
  };
  const fast = { requestsPerSecond: 1_000, timing: { lockMs: 2_000, stalledCheckMs: 100 } };
  const queue = await work(await home.open(), process, fast);
  // The second is taken with the end of the first, as the rate allows both.
  await queue.addMany([refOf('a'), refOf('b')]);
  await taken.reached(2);
  const readTimes = () =>
    vi.waitFor(async () => {
      const rows = await runSql<{ what: string; at: string; ahead: string }>(
        home.address.databaseUrl,
        `select what, at, at - (extract(epoch from clock_timestamp()) * 1000)::bigint as ahead from (
         select 'lock' as what, locked_until_ms as at from queue.job where state = 'active'
         union all select 'rate limit', expire_at_ms from queue.rate_limit
         union all select 'check', value::bigint from queue.meta where field = 'stalled-check') as times order by what`,
      );
      expect(rows.map(({ what }) => what)).toEqual(['check', 'lock', 'rate limit']);
      return rows;
    }, 30_000);
  const times = await readTimes();
  const lockIn = (rows: typeof times) => rows.find(({ what }) => what === 'lock')?.at;
  const renewed = await vi.waitFor(async () => {
    const rows = await readTimes();
    expect(lockIn(rows)).not.toBe(lockIn(times));
    return rows;
  }, 30_000);
  for (const { what, ahead } of [...times, ...renewed]) expect(Math.abs(Number(ahead)), what).toBeLessThan(HOUR_MS / 2);
  expect(taken.values).toEqual(['a', 'b']);
});

describe.each(backends)('on $title', ({ start, missing }) => {
  test.skipIf(missing)(
    'what a dead worker was processing before the clock was set back is taken again, once',
    async () => {
      const home = await start();
      toEnd.push(home.dispose);
      const { queue: url, databaseUrl } = home.address;
      const queue = await openSiteQueue(await home.open(), site);
      toEnd.push(queue.close);
      await queue.addMany([refOf('dead')]);
      const child = spawn(process.execPath, [childWorker, url, databaseUrl, site], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await once(child, 'exit');
      const taken = collector<string>();
      const finish = gate();
      toEnd.push(async () => finish.open());
      const options = { requestsPerSecond: 1_000, timing: { lockMs: 3_000, stalledCheckMs: 100 } };
      const take = async (key: string) => {
        taken.add(key);
        if (key === 'live') await finish.passed;
      };
      await work(await home.open(), take, options);
      await queue.addMany([refOf('live')]);
      await taken.reached(1);
      await home.setClockBack();
      await work(await home.open(), take, options);
      await taken.reached(2);
      finish.open();
      await vi.waitFor(async () => expect(await queue.counts()).toEqual({ waiting: 0, active: 0 }), 30_000);
      expect(taken.values).toEqual(['live', 'dead']);
    },
  );

  test.skipIf(missing)('a rate limit that began while a clock was ahead is ended', async () => {
    const home = await start();
    toEnd.push(home.dispose);
    const taken = collector<string>();
    const queue = await work(await home.open(), async (key) => taken.add(key));
    await queue.addMany([refOf('a')]);
    await taken.reached(1);
    await vi.waitFor(async () => expect(await queue.counts()).toEqual({ waiting: 0, active: 0 }), 30_000);
    await home.holdRateLimit();
    await queue.addMany([refOf('b')]);
    await taken.reached(2);
    expect(taken.values).toEqual(['a', 'b']);
  });
});
