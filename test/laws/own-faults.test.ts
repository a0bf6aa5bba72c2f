// Faults of our own surroundings: two at once, Redis and Postgres that go and come back, no connection left, poison.
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import { openEmbeddedServer } from '../../src/store/embedded/server.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { redisForTests } from '../support/redis.ts';
import { runSql } from '../support/sql.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it, QUEUES } from './law-test.ts';
import { checkLaws } from './laws.ts';

const redis = redisForTests();
const FEED = postings(60);

/** Begins to mirror, slowly, and resolves in the middle of it; `ended` when it is over, however it ended. */
async function inTheMiddle(installation: Installation): Promise<{ ended: Promise<unknown> }> {
  await installation.sandbox.setFaults([{ name: 'latency', ms: 100 }]);
  await installation.writeFeed(feedXml(FEED));
  let left = 12;
  const reached = installation.sandbox.requests.next(() => --left === 0);
  const ended = installation.sync().catch((error: unknown) => error);
  await reached;
  return { ended };
}

const creates = ({ sandbox }: Installation): number =>
  sandbox.requests.recent().filter(({ method }) => method === 'POST').length;

describe.each(QUEUES)('with the queue in $queue $note', ({ queue, available }) => {
  it.skipIf(!available)('two that mirror at once make each job once', { timeout: 60_000 }, async ({ open }) => {
    const installation = await open({ queue });
    await installation.sandbox.setFaults([{ name: 'latency', ms: 50 }]);
    await installation.writeFeed(feedXml(FEED));
    const both = [installation.spawn(['sync']), installation.spawn(['sync'])];
    const ends = await Promise.all(both.map(({ ended }) => ended));
    expect(ends.map(({ status, output }) => ({ status, output }))).toMatchObject([{ status: 0 }, { status: 0 }]);
    expect(creates(installation)).toBe(FEED.length);
    await checkLaws(installation, FEED);
  });

  it.skipIf(!available)('no connection left in the pool only takes time', { timeout: 60_000 }, async ({ open }) => {
    const installation = await open({ queue });
    const { ended } = await inTheMiddle(installation);
    const { db } = await installation.books();
    const held = Array.from({ length: 10 }, () => db.transaction((tx) => tx.query('select pg_sleep(1.5)')));
    await Promise.all(held);
    expect(await ended).toMatchObject({ status: 'mirrored', created: FEED.length });
    await checkLaws(installation, FEED);
  });
});

describe(`Redis${redis.note}`, () => {
  it.skipIf(!redis.available)(
    'killed in the middle and started again, empty',
    { timeout: 90_000 },
    async ({ open, onTestFinished }) => {
      const installation = await open({ queue: 'redis' });
      const { ended } = await inTheMiddle(installation);
      await installation.redis?.kill();
      const second = await redis.start(installation.redis?.port);
      onTestFinished(() => second.stop());
      expect(await ended).toMatchObject({ status: 'mirrored', created: FEED.length, in_doubt: 0 });
      expect(creates(installation)).toBe(FEED.length);
      await checkLaws(installation, FEED);
      await installation.stopEngine();
    },
  );

  it.skipIf(!redis.available)('emptied in the middle', { timeout: 90_000 }, async ({ open }) => {
    const installation = await open({ queue: 'redis' });
    const { ended } = await inTheMiddle(installation);
    const client = new Redis(installation.redis?.url ?? '');
    await client.flushall();
    client.disconnect();
    expect(await ended).toMatchObject({ status: 'mirrored', created: FEED.length, in_doubt: 0 });
    expect(creates(installation)).toBe(FEED.length);
    await checkLaws(installation, FEED);
  });
});

describe('Postgres', () => {
  it.for(QUEUES)(
    'stopped at once and started again, with the queue in $queue $note',
    { timeout: 120_000 },
    async ({ queue, available }, { open, skip, onTestFinished }) => {
      if (!available) skip();
      const folder = await mkdtemp(join(tmpdir(), 'jobmirror-laws-'));
      await chmod(folder, 0o711);
      const server = await openEmbeddedServer(folder);
      onTestFinished(async () => {
        await server.leave();
        await rm(folder, { recursive: true, force: true });
      });
      const installation = await open({ queue, databaseUrl: server.url() });
      const { ended } = await inTheMiddle(installation);
      process.kill(await postmasterOf(server.url()), 'SIGQUIT');
      await ended;
      await untilBack(server.url());
      await heal(installation);
      await checkLaws(installation, FEED);
      await installation.stopEngine();
    },
  );
});

/** Its members start it again; there is no event for it. */
async function untilBack(url: string): Promise<void> {
  while ((await runSql(url, 'select 1 as one').catch(() => [])).length === 0)
    await new Promise((go) => setTimeout(go, 100));
}

/** The server itself is the parent of its checkpointer. */
async function postmasterOf(url: string): Promise<number> {
  const [row] = await runSql<{ pid: number }>(
    url,
    `select pid from pg_stat_activity where backend_type = 'checkpointer'`,
  );
  return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(row?.pid)], { encoding: 'utf8' }));
}

describe('a change that can not be processed', () => {
  it.for(QUEUES)(
    'ends in review, never in a loop, with the queue in $queue $note',
    { timeout: 90_000 },
    async ({ queue, available }, { open, skip }) => {
      if (!available) skip();
      const installation = await open({
        queue,
        site: { retry: '{ attempts: 2, first_delay_seconds: 0.05, max_delay_seconds: 0.2 }' },
      });
      await installation.sandbox.setFaults([{ name: '401' }]);
      await installation.writeFeed(feedXml([posting('a'), posting('b')]));
      expect(await installation.sync()).toMatchObject({ status: 'pending', pending: 2 });
      const { db } = await installation.books();
      await db.query(`update change set fields = '{"no name of an element": "x"}' where key = 'b'`);
      const report = await heal(installation);
      expect(report).toMatchObject({ status: 'review', pending: 0 });
      expect(report.in_doubt + report.failed).toBe(1);
      expect(await installation.sync()).toMatchObject({ status: 'review', unchanged: 1, requests: 0 });
    },
  );
});
