// Reads that resolve doubts, and deletes of orphan site jobs, obey the site's rate limit too.
// @module-tag slow
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSite, type ScriptedSite } from '../site/scripted-site.ts';
import { posting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
let site: ScriptedSite;
/** Times at which requests were sent, by method. Arrival times prove less: the first request may be delayed on its way. */
let leftAt: { readonly method: string; readonly at: number }[] = [];
const noteRequest = (message: unknown): void => {
  const { request } = message as { request: { method: string } };
  leftAt.push({ method: request.method, at: performance.now() });
};
/** Lists are read with Node's own client. */
const CHANNELS = ['undici:request:create', 'http.client.request.start'];
beforeEach(() => {
  leftAt = [];
  for (const channel of CHANNELS) subscribe(channel, noteRequest);
});
afterEach(async () => {
  for (const channel of CHANNELS) unsubscribe(channel, noteRequest);
  await mirror.close();
  await site[Symbol.asyncDispose]();
});

/** 20 a second: a slot every 50 ms, and one in advance. */
const limits = (timeoutSeconds: number) =>
  `{ requests_per_second: 20, concurrency: 4, timeout_seconds: ${timeoutSeconds} }`;
const SLOT_MS = 50;
const timesOf = (method: string) => leftAt.filter((request) => request.method === method).map(({ at }) => at);

/**
 * By how many milliseconds the twelfth request left later than the limit demands. A request may leave some time after its slot,
 * so the one of the first six counts that had left with the least delay.
 */
function marginOfTwelve(method: string): number {
  const times = timesOf(method);
  const last = times[11] ?? 0;
  return Math.max(...times.slice(0, 6).map((at, index) => last - at - (11 - index - 1) * SLOT_MS));
}
/** Clock and timers have whole milliseconds and may be a little early. */
const EARLY_MS = -10;

it('the pages of a list', async () => {
  site = await openSite(({ method, url }) => {
    if (method === 'POST') return [500];
    const page = Number(new URL(url, 'http://site.test').searchParams.get('page') ?? 1);
    return [
      200,
      {},
      `<jobs page="${page}" total-pages="12"><job><id>${page}</id><number>n${page}</number></job></jobs>`,
    ];
  });
  mirror = await openMirror({
    site: { base_url: site.url.href, limits: limits(1.5), doubts: '{ resolve_after_seconds: 1.6, list_checks: 1 }' },
  });
  await mirror.syncOf([posting('a')]);
  await expect.poll(() => timesOf('GET').length).toBeGreaterThanOrEqual(12);
  expect(marginOfTwelve('GET')).toBeGreaterThan(EARLY_MS);
});

it('orphan site jobs', async () => {
  site = await openSite(() => [204]);
  mirror = await openMirror({ site: { base_url: site.url.href, limits: limits(30), list_path: undefined } });
  await mirror.query(
    `insert into orphan_site_job (site, site_job_id, feed, key) select 'board', n, 'acme', n from generate_series(1, 12) n`,
  );
  await mirror.engine();
  await expect.poll(() => timesOf('DELETE').length).toBe(12);
  expect(marginOfTwelve('DELETE')).toBeGreaterThan(EARLY_MS);
});
