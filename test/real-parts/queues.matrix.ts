// A real Redis that is full, demoted, paused or gone in the middle of a sync; and what BullMQ does on each of its two backends.
import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { openInstallation } from '../laws/installation.ts';
import { type PrivateRedis, redisForTests } from '../support/redis.ts';
import { liveThrough, ROUND, SITE } from './live-through.ts';
import { preparePackages, startFailover } from './proxies.ts';
import { cellKey, writeSection } from './seen.ts';

const redis = redisForTests();
const LASTS_MS = 2_000;
const POLICIES = [
  'noeviction',
  'allkeys-lru',
  'allkeys-lfu',
  'allkeys-random',
  'volatile-lru',
  'volatile-lfu',
  'volatile-random',
  'volatile-ttl',
] as const;

/** A Redis with its replica, and HAProxy before both. */
interface Stage {
  readonly first: Redis;
  readonly second: Redis;
  readonly ports: readonly [number, number];
  /** Ends the first one with SIGKILL. */
  kill(): Promise<void>;
  /** Starts one at its port, with these files if any are named. */
  restart(): Promise<void>;
}

interface Fault {
  readonly name: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly pass: (stage: Stage) => Promise<unknown>;
}

/** What is used already is the most: each further command that stores something is refused, or removes something. */
async function fill({ first }: Stage): Promise<void> {
  const used = /^used_memory:(\d+)/m.exec(await first.info('memory'))?.[1] ?? '1';
  await first.config('SET', 'maxmemory', used);
  await pause(LASTS_MS);
  await first.config('SET', 'maxmemory', '0');
}

const FAULTS: readonly Fault[] = [
  ...POLICIES.map((policy) => ({
    name: `full for 2 s, maxmemory-policy ${policy}`,
    settings: { 'maxmemory-policy': policy },
    pass: fill,
  })),
  {
    name: 'FLUSHALL',
    pass: ({ first }) => first.flushall(),
  },
  {
    name: 'CLIENT PAUSE 2000 ALL',
    pass: async ({ first }) => {
      await first.client('PAUSE', LASTS_MS, 'ALL');
      await pause(LASTS_MS);
    },
  },
  {
    name: 'CLIENT PAUSE 8000 WRITE',
    pass: async ({ first }) => {
      await first.client('PAUSE', 8_000, 'WRITE');
      await pause(8_000);
    },
  },
  {
    name: 'CLIENT KILL TYPE normal',
    pass: ({ first }) => first.call('CLIENT', 'KILL', 'TYPE', 'normal'),
  },
  {
    name: 'AOF rewritten, five times',
    settings: { appendonly: 'yes', appendfsync: 'always' },
    pass: async ({ first }) => {
      for (let time = 0; time < 5; time++) {
        await first.bgrewriteaof().catch(() => undefined);
        await pause(300);
      }
    },
  },
  {
    name: 'killed, and started without its data',
    pass: async (stage) => {
      await stage.kill();
      await pause(500);
      await stage.restart();
    },
  },
  {
    name: 'killed, its replica promoted by REPLICAOF NO ONE',
    pass: async (stage) => {
      await stage.kill();
      await pause(1_000);
      await stage.second.replicaof('NO', 'ONE');
    },
  },
  {
    name: 'demoted by REPLICAOF, its connections kept',
    pass: async ({ first, second, ports }) => {
      await second.replicaof('NO', 'ONE');
      await first.replicaof('127.0.0.1', ports[1]);
      await pause(LASTS_MS);
    },
  },
  {
    name: 'FAILOVER to its replica',
    pass: async ({ first }) => {
      await first.call('FAILOVER');
      await pause(LASTS_MS);
    },
  },
];

const open: { close(): Promise<unknown> }[] = [];
const opened = <T extends { close(): Promise<unknown> }>(each: T): T => {
  open.push(each);
  return each;
};
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function startRedis(port?: number): Promise<PrivateRedis> {
  const server = await redis.start(port);
  opened({ close: () => server.stop().catch(() => undefined) });
  return server;
}

function connectTo(port: number): Redis {
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 100, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  opened({ close: async () => client.disconnect() });
  return client;
}

async function openStage(): Promise<Stage & { readonly url: string }> {
  const [one, two] = [await startRedis(), await startRedis()];
  const [first, second] = [connectTo(one.port), connectTo(two.port)];
  await second.replicaof('127.0.0.1', one.port);
  while (!(await second.info('replication')).includes('master_link_status:up')) await pause(50);
  const proxy = opened(await startFailover(one.port, two.port, 'Redis that may be written'));
  return {
    url: `redis://127.0.0.1:${proxy.port}`,
    first,
    second,
    ports: [one.port, two.port],
    kill: () => one.kill(),
    restart: async () => {
      await startRedis(one.port);
    },
  };
}

describe('in the middle of a sync', () => {
  const cells = new Map<string, string>();
  const versions: Record<string, string> = {};
  beforeAll(() => {
    versions.HAProxy = preparePackages().HAProxy;
    versions.Redis = / v=(\S+)/.exec(execFileSync('redis-server', ['--version'], { encoding: 'utf8' }))?.[1] ?? '';
  });
  afterAll(() =>
    writeSection({
      title: 'On the queue',
      law: `The queue is in Redis, behind HAProxy, which gives new connections to the server that may be written. ${ROUND} A cell has how the command ended whose changes met the fault, and the errors that it reported.`,
      versions,
      rows: FAULTS.map(({ name }) => name),
      columns: ['Redis'],
      cells,
    }),
  );

  it.each(FAULTS)('$name', async ({ name, settings = {}, pass }) => {
    const stage = await openStage();
    const installation = opened(await openInstallation({ queue: stage.url, site: SITE }));
    const text = await liveThrough(installation, {
      pass: () => pass(stage),
      before: async () => {
        for (const [setting, value] of Object.entries(settings)) await stage.first.config('SET', setting, value);
      },
      complaint: /queue/,
    });
    cells.set(cellKey(name, 'Redis'), text);
  });
});
