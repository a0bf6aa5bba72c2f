// A site that accepts fewer requests than configured: it is mirrored at its own rate, and throttling fails no posting.
// @module-tag slow
import { describe, expect } from 'vitest';
import { readStatus } from '../../src/operations/status.ts';
import { siteName } from '../../src/posting/identifiers.ts';
import { startEngine } from '../../src/runtime/engine.ts';
import { assessRunning } from '../../src/runtime/read-health.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { readSiteState, takeSiteSlot, throttleSite } from '../../src/store/site/site-state.ts';
import type { Got, Reply } from '../site/scripted-site.ts';
import { endsTest as it, type OpenAt } from '../support/ends-test.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';

const CONFIGURED = 40;
const LIMITS = `{ requests_per_second: ${CONFIGURED}, concurrency: 4, timeout_seconds: 30 }`;

/** Accepts one request per `everyMs`, rejects the posting `p2`, and answers everything else with `throttled`. */
async function openThrottling(
  openAt: OpenAt,
  everyMs: number,
  throttled: (refusals: number) => readonly [number, Record<string, string>?],
) {
  let made = 0;
  let free = 0;
  let times = 0;
  let refusedAt = Number.NEGATIVE_INFINITY;
  /** Those within half a second count once: a process that stood still sends several requests at the same moment. */
  let refusals = 0;
  const answer = ({ method, body }: Got): Reply => {
    if (method === 'GET') return [404];
    const now = performance.now();
    if (now < free) {
      if (now - refusedAt > 500) refusals++;
      refusedAt = now;
      return throttled(++times);
    }
    free = now + everyMs;
    if (body.includes('<number>p2<')) return [422, {}, '<errors><error>Title is too short</error></errors>'];
    return [201, { location: `/jobs/${++made}` }];
  };
  const { mirror } = await openAt(answer, {
    site: { list_path: undefined, limits: LIMITS, doubts: '{ resolve_after_seconds: 31 }' },
  });
  const state = async () => readSiteState((await mirror.app()).db, siteName('board'));
  return {
    mirror,
    refusals: () => refusals,
    state,
    learnt: async () => (await state()).learntRate,
    /** What fails, as `status` and `/healthz` say. */
    async failing(): Promise<readonly string[][]> {
      const app = await mirror.app();
      const { check } = await readStatus(app);
      const { failing } = await assessRunning(app, [], 1, undefined);
      return [check.failing.map(({ condition }) => condition), failing.map(({ kind }) => kind)];
    },
  };
}

const grow = async (db: Database, ageSeconds: number) => {
  await db.query(
    `update site_state set rate_turns = 5, rate_changed_at = now() - interval '31 seconds',
       throttled_at = now() - make_interval(secs => $1), next_turn = '-infinity'`,
    [ageSeconds],
  );
  await takeSiteSlot(db, siteName('board'), CONFIGURED, 2_000);
};

describe('a site that asks to wait', { concurrent: true }, () => {
  it('with 429 is mirrored at the rate that it accepts, even with one real rejection', {
    timeout: 180_000,
  }, async ({ openAt }) => {
    const { mirror, refusals, state, learnt } = await openThrottling(openAt, 100, () => [429, { 'retry-after': '1' }]);
    await mirror.writeFeed(feedXml(postings(40)));
    expect(await mirror.sync()).toMatchObject({ status: 'review', created: 39, rejected: 1, failed: 0, pending: 0 });
    expect((await state()).pausedSince).toBeUndefined();
    expect(await learnt()).toBeLessThanOrEqual(CONFIGURED / 2);
    expect(refusals()).toBeLessThan(15);
  });

  it('teaches all processes that send to it', { timeout: 180_000 }, async ({ openAt }) => {
    const { mirror, refusals } = await openThrottling(openAt, 100, () => [429, { 'retry-after': '1' }]);
    await mirror.writeFeed(feedXml(postings(40)));
    const others = [await startEngine(await mirror.app(), undefined), await startEngine(await mirror.app(), undefined)];
    expect(await mirror.sync()).toMatchObject({ created: 39, rejected: 1, failed: 0, pending: 0 });
    expect(refusals()).toBeLessThan(25);
    await Promise.all(others.map((engine) => engine.stop(5_000)));
  });

  it('repeatedly, without saying how long, makes no change fail', { timeout: 180_000 }, async ({ openAt }) => {
    const { mirror } = await openThrottling(openAt, 100, (times) =>
      times % 2 === 0 ? [429] : [503, { 'retry-after': '0' }],
    );
    await mirror.writeFeed(feedXml(postings(20)));
    expect(await mirror.sync()).toMatchObject({ created: 19, rejected: 1, failed: 0, pending: 0, in_doubt: 0 });
  });

  it('with 429 before it gives a page of its list teaches the rate of all requests', async ({ openAt }) => {
    let refused = 0;
    const { mirror } = await openAt(
      ({ method, url }) => {
        if (method !== 'GET') return [201, { location: '/jobs/9' }];
        const number = Number(new URL(url, 'http://a').searchParams.get('page') ?? 1);
        if (number === 2 && refused++ === 0) return [429, { 'retry-after': '0' }];
        return [200, {}, `<jobs page="${number}" total-pages="2"><job><id>${number}</id></job></jobs>`];
      },
      { site: { limits: LIMITS, doubts: '{ resolve_after_seconds: 31 }' }, searched: true },
    );
    await mirror.syncOf(postings(1));
    const { learntRate, askedToWaitMsAgo } = await readSiteState((await mirror.app()).db, siteName('board'));
    expect([refused > 1, askedToWaitMsAgo]).toEqual([true, expect.any(Number)]);
    expect(learntRate).toBeLessThanOrEqual(CONFIGURED / 2);
  });

  it('is reported if it has done nothing else for an hour', async ({ openAt }) => {
    const { mirror, failing } = await openThrottling(openAt, Number.POSITIVE_INFINITY, () => [
      429,
      { 'retry-after': '3600' },
    ]);
    expect(await mirror.syncOf(postings(3))).toMatchObject({ pending: 2 });
    const { db } = await mirror.app();
    expect(await failing()).toEqual([[], []]);
    /** Instead of waiting. */
    const passing = () =>
      db.query(`with requests as (update request set at = at - interval '1 hour')
        update site_state set throttled_at = throttled_at - interval '1 hour', not_before = '-infinity'`);
    await passing();
    await db.query(`update change set not_before = '-infinity'`);
    expect(await mirror.sync()).toMatchObject({ created: 0, pending: 2 });
    expect(await failing()).toEqual([['out_of_reach'], ['out_of_reach']]);
    await passing();
    await db.query(
      `update request set outcome = 'rejected' where at > now() - interval '90 minutes' and outcome = 'throttled'`,
    );
    expect(await failing()).toEqual([[], []]);
  });

  it('is not slowed down twice by requests that were in flight together', async ({ openAt }) => {
    const { mirror, learnt } = await openThrottling(openAt, 100, () => [429]);
    const { db } = await mirror.app();
    const board = siteName('board');
    const throttled = async (sentMsAgo: number, requestsPerSecond = CONFIGURED) => {
      await throttleSite(db, board, { status: 429, waitMs: 0, sentMsAgo, requestsPerSecond });
      return learnt();
    };
    /** Instead of waiting. */
    const passing = () => db.query(`update site_state set rate_changed_at = rate_changed_at - interval '2 seconds'`);
    // Sent long before, however long these statements take.
    expect(await throttled(60_000)).toBe(CONFIGURED / 2);
    expect(await throttled(60_000)).toBe(CONFIGURED / 2);
    await passing();
    expect(await throttled(60_000)).toBe(CONFIGURED / 2);
    expect(await throttled(0)).toBe(CONFIGURED / 4);
    await passing();
    expect(await throttled(0, 2)).toBe(1);
  });

  it('gets requests although the clock of the database was ahead', async ({ openAt }) => {
    const { mirror } = await openThrottling(openAt, 100, () => [429]);
    const { db } = await mirror.app();
    const board = siteName('board');
    await throttleSite(db, board, { status: 429, waitMs: 0, sentMsAgo: 0, requestsPerSecond: CONFIGURED });
    await db.query(`update site_state set next_turn = now() + interval '400 days'`);
    expect(await takeSiteSlot(db, board, CONFIGURED, 2_000)).toMatchObject({ given: true });
  });

  it('gets the configured rate back, step by step, once it stops asking', async ({ openAt }) => {
    const { mirror, learnt } = await openThrottling(openAt, 100, () => [429]);
    const { db } = await mirror.app();
    const board = siteName('board');
    await throttleSite(db, board, { status: 429, waitMs: 0, sentMsAgo: 0, requestsPerSecond: CONFIGURED });
    await grow(db, 60);
    expect(await learnt()).toBeCloseTo(22);
    await grow(db, 400);
    expect(await learnt()).toBeCloseTo(33);
    await grow(db, 400);
    expect(await learnt()).toBeUndefined();
    expect(await takeSiteSlot(db, board, CONFIGURED, 2_000)).toBeUndefined();
  });
});
