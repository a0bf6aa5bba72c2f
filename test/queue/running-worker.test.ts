import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { feedName, type PostingRef, postingKey, siteName } from '../../src/posting/identifiers.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import {
  type ApplyWorkerOptions,
  openSiteQueue,
  type SiteQueue,
  startApplyWorker,
} from '../../src/queue/site-queue.ts';
import { leavesOut } from '../support/extent.ts';
import { collector, gate } from './gate.ts';
import { backends, type TestBackend } from './queue-backends.ts';

const posting = (key: string): PostingRef => ({ feed: feedName('acme'), key: postingKey(key) });
const childWorker = join(packageRoot, 'test/queue/child-worker.mjs');

describe.each(backends)('worker on $title', { concurrent: true }, ({ title, start, missing }) => {
  // Both queues are tested at the same time, each by one test after the other.
  const inTurn = missing ? test.skip : test.sequential;
  const variant = backends.findIndex((backend) => backend.title === title);
  let home: TestBackend;
  let backend: QueueBackend;
  let queue: SiteQueue;
  let sites = 0;
  let site = siteName('none');

  beforeAll(async () => {
    if (missing) return;
    home = await start();
    backend = await home.open();
  });
  afterAll(() => home?.dispose());
  afterEach(() => queue?.close());

  const openQueue = async (batchSize?: number) => {
    site = siteName(`site${++sites}`);
    queue = await openSiteQueue(backend, site, batchSize);
  };
  const work = (options: Partial<ApplyWorkerOptions> & Pick<ApplyWorkerOptions, 'process'>) =>
    startApplyWorker(backend, {
      site,
      queue,
      concurrency: 2,
      requestsPerSecond: Number.POSITIVE_INFINITY,
      onPoisoned: async () => undefined,
      ...options,
    });

  inTurn('stopping waits for postings in flight and leaves the rest in the queue', async () => {
    await openQueue();
    await queue.addMany(['a', 'b', 'c', 'd'].map(posting));
    const started = collector<string>();
    const finished: string[] = [];
    const finish = gate();
    const worker = await work({
      process: async ({ key }, signal) => {
        started.add(key);
        await finish.passed;
        finished.push(signal.aborted ? `${key} cut off` : key);
      },
    });
    await started.reached(2);
    const stopped = worker.stop(20_000);
    finish.open();
    await stopped;
    expect(started.values).toEqual(['a', 'b']);
    expect(finished).toEqual(['a', 'b']);
    expect(await queue.counts()).toEqual({ waiting: 2, active: 0 });
  });

  inTurn('after the grace the signal aborts, and aborted postings are not blamed', async () => {
    await openQueue();
    await queue.addMany([posting('slow')]);
    const started = collector<string>();
    const poisoned: string[] = [];
    let reason: unknown;
    const worker = await work({
      process: async ({ key }, signal) => {
        started.add(key);
        await once(signal, 'abort');
        reason = signal.reason;
        signal.throwIfAborted();
      },
      onPoisoned: async ({ key }) => {
        poisoned.push(key);
      },
    });
    await started.reached(1);
    await worker.stop(10);
    expect(String(reason)).toBe('Error: the worker is stopped');
    expect(poisoned).toEqual([]);
  });

  inTurn('a grace that is cut off is over', async () => {
    await openQueue();
    await queue.addMany([posting('slow')]);
    const started = collector<string>();
    const worker = await work({
      process: async ({ key }, signal) => {
        started.add(key);
        await once(signal, 'abort');
      },
    });
    await started.reached(1);
    const cutOff = new AbortController();
    const stopped = worker.stop(600_000, cutOff.signal);
    cutOff.abort();
    await stopped;
  });

  inTurn('a processor that ignores its signal does not prevent the stop', async () => {
    await openQueue();
    await queue.addMany([posting('deaf')]);
    const started = collector<string>();
    const release = gate();
    const worker = await work({
      process: async ({ key }) => {
        started.add(key);
        await release.passed;
      },
    });
    await started.reached(1);
    await worker.stop(10);
    release.open();
  });

  inTurn(
    'a killed worker is replaced; a posting that killed too many workers is recorded as poisoned',
    // `npm test` runs it on one of the queues only.
    { tags: leavesOut(0, variant, backends.length) ? ['slow', 'every-node'] : [] },
    async () => {
      expect(existsSync(join(packageRoot, 'dist/src/queue/site-queue.js')), 'run npm run build first').toBe(true);
      await openQueue();
      await queue.addMany([posting('harmless'), posting('deadly')]);
      const args = [childWorker, home.address.queue, home.address.databaseUrl, site];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const said = collector<string>();
      createInterface(child.stdout).on('line', (line) => said.add(line));
      await said.reached(2);
      expect(said.values).toEqual(['took harmless', 'took deadly']);
      await home.setDeaths('deadly', 10);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const outcomes = collector<string>();
      const worker = await work({
        process: async ({ key }) => outcomes.add(`processed ${key}`),
        onPoisoned: async ({ key }, error) => outcomes.add(`poisoned ${key}: ${error.message}`),
      });
      await outcomes.reached(2);
      await worker.stop(1000);
      expect(outcomes.values.toSorted()).toEqual([
        'poisoned deadly: processes died 11 times while processing it',
        'processed harmless',
      ]);
      expect(await queue.counts()).toEqual({ waiting: 0, active: 0 });
    },
  );

  inTurn('a batch with which a process died is split before it is processed', async () => {
    await openQueue(3);
    await queue.addMany(['a', 'b', 'c', 'd', 'e', 'f'].map(posting));
    await home.setDeaths('b', 1);
    const inFlight = new Set<string>();
    const together: string[] = [];
    const worker = await work({
      concurrency: 1,
      process: async ({ key }) => {
        inFlight.add(key);
        await new Promise(setImmediate);
        together.push([...inFlight].toSorted().join(''));
        await new Promise(setImmediate);
        inFlight.delete(key);
      },
    });
    await vi.waitUntil(() => together.length === 6, 60_000);
    await worker.stop(1000);
    expect(together).toEqual(['def', 'def', 'def', 'a', 'b', 'c']);
    expect(await queue.counts()).toEqual({ waiting: 0, active: 0 });
  });
});
