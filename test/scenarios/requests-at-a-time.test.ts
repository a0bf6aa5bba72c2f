// The requests in flight to a site: never more than configured, and no new one once the process is told to stop.
import type { ServerResponse } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import { siteName } from '../../src/posting/identifiers.ts';
import { openSiteQueue } from '../../src/queue/site-queue.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { openSite, type ScriptedSite } from '../site/scripted-site.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
let site: ScriptedSite;
afterEach(async () => {
  await mirror.close();
  await site[Symbol.asyncDispose]();
});

const LIMITS = '{ requests_per_second: 5000, concurrency: 2, timeout_seconds: 20 }';

/** A site that responds only when `answer` is called; `open` holds the requests that wait for a response. */
async function openSlowSite(): Promise<{ open: ServerResponse[]; answer: () => void }> {
  const open: ServerResponse[] = [];
  let made = 0;
  site = await openSite((got, response) => {
    // Whether the site shows a new job is asked beside the creates.
    if (got.method !== 'POST') return [404, {}, ''];
    open.push(response);
    return undefined;
  });
  return {
    open,
    answer: () =>
      open
        .shift()
        ?.writeHead(201, { location: `/jobs/${++made}.xml` })
        .end(),
  };
}

const creates = () => site.got.filter(({ method }) => method === 'POST').length;

it('are as many as configured, although the next changes are ready while outcomes are recorded', async () => {
  const { open, answer } = await openSlowSite();
  mirror = await openMirror({ site: { base_url: site.url.href, limits: LIMITS } });
  await mirror.writeFeed(feedXml(postings(30)));
  const report = mirror.sync();
  const seen: number[] = [];
  while (creates() < 30 || open.length > 0) {
    await expect.poll(() => open.length).toBeGreaterThan(0);
    seen.push(open.length);
    answer();
  }
  expect(await report).toMatchObject({ status: 'mirrored', created: 30 });
  expect(Math.max(...seen)).toBe(2);
});

it('get no new one once the process stops: changes without a slot are left to the next process', async () => {
  const { open, answer } = await openSlowSite();
  mirror = await openMirror({ site: { base_url: site.url.href, limits: LIMITS } });
  await mirror.writeFeed(feedXml(postings(10)));
  const { db, log, config } = await mirror.app();
  const [setup] = feedSetups(config, ['acme']);
  if (setup === undefined) throw new Error('the configuration has no feed acme');
  await pullFeed(setup, { db, log, signal: new AbortController().signal });
  const engine = await mirror.engine();
  const queue = await openSiteQueue(engine.backend, siteName('board'));
  engine.wake();
  // A batch of eight: two are in flight, the others wait for a slot.
  await expect.poll(async () => (await queue.counts()).active).toBe(1);
  await expect.poll(() => open.length).toBe(2);
  await queue.close();
  const stopped = mirror.stopEngine();
  await new Promise(setImmediate);
  answer();
  answer();
  await stopped;
  expect(creates()).toBe(2);
  const reopened = await mirror.app();
  expect(await reopened.db.query('select state, count(*) as n from change group by 1')).toEqual([
    { state: 'ready', n: 8 },
  ]);
});
