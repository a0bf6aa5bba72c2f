import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { type FeedSchedule, openPullQueue, type PullQueue, startPullWorker } from '../../src/queue/pull-queue.ts';
import type { RunningWorker } from '../../src/queue/running-worker.ts';
import { collector, gate } from './gate.ts';
import { backends, type TestBackend } from './queue-backends.ts';

const acme = feedName('acme');
const globex = feedName('globex');
const noon = (feed = acme, timeZone = 'America/New_York'): FeedSchedule => ({ feed, pattern: '0 12 * * *', timeZone });
const everySecond: FeedSchedule = { feed: acme, pattern: '* * * * * *', timeZone: 'UTC' };

describe.each(backends)('pull queue on $title', ({ start, missing }) => {
  let home: TestBackend;
  let backend: QueueBackend;
  let queue: PullQueue;
  let worker: RunningWorker | undefined;

  beforeAll(async () => {
    if (missing) return;
    home = await start();
    backend = await home.open();
  });
  afterAll(() => home?.dispose());
  beforeEach(async () => {
    if (missing) return;
    queue = await openPullQueue(backend);
  });
  afterEach(async () => {
    if (missing) return;
    await worker?.stop(1000);
    worker = undefined;
    await queue.close();
    await home.wipe();
  });

  const pull = async (
    process: (feed: string, signal: AbortSignal) => Promise<void>,
    failed?: (what: string) => void,
  ) => {
    worker = await startPullWorker(backend, {
      process,
      onFailed: async (feed, error) => failed?.(`${feed}: ${error.message}`),
    });
  };
  const nextRuns = async () => new Map((await queue.nextRuns()).map(({ feed, at }) => [feed, at]));

  test.skipIf(missing)('a schedule runs at its hour in its own time zone', async () => {
    await queue.upsertSchedules([noon(), noon(globex, 'Asia/Kolkata')]);
    const runs = await nextRuns();
    const timeIn = (zone: string, at?: Date) => at?.toLocaleTimeString('en-GB', { timeZone: zone });
    expect(timeIn('America/New_York', runs.get(acme))).toBe('12:00:00');
    expect(timeIn('Asia/Kolkata', runs.get(globex))).toBe('12:00:00');
  });

  test.skipIf(missing)('schedules follow the configuration: changed, moved to another zone, removed', async () => {
    await queue.upsertSchedules([noon(), noon(globex)]);
    const before = await nextRuns();
    await queue.upsertSchedules([noon(acme, 'Asia/Kolkata')]);
    const after = await nextRuns();
    expect([...after.keys()]).toEqual(['acme']);
    expect(after.get(acme)).not.toEqual(before.get(acme));
    await queue.upsertSchedules([{ ...noon(), pattern: '30 12 * * *' }]);
    expect((await nextRuns()).get(acme)?.getUTCMinutes()).toBe(30);
    await queue.upsertSchedules([]);
    expect(await queue.nextRuns()).toEqual([]);
  });

  test.skipIf(missing)('a schedule that can’t be read is named; the others are set', async () => {
    const schedules = [{ ...noon(globex), pattern: 'at noon' }, noon()];
    await expect(queue.upsertSchedules(schedules)).rejects.toThrow(/feed globex: the schedule "at noon"/);
    expect([...(await nextRuns()).keys()]).toEqual(['acme']);
  });

  test.skipIf(missing)('a schedule pulls again and again, also after a pull that failed', async () => {
    const failures = collector<string>();
    await queue.upsertSchedules([everySecond]);
    await pull(
      async () => {
        throw new Error('source is away');
      },
      (failure) => failures.add(failure),
    );
    await failures.reached(2);
    expect(failures.values.slice(0, 2)).toEqual(['acme: source is away', 'acme: source is away']);
  });

  test.skipIf(missing)('setting the schedules again keeps a run that is due and waits for a worker', async () => {
    await queue.upsertSchedules([everySecond]);
    const due = (await nextRuns()).get(acme);
    await vi.waitUntil(() => Date.now() > (due?.getTime() ?? 0), 5000);
    await queue.upsertSchedules([everySecond]);
    expect((await nextRuns()).get(acme)).toEqual(due);
  });

  test.skipIf(missing)('a schedule that has come to a stop, its next run lost, is set again', async () => {
    await queue.upsertSchedules([everySecond]);
    await home.loseScheduledJobs();
    await queue.upsertSchedules([everySecond]);
    const pulled = collector<string>();
    await pull(async (feed) => pulled.add(feed));
    await pulled.reached(2);
  });

  test.skipIf(missing)('schedules that were lost with the queue are set again', async () => {
    await queue.upsertSchedules([everySecond]);
    const pulled = collector<string>();
    await pull(async (feed) => pulled.add(feed));
    await pulled.reached(1);
    await home.wipe();
    const seen = pulled.values.length;
    await queue.upsertSchedules([everySecond]);
    await pulled.reached(seen + 2);
  });

  test.skipIf(missing)(
    'a pull that is asked for twice while it waits runs once, and once more if asked while it runs',
    async () => {
      await queue.requestPull(acme);
      await queue.requestPull(acme);
      const pulled = collector<string>();
      const finish = gate();
      await pull(async (feed) => {
        pulled.add(feed);
        await finish.passed;
      });
      await pulled.reached(1);
      await queue.requestPull(acme);
      await queue.requestPull(globex);
      await pulled.reached(2);
      finish.open();
      await pulled.reached(3);
      await worker?.stop(5000);
      expect(pulled.values).toEqual(['acme', 'globex', 'acme']);
    },
  );
});
