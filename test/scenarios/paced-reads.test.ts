// What is read to settle doubts, and what is deleted as surplus, keeps to the site's rate, too.
import { afterEach, expect, it } from 'vitest';
import { openSite, type ScriptedSite } from '../site/scripted-site.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
let site: ScriptedSite;
afterEach(async () => {
  await mirror.close();
  await site[Symbol.asyncDispose]();
});

/** 20 a second: a turn each 50 ms, one of them ahead; a clock and timers of whole milliseconds may be a little early. */
const LIMITS = '{ requests_per_second: 20, concurrency: 4, timeout_seconds: 0.5 }';
const leastMs = (turns: number) => (turns - 2) * 50 - 10;

it('the pages of a list', async () => {
  const readAt: number[] = [];
  site = await openSite(({ method, url }) => {
    if (method === 'POST') return [500];
    readAt.push(performance.now());
    const page = Number(new URL(url, 'http://site.test').searchParams.get('page') ?? 1);
    return [
      200,
      {},
      `<jobs page="${page}" total-pages="12"><job><id>${page}</id><number>n${page}</number></job></jobs>`,
    ];
  });
  mirror = await openMirror({
    site: { base_url: site.url.href, limits: LIMITS, doubts: '{ settle_after_seconds: 0.6, looks: 1 }' },
  });
  await mirror.writeFeed(feedXml([posting('a')]));
  await mirror.sync();
  await expect.poll(() => readAt.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(12);
  expect((readAt[11] ?? 0) - (readAt[0] ?? 0)).toBeGreaterThan(leastMs(12));
});

it('surplus jobs', async () => {
  const deletedAt: number[] = [];
  site = await openSite(() => {
    deletedAt.push(performance.now());
    return [204];
  });
  mirror = await openMirror({ site: { base_url: site.url.href, limits: LIMITS, list_path: undefined } });
  const { db } = await mirror.books();
  await db.query(
    `insert into stray (site, site_job_id, feed, key) select 'board', n, 'acme', n from generate_series(1, 12) n`,
  );
  await mirror.engine();
  await expect.poll(() => deletedAt.length, { timeout: 10_000 }).toBe(12);
  expect((deletedAt[11] ?? 0) - (deletedAt[0] ?? 0)).toBeGreaterThan(leastMs(12));
});
