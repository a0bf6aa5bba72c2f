// Faults of our own environment: two processes at once, restarts of Redis and Postgres, no free connection, poison.
import { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import { applyChange } from '../../jobs/apply-change.ts';
import { pullFeed } from '../../jobs/pull-feed.ts';
import { feedName, postingKey } from '../../src/posting/identifiers.ts';
import type { FeedSetup } from '../../src/pull/feed-setup.ts';
import { startEngine } from '../../src/runtime/engine.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { spread } from '../support/extent.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { openedForAll } from '../support/opened.ts';
import { patientSite } from '../support/patient-site.ts';
import { redisForTests } from '../support/redis.ts';
import { heal } from './heal.ts';
import { inTheMiddle } from './in-the-middle.ts';
import type { Installation } from './installation.ts';
import { lawTest as it, QUEUES } from './law-test.ts';
import { checkLaws } from './laws.ts';
import { openPrivateServer, takeAllConnections } from './private-server.ts';

const redis = redisForTests();
const FEED = postings(30);

/** A mirror in the middle of a run; `ended` resolves when the run is over, however it ended. */
async function mirroring(installation: Installation): Promise<{ readonly ended: Promise<unknown> }> {
  const begin = () => ({ ended: installation.sync().catch((error: unknown) => error) });
  return (await inTheMiddle(installation, FEED, begin)).begun;
}

const creates = ({ sandbox }: Installation): number =>
  sandbox.requests.recent().filter(({ method }) => method === 'POST').length;

it.for(spread(QUEUES, 1, 2))(
  'two processes that mirror at once create each job once, with the queue in $queue $note',
  { timeout: 900_000 },
  async ({ queue, available }, { open, skip }) => {
    if (!available) skip();
    const installation = await open({ queue });
    await installation.sandbox.setFaults([{ name: 'latency', ms: 50 }]);
    await installation.writeFeed(feedXml(FEED));
    const both = [installation.spawn(['sync']), installation.spawn(['sync'])];
    const ends = await Promise.all(both.map(({ ended }) => ended));
    expect(ends.map(({ status, output }) => ({ status, output }))).toMatchObject([{ status: 0 }, { status: 0 }]);
    expect(creates(installation)).toBe(FEED.length);
    await checkLaws(installation, FEED);
  },
);

it.for(spread(QUEUES, 0, 2))(
  'two workers with the same queue jobs send each once, with the queue in $queue $note',
  { timeout: 900_000 },
  async ({ queue, available }, { open, skip }) => {
    if (!available) skip();
    const installation = await open({ queue });
    await installation.sandbox.setFaults([{ name: 'latency', ms: 50 }]);
    await installation.writeFeed(feedXml(FEED));
    const app = await installation.app();
    const [setup] = feedSetups(app.config, ['acme']);
    const first = await installation.engine();
    const second = await startEngine(app, undefined);
    const siteContexts = [first, second].flatMap(({ siteContexts }) => [...siteContexts.values()]);
    const unstopped = () => new AbortController().signal;
    await pullFeed(setup as FeedSetup, { ...app, signal: unstopped() });
    // In addition to the engines' own workers, which may get the same queue jobs.
    await Promise.all(
      siteContexts.flatMap((siteContext) =>
        FEED.map(({ key }) => applyChange({ feed: feedName('acme'), key: postingKey(key) }, siteContext, unstopped())),
      ),
    );
    await installation.sync();
    expect(creates(installation)).toBe(FEED.length);
    await second.stop(1_000);
    await checkLaws(installation, FEED);
  },
);

it.for(spread(QUEUES, 0, 2))(
  'an exhausted connection pool only causes a delay, with the queue in $queue $note',
  { timeout: 900_000 },
  async ({ queue, available }, { open, skip }) => {
    if (!available) skip();
    const installation = await open({ queue });
    const { ended } = await mirroring(installation);
    const { db } = await installation.app();
    const held = Array.from({ length: 10 }, () => db.transaction((tx) => tx.query('select pg_sleep(1.5)')));
    await Promise.all(held);
    expect(await ended).toMatchObject({ status: 'mirrored', created: FEED.length });
    await checkLaws(installation, FEED);
  },
);

describe(`Redis${redis.note}`, () => {
  it.skipIf(!redis.available)(
    'killed in the middle and restarted empty',
    { timeout: 900_000 },
    async ({ open, onTestFinished }) => {
      const installation = await open({ queue: 'redis' });
      const { ended } = await mirroring(installation);
      await installation.redis?.kill();
      const second = await redis.start(installation.redis?.port);
      onTestFinished(() => second.stop());
      expect(await ended).toMatchObject({ status: 'mirrored', created: FEED.length, in_doubt: 0 });
      expect(creates(installation)).toBe(FEED.length);
      await checkLaws(installation, FEED);
      await installation.stopEngine();
    },
  );

  it.skipIf(!redis.available)('emptied in the middle', { timeout: 900_000, tags: 'slow' }, async ({ open }) => {
    const installation = await open({ queue: 'redis' });
    const { ended } = await mirroring(installation);
    const client = new Redis(installation.redis?.url ?? '');
    await client.flushall();
    client.disconnect();
    expect(await ended).toMatchObject({ status: 'mirrored', created: FEED.length, in_doubt: 0 });
    expect(creates(installation)).toBe(FEED.length);
    await checkLaws(installation, FEED);
  });
});

describe('Postgres', () => {
  const server = openedForAll(() => openPrivateServer({ max_connections: '40' }));

  it.for(spread(QUEUES, 0, 2))(
    'stopped immediately and restarted, with the queue in $queue $note',
    { timeout: 900_000 },
    async ({ queue, available }, { open, skip }) => {
      if (!available) skip();
      const installation = await open({ queue, databaseUrl: await server.newDatabase() });
      const { ended } = await mirroring(installation);
      await server.crash();
      expect(await ended).toMatchObject({ status: 'mirrored', created: FEED.length });
      await heal(installation);
      await checkLaws(installation, FEED);
      await installation.stopEngine();
    },
  );

  it('without a free connection only causes a delay', { timeout: 900_000, tags: 'slow' }, async ({ open }) => {
    const installation = await open({ databaseUrl: await server.newDatabase() });
    const { ended } = await mirroring(installation);
    const taken = await takeAllConnections(server.url);
    expect(taken.length).toBeGreaterThan(5);
    const { db } = await installation.app();
    // Requests as many connections as the pool may open at once: the server refuses the new ones.
    await Promise.allSettled(Array.from({ length: 10 }, () => db.query('select pg_sleep(1)')));
    await Promise.all(taken.map((client) => client.end()));
    expect(await ended).toMatchObject({ status: 'mirrored', created: FEED.length, in_doubt: 0 });
    await checkLaws(installation, FEED);
    await installation.stopEngine();
  });

  it.for(spread(QUEUES, 1, 2))(
    'with a full disk only causes a delay, with the queue in $queue $note',
    { timeout: 900_000, tags: 'slow' },
    async ({ queue, available }, { open, skip }) => {
      if (!available) skip();
      const installation = await open({ queue });
      const { ended } = await mirroring(installation);
      const { db } = await installation.app();
      await fillDisk(db);
      await untilRefused(db, 5);
      await freeDisk(db);
      expect(await ended).toMatchObject({ status: 'mirrored', created: FEED.length, in_doubt: 0 });
      expect(creates(installation)).toBe(FEED.length);
      await checkLaws(installation, FEED);
    },
  );
});

const FILLING = ['change', 'mapping', 'document', 'request', 'failure'];

/** Raises the error of Postgres for a full disk. A sequence counts the errors, because it is not rolled back. */
async function fillDisk(db: Database): Promise<void> {
  await db.query('create sequence refusals');
  await db.query(
    `create function no_space() returns trigger language plpgsql as $$ begin
       perform nextval('refusals');
       raise exception 'could not extend file: No space left on device' using errcode = '53100';
     end $$`,
  );
  for (const table of FILLING)
    await db.query(
      `create trigger full_disk before insert or update on ${table} for each statement execute function no_space()`,
    );
}

async function untilRefused(db: Database, times: number): Promise<void> {
  const count = async () => (await db.query<{ n: number }>('select last_value as n from refusals'))[0]?.n;
  await expect.poll(count, { timeout: 180_000 }).toBeGreaterThanOrEqual(times);
}

/** Keeps the triggers: dropping them would lock all of their tables, in another order than running transactions do. */
async function freeDisk(db: Database): Promise<void> {
  await db.query(
    'create or replace function no_space() returns trigger language plpgsql as $$ begin return null; end $$',
  );
}

describe('a change that cannot be processed', () => {
  it.for(spread(QUEUES, 1, 2))(
    'ends in review, never in a loop, with the queue in $queue $note',
    { timeout: 900_000, tags: 'slow' },
    async ({ queue, available }, { open, skip }) => {
      if (!available) skip();
      const installation = await open({
        queue,
        site: { ...patientSite(4), retry: '{ attempts: 2, first_delay_seconds: 0.05, max_delay_seconds: 0.2 }' },
      });
      await installation.sandbox.setFaults([{ name: '401' }]);
      expect(await installation.syncOf([posting('a'), posting('b')])).toMatchObject({ status: 'pending', pending: 2 });
      await installation.query(`update change set fields = '{"no name of an element": "x"}' where key = 'b'`);
      const report = await heal(installation);
      expect(report).toMatchObject({ status: 'review', pending: 0 });
      expect(report.in_doubt + report.failed).toBe(1);
      expect(await installation.sync()).toMatchObject({ status: 'review', unchanged: 1, requests: 0 });
    },
  );
});
