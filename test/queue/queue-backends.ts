// Both backends for the queue tests: a separate database, and a private Redis if it is installed.

import { Redis } from 'ioredis';
import { openQueueBackend, type QueueBackend } from '../../src/queue/backend.ts';
import { NotClosedError } from '../../src/queue/shared-connection.ts';
import { endFalseQueueTimes } from '../../src/store/locks/advisory-locks.ts';
import { createTestDatabase } from '../support/database.ts';
import { redisForTests } from '../support/redis.ts';
import { runSql } from '../support/sql.ts';

/** What a child process needs to open the same backend. */
export interface BackendAddress {
  readonly queue: string;
  readonly databaseUrl: string;
}

export interface TestBackend {
  readonly address: BackendAddress;
  open(onError?: (error: Error) => void): Promise<QueueBackend>;
  /** Names of the queues' jobs and deduplication keys, without counters and settings. */
  remains(): Promise<string[]>;
  /** Makes it look as if that many processes had died with this posting's queue job. */
  setDeaths(key: string, deaths: number): Promise<void>;
  /** Makes the rate limit of the only site hold for an hour, as if a clock had been ahead by that. */
  holdRateLimit(): Promise<void>;
  /** Makes all locks of queue jobs, and the wait for the next check of them, last for an hour longer, as if the clock had been set back. */
  setClockBack(): Promise<void>;
  /** Deletes everything in the queue. */
  wipe(): Promise<void>;
  dispose(): Promise<void>;
}

export const INSTALLATION = 'test';
/** A backend that closes slowly loses nothing. */
const noErrors = (error: Error) => {
  if (!(error instanceof NotClosedError)) throw error;
};

async function openDatabase(): Promise<TestBackend> {
  const database = await createTestDatabase({ own: true });
  const address = { queue: 'database', databaseUrl: database.url };
  return {
    address,
    open: (onError = noErrors) =>
      openQueueBackend({
        ...address,
        installation: INSTALLATION,
        endFalseTimes: (...times) =>
          endFalseQueueTimes({ query: (text, values) => runSql(database.url, text, values) }, ...times),
        onError,
      }),
    remains: async () =>
      (
        await runSql<{ name: string }>(
          database.url,
          `select id as name from queue.job where scheduler_id is null
           union all select dedup_id from queue.dedup union all select dedup_id from queue.dedup_next`,
        )
      ).map(({ name }) => name),
    setDeaths: async (key, deaths) => {
      await runSql(
        database.url,
        `update queue.job set stalled_count = ${deaths} where data @@ '$.postings[*].key == "${key}"'`,
      );
    },
    holdRateLimit: async () => {
      const hour = "(extract(epoch from now() + interval '1 hour') * 1000)::bigint";
      const held = `update queue.rate_limit set points = 1000, expire_at_ms = ${hour} returning queue`;
      if ((await runSql(database.url, held)).length !== 1) throw new Error('there is not one rate limit');
    },
    setClockBack: async () => {
      for (const statement of [
        "update queue.job set locked_until_ms = locked_until_ms + 3600000 where state = 'active' returning id",
        "update queue.meta set value = value::bigint + 3600000 where field = 'stalled-check' returning queue",
      ])
        if ((await runSql(database.url, statement)).length === 0) throw new Error(`nothing is changed by ${statement}`);
    },
    wipe: async () => {
      const tables = ['job', 'dedup', 'dedup_next', 'scheduler', 'rate_limit', 'meta'].map((name) => `queue.${name}`);
      // May deadlock with running workers.
      const isDeadlock = (error: unknown) => (error as { code?: string }).code === '40P01';
      for (let done = false; !done; ) {
        done = await runSql(database.url, `truncate ${tables.join(', ')} cascade`).then(
          () => true,
          (error) => {
            if (!isDeadlock(error)) throw error;
            return false;
          },
        );
      }
    },
    dispose: database.drop,
  };
}

export const redis = redisForTests();

async function openRedis(): Promise<TestBackend> {
  const server = await redis.start();
  const client = new Redis(server.url);
  const address = { queue: server.url, databaseUrl: 'postgres://nobody@127.0.0.1:1/none' };
  const jobs = async () => (await client.keys('*')).filter((name) => /:(\d+|de:.*|dn:.*)$/.test(name));
  return {
    address,
    open: (onError = noErrors) => openQueueBackend({ ...address, installation: INSTALLATION, onError }),
    remains: jobs,
    setDeaths: async (key, deaths) => {
      for (const name of await jobs()) {
        if ((await client.type(name)) !== 'hash') continue;
        const data = JSON.parse((await client.hget(name, 'data')) ?? '{}');
        const keys = (data.postings ?? []).map((posting: { key: string }) => posting.key);
        if (keys.includes(key)) await client.hset(name, 'stc', deaths);
      }
    },
    holdRateLimit: async () => {
      // Its key is gone once the window is over.
      const [meta] = await client.keys('*:meta');
      await client.set(String(meta).replace(/meta$/, 'limiter'), 1000, 'PX', 3_600_000);
    },
    setClockBack: async () => {
      const names = await client.keys('*:lock');
      if (names.length === 0) throw new Error('there is no lock');
      for (const name of names) await client.pexpire(name, 3_600_000);
      const [meta] = await client.keys('*:meta');
      await client.set(String(meta).replace(/meta$/, 'stalled-check'), Date.now() + 3_600_000, 'PX', 3_600_000);
    },
    wipe: async () => {
      await client.flushall();
    },
    dispose: async () => {
      client.disconnect();
      await server.stop();
    },
  };
}

/** For `describe.each`: title, start function, and whether the backend is missing here. */
export const backends = [
  { title: 'database', start: openDatabase, missing: false },
  { title: `redis${redis.note}`, start: openRedis, missing: !redis.available },
];
