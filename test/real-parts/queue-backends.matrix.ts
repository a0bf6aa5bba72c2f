// BullMQ's two backends side by side: what the mirror relies on holds on both, whatever connections and clocks do.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';
import { type AnyQueue, openQueueBackend, type QueueBackend } from '../../src/queue/backend.ts';
import { openSiteQueue, startApplyWorker } from '../../src/queue/site-queue.ts';
import { backends, INSTALLATION, redis, type TestBackend } from '../queue/queue-backends.ts';
import { type DatabaseProxy, openDatabaseProxy } from '../support/database-proxy.ts';
import { runSql } from '../support/sql.ts';
import { unpackPackages } from './packages.ts';
import { cellKey, writeSection } from './seen.ts';

const PACKAGES = join(tmpdir(), 'jobmirror-real-parts/faketime');
const WORKER = join(packageRoot, 'test/real-parts/queue-worker.mjs');
const TIMING = { lockMs: 3_000, stalledCheckMs: 500 };
const COLUMNS = { redis: 'Redis', database: 'Postgres' } as const;

const cells = new Map<string, string>();
const versions: Record<string, string> = {};
/** In the order of their definition. */
const rows: string[] = [];

const open: { close(): Promise<unknown> }[] = [];
const opened = <T extends { close(): Promise<unknown> }>(each: T): T => {
  open.push(each);
  return each;
};
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

beforeAll(async () => {
  versions.Redis = / v=(\S+)/.exec(execFileSync('redis-server', ['--version'], { encoding: 'utf8' }))?.[1] ?? '';
  const [server] = await runSql<{ server_version: string }>(inject('postgresUrl'), 'show server_version');
  versions.Postgres = server?.server_version ?? '';
  Object.assign(versions, unpackPackages(PACKAGES, ['libfaketime']));
  for (const name of ['bullmq', 'ioredis', 'pg'])
    versions[name] = JSON.parse(readFileSync(join(packageRoot, 'node_modules', name, 'package.json'), 'utf8')).version;
});

interface Child {
  readonly process: ChildProcess;
  /** Its lines so far. */
  readonly lines: readonly string[];
  says(line: string, times?: number): Promise<void>;
  close(): Promise<void>;
}

let sites = 0;

/** What a row needs of one of the two. */
class Stage {
  readonly site = siteName(`site${++sites}`);
  private readonly home: TestBackend;

  constructor(home: TestBackend) {
    this.home = home;
  }

  backend(): Promise<QueueBackend> {
    return this.home.open(() => undefined);
  }

  async siteQueue(backend?: QueueBackend) {
    return opened(await openSiteQueue(backend ?? (await this.backend()), this.site));
  }

  postings(...keys: readonly string[]) {
    return keys.map((key) => ({ feed: feedName('acme'), key: postingKey(key) }));
  }

  /** What became of those queue jobs whose end all rows wait for. */
  async runs(versions: readonly number[]): Promise<string> {
    const remains = await this.home.remains();
    return `runs ${versions.join(', ')}${remains.length === 0 ? '' : `; left: ${remains.join(', ')}`}`;
  }

  /** A queue of BullMQ with the product's settings, and the queue jobs' data by the site's name. */
  async raw(backend?: QueueBackend): Promise<AnyQueue<{ version: number }>> {
    return opened(await (backend ?? (await this.backend())).queue<{ version: number }>(`raw-${this.site}`));
  }

  /** A worker of BullMQ for {@link Stage.raw}. */
  async work(process: (version: number) => Promise<void>, options: { stalledInterval?: number } = {}) {
    const backend = await this.backend();
    return opened(
      await backend.worker<{ version: number }>(`raw-${this.site}`, async ({ data }) => process(data.version), {
        concurrency: 1,
        ...options,
      }),
    );
  }

  /** The same server through a proxy that is told what to pass on. */
  async throughProxy(): Promise<{ readonly proxy: DatabaseProxy; readonly backend: QueueBackend }> {
    const { queue, databaseUrl } = this.home.address;
    const isRedis = queue !== 'database';
    const proxy = opened(await openDatabaseProxy(isRedis ? queue : databaseUrl));
    const address = isRedis ? { queue: proxy.url, databaseUrl } : { queue, databaseUrl: proxy.url };
    return {
      proxy,
      backend: await openQueueBackend({ ...address, installation: INSTALLATION, onError: () => undefined }),
    };
  }

  /** Starts a worker process that takes so long for each posting. @param clock as libfaketime has it */
  async spawn({ clock, ...options }: { takesMs: number; requestsPerSecond?: number; clock?: string }): Promise<Child> {
    const argument = { ...this.home.address, site: this.site, timing: TIMING, ...options };
    const fake = {
      LD_PRELOAD: join(PACKAGES, 'usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'),
      FAKETIME: clock ?? '',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    const child = spawn(process.execPath, [WORKER, JSON.stringify(argument)], {
      env: { PATH: process.env.PATH, ...(clock === undefined ? {} : fake) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
    const ended = once(child, 'exit');
    const says = (line: string, times = 1) =>
      vi.waitFor(() => expect(lines.filter((each) => each === line).length).toBeGreaterThanOrEqual(times), 60_000);
    const close = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    opened({ close });
    await says('works');
    return { process: child, lines, says, close };
  }
}

const secondsSince = (then: number): number => (performance.now() - then) / 1_000;

/** Nothing comes after this. */
const QUIET_MS = 1_500;
const ended = async (queue: AnyQueue<never> | { getJobCounts: AnyQueue<never>['getJobCounts'] }) => {
  await vi.waitUntil(async () => {
    const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized');
    return Object.values(counts).every((count) => count === 0);
  }, 30_000);
  await pause(QUIET_MS);
};
const count = (lines: readonly string[], line: string): number => lines.filter((each) => each === line).length;
const LAST = { deduplication: { id: 'posting', keepLastIfActive: true } } as const;

interface Row {
  readonly name: string;
  /** What each of both must do, where the mirror relies on it. */
  readonly must?: string | RegExp;
  readonly see: (stage: Stage) => Promise<string>;
}

/** Adds through a proxy that drops the reply and ends the connection. */
const replyLost = async (
  stage: Stage,
  add: (queue: AnyQueue<{ version: number }>) => Promise<unknown>,
): Promise<string> => {
  const { proxy, backend } = await stage.throughProxy();
  const queue = await stage.raw(backend);
  await queue.getJobCounts('waiting');
  proxy.pass = (bytes, to, receiver) => {
    if (receiver === 'server') return void to.write(bytes);
    proxy.pass = (later, receiving) => void receiving.write(later);
    to.destroy();
  };
  const end = await add(queue).then(
    () => 'no error',
    () => 'an error',
  );
  const { waiting = 0 } = await (await stage.raw()).getJobCounts('waiting');
  return `${end}, ${waiting} queue job${waiting === 1 ? '' : 's'}`;
};

const ROWS: readonly Row[] = [
  {
    name: 'added again while it waits',
    must: 'runs 1',
    see: async (stage) => {
      const queue = await stage.raw();
      await queue.add('posting', { version: 1 }, LAST);
      await queue.add('posting', { version: 2 }, LAST);
      const seen: number[] = [];
      await stage.work(async (version) => void seen.push(version));
      await ended(queue);
      return stage.runs(seen);
    },
  },
  {
    name: 'added three times while it runs',
    must: 'runs 1, 4',
    see: async (stage) => {
      const queue = await stage.raw();
      const seen: number[] = [];
      await stage.work(async (version) => {
        seen.push(version);
        if (version === 1) for (const next of [2, 3, 4]) await queue.add('posting', { version: next }, LAST);
      });
      await queue.add('posting', { version: 1 }, LAST);
      await ended(queue);
      return stage.runs(seen);
    },
  },
  {
    name: 'added while it runs, and then it fails',
    must: 'runs 1, 2',
    see: async (stage) => {
      const queue = await stage.raw();
      const seen: number[] = [];
      await stage.work(async (version) => {
        seen.push(version);
        if (version > 1) return;
        await queue.add('posting', { version: 2 }, LAST);
        throw new Error('refused');
      });
      await queue.add('posting', { version: 1 }, LAST);
      await ended(queue);
      return stage.runs(seen);
    },
  },
  {
    name: 'added while its worker is dead',
    must: 'taken 2 times',
    see: async (stage) => {
      const queue = await stage.siteQueue();
      await queue.addMany(stage.postings('a'));
      const dead = await stage.spawn({ takesMs: 600_000 });
      await dead.says('took a');
      await dead.close();
      await queue.addMany(stage.postings('a'));
      const other = await stage.spawn({ takesMs: 10 });
      await other.says('ended a', 2);
      await pause(QUIET_MS);
      return `taken ${count(other.lines, 'took a')} times`;
    },
  },
  {
    name: 'its worker is killed',
    must: 'taken again within a minute',
    see: async (stage) => {
      await (await stage.siteQueue()).addMany(stage.postings('a'));
      const dead = await stage.spawn({ takesMs: 600_000 });
      await dead.says('took a');
      const other = await stage.spawn({ takesMs: 10 });
      const killedAt = performance.now();
      await dead.close();
      await other.says('took a');
      return secondsSince(killedAt) <= 60 ? 'taken again within a minute' : 'taken again later';
    },
  },
  {
    name: 'its worker is stopped for longer than its lock, and goes on',
    see: async (stage) => {
      await (await stage.siteQueue()).addMany(stage.postings('a'));
      const stopped = await stage.spawn({ takesMs: 4_000 });
      await stopped.says('took a');
      stopped.process.kill('SIGSTOP');
      const other = await stage.spawn({ takesMs: 2_000 });
      await other.says('took a');
      stopped.process.kill('SIGCONT');
      await Promise.all([stopped.says('ended a'), other.says('ended a')]);
      await pause(QUIET_MS);
      const said = [...stopped.lines, ...other.lines].filter((each) => each.startsWith('error'));
      return `taken by another; ${said.length === 0 ? 'no error' : said.map((each) => each.replace(/^error /, '').replace(/\.? *(Job|for job|job) \d+.*/, '')).join('; ')}`;
    },
  },
  {
    name: 'its worker has a connection that breaks while it runs',
    must: 'taken 1 time, nothing left',
    see: async (stage) => {
      const { proxy, backend } = await stage.throughProxy();
      const queue = await stage.siteQueue();
      let runs = 0;
      const worker = await startApplyWorker(backend, {
        site: stage.site,
        queue,
        concurrency: 1,
        requestsPerSecond: Number.POSITIVE_INFINITY,
        process: async () => {
          runs++;
          proxy.pass = (bytes, to) => {
            proxy.pass = (later, receiving) => void receiving.write(later);
            to.destroy();
            void bytes;
          };
          await pause(500);
        },
        onPoisoned: async () => undefined,
      });
      opened({ close: () => worker.stop(1_000) });
      await queue.addMany(stage.postings('a'));
      await vi.waitFor(async () => expect(await queue.counts()).toEqual({ waiting: 0, active: 0 }), 30_000);
      await pause(QUIET_MS);
      return `taken ${runs} time${runs === 1 ? '' : 's'}, nothing left`;
    },
  },
  {
    name: 'reply to its end lost',
    must: 'taken 1 time, nothing left',
    see: async (stage) => {
      const { proxy, backend } = await stage.throughProxy();
      const queue = await stage.siteQueue();
      let runs = 0;
      const worker = await startApplyWorker(backend, {
        site: stage.site,
        queue,
        concurrency: 1,
        requestsPerSecond: Number.POSITIVE_INFINITY,
        timing: TIMING,
        process: async () => {
          runs++;
          let isAsked = false;
          proxy.pass = (bytes, to, receiver) => {
            if (receiver === 'server') isAsked = true;
            if (receiver === 'server' || !isAsked) return void to.write(bytes);
            proxy.pass = (later, receiving) => void receiving.write(later);
            to.destroy();
          };
        },
        onPoisoned: async () => undefined,
      });
      opened({ close: () => worker.stop(1_000) });
      await queue.addMany(stage.postings('a'));
      await vi.waitFor(async () => expect(await queue.counts()).toEqual({ waiting: 0, active: 0 }), 30_000);
      await pause(QUIET_MS);
      return `taken ${runs} time${runs === 1 ? '' : 's'}, nothing left`;
    },
  },
  {
    name: 'reply to an addition lost',
    must: /, 1 queue job$/,
    see: (stage) => replyLost(stage, (queue) => queue.add('posting', { version: 1 }, LAST)),
  },
  {
    name: 'reply to an addition of 300 lost',
    must: /, 300 queue jobs$/,
    see: (stage) =>
      replyLost(stage, (queue) =>
        queue.addBulk(
          Array.from({ length: 300 }, (_, version) => {
            const opts = { deduplication: { id: `${version}`, keepLastIfActive: true } };
            return { name: 'posting', data: { version }, opts };
          }),
        ),
      ),
  },
  {
    name: 'the same of one without deduplication',
    see: (stage) => replyLost(stage, (queue) => queue.add('posting', { version: 1 })),
  },
  {
    name: 'added by a process whose clock is an hour ahead',
    must: 'taken at once',
    see: async (stage) => {
      const queue = await stage.raw();
      const seen: number[] = [];
      await stage.work(async (version) => void seen.push(version));
      await queue.add('posting', { version: 1 }, { ...LAST, timestamp: Date.now() + 3_600_000 });
      await vi.waitFor(() => expect(seen).toEqual([1]), 5_000);
      return 'taken at once';
    },
  },
  {
    name: 'another worker’s clock is an hour ahead',
    must: 'taken 1 time',
    see: async (stage) => {
      const queue = await stage.siteQueue();
      const one = await stage.spawn({ takesMs: 8_000 });
      await queue.addMany(stage.postings('a'));
      await one.says('took a');
      const ahead = await stage.spawn({ takesMs: 10, clock: '+3600' });
      await one.says('ended a');
      const all = [...one.lines, ...ahead.lines];
      const times = count(all, 'took a');
      return `taken ${times} time${times === 1 ? '' : 's'}`;
    },
  },
  {
    name: 'that worker ends, and then one is killed',
    must: 'taken again within a minute',
    see: async (stage) => {
      const queue = await stage.siteQueue();
      const ahead = await stage.spawn({ takesMs: 10, clock: '+3600' });
      await queue.addMany(stage.postings('first'));
      await ahead.says('ended first');
      await pause(QUIET_MS);
      await ahead.close();
      const dead = await stage.spawn({ takesMs: 600_000 });
      await queue.addMany(stage.postings('a'));
      await dead.says('took a');
      const other = await stage.spawn({ takesMs: 10 });
      const killedAt = performance.now();
      await dead.close();
      await Promise.race([other.says('took a'), pause(60_000)]);
      if (secondsSince(killedAt) >= 60) return 'not taken within a minute';
      return secondsSince(killedAt) <= 60 ? 'taken again within a minute' : 'taken again later';
    },
  },
  {
    name: 'that worker ends in the middle of 20 postings, at 4 a second',
    must: 'the others are taken within a minute',
    see: async (stage) => {
      const queue = await stage.siteQueue();
      const keys = Array.from({ length: 20 }, (_, at) => `k${at}`);
      await queue.addMany(stage.postings(...keys));
      const ahead = await stage.spawn({ takesMs: 1, clock: '+3600', requestsPerSecond: 4 });
      await vi.waitFor(() => expect(ahead.lines.length).toBeGreaterThan(8), 30_000);
      await ahead.close();
      const begun = performance.now();
      const other = await stage.spawn({ takesMs: 1, requestsPerSecond: 4 });
      const left = () =>
        keys.filter((key) => !ahead.lines.includes(`ended ${key}`) && !other.lines.includes(`ended ${key}`));
      while (left().length > 1 && performance.now() - begun < 60_000) await pause(100);
      if (left().length > 1) return `${left().length} are not taken within a minute`;
      return secondsSince(begun) <= 60 ? 'the others are taken within a minute' : 'the others are taken later';
    },
  },
  {
    name: 'two workers, 20 a second',
    must: 'together 20 a second, or up to 4 fewer',
    see: async (stage) => {
      const queue = await stage.siteQueue();
      await queue.addMany(stage.postings(...Array.from({ length: 200 }, (_, at) => `k${at}`)));
      const both = [
        await stage.spawn({ takesMs: 1, requestsPerSecond: 20 }),
        await stage.spawn({ takesMs: 1, requestsPerSecond: 20 }),
      ];
      const taken = () => both.flatMap(({ lines }) => lines.filter((each) => each.startsWith('took'))).length;
      const before = taken();
      await pause(4_000);
      const rate = Math.round((taken() - before) / 4);
      return rate >= 16 && rate <= 21 ? 'together 20 a second, or up to 4 fewer' : `together ${rate} a second`;
    },
  },
  {
    name: '600 added at once',
    must: 'taken in their order',
    see: async (stage) => {
      const queue = await stage.siteQueue();
      const keys = Array.from({ length: 600 }, (_, at) => `k${at}`);
      await queue.addMany(stage.postings(...keys));
      const seen: string[] = [];
      const worker = await startApplyWorker(await stage.backend(), {
        site: stage.site,
        queue,
        concurrency: 1,
        requestsPerSecond: Number.POSITIVE_INFINITY,
        process: async ({ key }) => void seen.push(key),
        onPoisoned: async () => undefined,
      });
      opened({ close: () => worker.stop(1_000) });
      await vi.waitFor(() => expect(seen.length).toBe(600), 60_000);
      return seen.join() === keys.join() ? 'taken in their order' : 'taken in another order';
    },
  },
  {
    name: 'with two tries, added while it runs and fails',
    see: async (stage) => {
      const queue = await stage.raw();
      const options = { ...LAST, attempts: 2, backoff: { type: 'fixed', delay: 1_500 } };
      const seen: number[] = [];
      await stage.work(async (version) => {
        seen.push(version);
        if (seen.length > 1) return;
        await queue.add('posting', { version: 2 }, options);
        throw new Error('refused');
      });
      await queue.add('posting', { version: 1 }, options);
      await ended(queue);
      return stage.runs(seen);
    },
  },
  {
    name: 'with two tries, added while it waits for the second',
    see: async (stage) => {
      const queue = await stage.raw();
      const options = { ...LAST, attempts: 2, backoff: { type: 'fixed', delay: 1_500 } };
      const seen: number[] = [];
      await stage.work(async (version) => {
        seen.push(version);
        if (seen.length === 1) throw new Error('refused');
      });
      await queue.add('posting', { version: 1 }, options);
      await vi.waitUntil(async () => (await queue.getDelayedCount()) > 0, 10_000);
      await queue.add('posting', { version: 2 }, options);
      await ended(queue);
      return stage.runs(seen);
    },
  },
  {
    name: 'delayed by a second',
    see: async (stage) => {
      const queue = await stage.raw();
      const begun = performance.now();
      let afterMs = 0;
      await stage.work(async () => {
        afterMs = performance.now() - begun;
      });
      await queue.add('posting', { version: 1 }, { delay: 1_000 });
      await vi.waitFor(() => expect(afterMs).toBeGreaterThan(0), 20_000);
      return `runs after ${Math.round(afterMs / 500) / 2} s`;
    },
  },
  {
    name: 'delayed by a second, by a process whose clock is 5 s ahead',
    see: async (stage) => {
      const queue = await stage.raw();
      const begun = performance.now();
      let afterMs = 0;
      await stage.work(async () => {
        afterMs = performance.now() - begun;
      });
      await queue.add('posting', { version: 1 }, { delay: 1_000, timestamp: Date.now() + 5_000 });
      await vi.waitFor(() => expect(afterMs).toBeGreaterThan(0), 20_000);
      return `runs after ${Math.round(afterMs / 500) / 2} s`;
    },
  },
  {
    name: 'priorities 2, 1 and none',
    see: async (stage) => {
      const queue = await stage.raw();
      for (const [version, priority] of [
        [2, 2],
        [1, 1],
        [0, 0],
      ] as const)
        await queue.add('posting', { version }, { priority });
      const seen: number[] = [];
      await stage.work(async (version) => void seen.push(version));
      await vi.waitFor(() => expect(seen.length).toBe(3), 20_000);
      return `runs ${seen.map((each) => (each === 0 ? 'none' : each)).join(', ')}`;
    },
  },
];
rows.push(...ROWS.map(({ name }) => name));

describe.each(backends)('$title', ({ title, start, missing }) => {
  const column = COLUMNS[title.startsWith('redis') ? 'redis' : 'database'];
  let home: TestBackend;
  beforeAll(async () => {
    expect(missing, redis.note).toBe(false);
    home = await start();
  });
  afterAll(async () => {
    await home.dispose();
    writeSection({
      title: 'On either backend of the queue',
      law: 'What the mirror relies on of BullMQ, with its settings: one try for each queue job, and deduplication that keeps the last addition; locks last for 3 s. `Runs 1, 4`: with the data of the first and of the fourth addition. The mirror does not use what the last five rows and `without deduplication` show.',
      versions,
      rows,
      columns: Object.values(COLUMNS),
      cells,
    });
  });

  it.each(ROWS)('$name', async ({ name, must, see }) => {
    const text = await see(new Stage(home));
    cells.set(cellKey(name, column), text);
    if (process.env.SHOW !== undefined) console.log(column, name, text);
    if (must !== undefined) expect(text).toMatch(must);
    for (const each of open.splice(0).reverse()) await each.close();
    await home.wipe();
  });
});
