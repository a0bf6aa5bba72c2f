// A queue or worker whose connections do not close is abandoned with a report.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { siteName } from '../../src/posting/identifiers.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { startWorker } from '../../src/queue/running-worker.ts';
import { openSiteQueue } from '../../src/queue/site-queue.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

/** Longer than anything here waits. Not all timers: what an earlier file has left behind in this process may set new ones for ever. */
const LATER_MS = 60_000;

const never = () => new Promise<void>(() => undefined);

/** A backend whose connections never close, which cannot be provoked on a real server. */
function stuckBackend() {
  const reported: string[] = [];
  const stuck = { name: 'apply-board', on: () => undefined, close: never, disconnect: never };
  const backend = {
    kind: 'database',
    addAtOnce: 1,
    report: (error: Error) => void reported.push(`${error.name}: ${error.message}`),
    queue: async () => stuck,
    worker: async () => stuck,
  } as unknown as QueueBackend;
  return { backend, reported };
}

it('a queue that does not close is abandoned', async () => {
  const { backend, reported } = stuckBackend();
  const queue = await openSiteQueue(backend, siteName('board'));
  const closed = queue.close();
  await vi.advanceTimersByTimeAsync(LATER_MS);
  await closed;
  expect(reported).toEqual(['NotClosedError: queue apply-board did not close within 5 s']);
});

it('a worker that does not close is abandoned', async () => {
  const { backend, reported } = stuckBackend();
  const worker = await startWorker(backend, {
    queueName: 'apply-board',
    concurrency: 1,
    itemsOf: () => [],
    limiter: undefined,
    process: async () => undefined,
    onPoisoned: async () => undefined,
  });
  const stopped = worker.stop(1_000);
  await vi.advanceTimersByTimeAsync(LATER_MS);
  await stopped;
  expect(reported).toEqual(['NotClosedError: the worker of queue apply-board did not close']);
});
