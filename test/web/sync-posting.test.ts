// The button that syncs one posting, as a browser without scripts sends it: who may press it, what it does, and what is refused.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { postingKey } from '../../src/posting/identifiers.ts';
import { lockFeed } from '../../src/store/locks/feed-locks.ts';
import { pageAddress } from '../../src/web/pages/parts/addresses.ts';
import { acme, openStage, type Stage } from '../review/stage.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { lockWhenFree } from '../support/lock-when-free.ts';
import { type Fields, visitorOf } from './form-visitor.ts';
import { type Served, serve } from './served.ts';

const KEY = postingKey('A/1 &?');
const BUTTON = 'Sync this posting now';

let stage: Stage;
let served: Served;
beforeEach(async () => {
  stage = await openStage();
  served = await serve(stage.mirror, { sends: true });
});
afterEach(async () => {
  await served.close();
  await stage.close();
});

const titles = async () => [...(await stage.mirror.siteJobs()).values()].map(({ title }) => title);
const audited = () => stage.app.db.query('select actor, action, feed, key from audit order by id');

it('sends what the source has changed, and names who asked', async () => {
  await stage.mirror.writeFeed(feedXml([posting(KEY, { title: 'Old' })]));
  await served.api('POST', 'feeds/acme/pulls');
  await expect.poll(titles).toEqual(['Old']);
  await stage.mirror.writeFeed(feedXml([posting(KEY, { title: 'New' })]));
  const anna = await visitorOf(served, 'anna');
  const page = await anna.get(pageAddress.posting(acme, KEY));
  const after = await anna.press(page, BUTTON);
  expect([after.status, after.text]).toEqual([200, expect.stringMatching(/Pull \d+<\/a> reads feed acme/)]);
  await expect.poll(titles).toEqual(['New']);
  expect((await audited()).at(-1)).toEqual({ actor: 'anna', action: 'sync', feed: 'acme', key: KEY });
});

it('leads to the pull for a posting that is new, and follows a pull that runs', { tags: 'slow' }, async () => {
  await stage.mirror.writeFeed(feedXml([posting('other')]));
  const anna = await visitorOf(served, 'anna');
  const search = await anna.get(pageAddress.jobs({ feed: acme, q: 'other' }));
  // The pull begins, but cannot record the posting before the answer.
  const session = await stage.app.db.session();
  await session.query('begin');
  await session.query('lock table change in share mode');
  const after = await anna.press(search, BUTTON);
  expect(after.status).toBe(200);
  expect(after.text).toMatch(/<h1>Pull \d+/);
  await session.end();
  await expect.poll(titles).toHaveLength(1);
  const found = await anna.get(pageAddress.jobs({ q: 'other' }));
  const lock = await lockWhenFree(stage.app.db, acme);
  const queued = await anna.press(found, BUTTON);
  expect(queued.text).toContain('another pull follows');
  await lock.release();
});

it('is done by the next process if this one ends before that', async () => {
  await stage.mirror.writeFeed(feedXml([posting(KEY, { title: 'New' })]));
  const anna = await visitorOf(served, 'anna');
  const lock = await lockFeed(stage.app.db, acme);
  await anna.post('/posting/sync', { feed: 'acme', key: KEY });
  await served.close();
  await lock?.release();
  expect(await stage.app.db.query('select from pull')).toEqual([]);
  served = await serve(stage.mirror, { sends: true });
  await expect.poll(titles).toEqual(['New']);
  await served.close();
  served = await serve(stage.mirror, { sends: true });
  await stage.app.db.query('select pg_sleep(1)');
  expect(await stage.app.db.query('select from pull')).toHaveLength(1);
});

it('is not offered to viewers, nor for a feed that has left the configuration', async () => {
  await stage.pull([posting(KEY)]);
  await stage.acceptAll();
  await stage.app.db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
     select 'former', key, site, 'other', record_hash, content_hash from mapping`,
  );
  await stage.app.db.query(`insert into feed_state (feed, site) values ('former', 'board')`);
  const [ben, anna] = [await visitorOf(served, 'ben'), await visitorOf(served, 'anna')];
  const path = pageAddress.posting(acme, KEY);
  expect((await ben.get(path)).text).not.toContain(BUTTON);
  expect((await ben.get(pageAddress.jobs({ q: KEY }))).text).not.toContain(BUTTON);
  expect((await anna.get(path)).text).toContain(BUTTON);
  expect((await anna.get(pageAddress.jobs({ q: KEY }))).text.split(BUTTON)).toHaveLength(2);
  expect((await anna.get(pageAddress.posting('former', KEY))).text).not.toContain(BUTTON);
  expect((await ben.post('/posting/sync', { feed: 'acme', key: KEY })).status).toBe(403);
  expect((await anna.post('/posting/sync', { feed: 'former', key: KEY })).status).toBe(409);
  expect(await audited()).toEqual([]);
});

const REFUSED: readonly (readonly [Fields, number])[] = [
  [{ feed: 'acme', key: 'x', csrf: '' }, 403],
  [{ feed: 'acme', key: 'x', csrf: 'A'.repeat(43) }, 403],
  [{ feed: 'acme' }, 400],
  [{ key: 'x' }, 400],
  [{ feed: 'acme', key: '' }, 400],
  [{ feed: 'acme', key: ['x', 'y'] }, 400],
  [{ feed: ['acme', 'acme'], key: 'x' }, 400],
  [{ feed: 'acme', key: 'x\0' }, 400],
  [{ feed: 'acme', key: 'x'.repeat(5_000) }, 400],
  [{ feed: 'acme', key: 'x', group: "' or 1=1" }, 400],
  [{ feed: '../acme', key: 'x' }, 404],
  [{ feed: 'nowhere', key: 'x' }, 404],
  [{ feed: '__proto__', key: 'x' }, 404],
];

it('refuses forms that are forged or malformed', async () => {
  const anna = await visitorOf(served, 'anna');
  for (const [fields, status] of REFUSED) {
    const answer = await anna.post('/posting/sync', fields);
    expect([fields, answer.status]).toEqual([fields, status]);
    expect(answer.text).not.toMatch(/node_modules|select .* from/);
  }
  expect(await audited()).toEqual([]);
  expect(await stage.app.db.query('select from pull')).toEqual([]);
});

it('shows no notice that an address made up', { tags: 'slow' }, async () => {
  await stage.pull([posting(KEY)]);
  const anna = await visitorOf(served, 'anna');
  for (const sync of ['0', '-1', 'x', '<b>', '1e9', '9'.repeat(40)]) {
    const answer = await anna.get(`${pageAddress.posting(acme, KEY)}&sync=${encodeURIComponent(sync)}`);
    expect([sync, answer.status]).toEqual([sync, 400]);
  }
});
