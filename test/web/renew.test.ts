// The days of a posting begin anew, as somebody says on its page or through the API: with the roles, the audit and the refusals of
// `feeds renew`.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { lockFeed } from '../../src/store/locks/feed-locks.ts';
import { postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { visitorOf } from './form-visitor.ts';
import { type Served, serve } from './served.ts';

let mirror: Mirror;
let served: Served;
const open = async (feed: Record<string, string>) => {
  mirror = await openMirror({ feed });
  served = await serve(mirror, { sends: true, requestsPerMinute: 100_000 });
};
beforeEach(() => open({ expire_after_days: '30' }));
afterEach(async () => {
  await served.close();
  await mirror.close();
});

const renew = (key: string, as: 'reader' | 'puller' | 'reviewer' = 'reviewer') =>
  served.api('POST', `feeds/acme/postings/${key}/renew`, undefined, { as });
const audited = () => served.app.db.query(`select actor, key from audit where action = 'renew' order by id`);

/** p1 expires, p2 is about to. */
async function expire() {
  await mirror.syncOf(postings(10));
  await served.app.db.query(`update mapping set mapped_at = now() - interval '31 days' where key = 'p1'`);
  expect(await mirror.sync()).toMatchObject({ expired: 1, deleted: 1 });
  await served.app.db.query(`update mapping set mapped_at = now() - interval '31 days' where key = 'p2'`);
}

it('lets an expired posting have a job again, and a job live for longer', async () => {
  await expire();
  expect([(await renew('p1', 'puller')).status, (await renew('p1', 'reader')).status, await audited()]).toEqual([
    403,
    403,
    [],
  ]);
  const ben = await visitorOf(served, 'ben');
  expect((await ben.get('/posting?feed=acme&key=p1')).text).not.toContain('Start its days anew');
  expect((await ben.post('/posting/renew', { feed: 'acme', key: 'p1' })).status).toBe(403);

  expect(await renew('p1')).toMatchObject({ status: 200, body: { feed: 'acme', key: 'p1' } });
  const anna = await visitorOf(served, 'anna');
  expect((await anna.post('/posting/renew', { feed: 'acme', key: 'p2', csrf: 'other' })).status).toBe(403);
  const page = await anna.get('/posting?feed=acme&key=p2');
  expect(page.text).toContain('The job ends after the number of days');
  const after = await anna.press(page, 'Start its days anew');
  expect([after.status, after.text.includes('Its days on the site began anew on')]).toEqual([200, true]);
  expect(await audited()).toEqual([
    { actor: 'token reviewer', key: 'p1' },
    { actor: 'anna', key: 'p2' },
  ]);
  await expect.poll(async () => (await mirror.siteJobs()).has('p1')).toBe(true);
  await expect.poll(() => mirror.sync().then(({ gone, unchanged }) => [gone, unchanged])).toEqual([0, 10]);
  expect((await mirror.siteJobs()).size).toBe(10);
});

it('is refused for other postings, while the feed is pulled, and if postings do not end', {
  tags: 'slow',
}, async () => {
  await expire();
  const anna = await visitorOf(served, 'anna');
  expect(await renew('p99')).toMatchObject({ status: 409, body: { detail: expect.stringContaining('p99') } });
  const lock = await lockFeed(served.app.db, feedName('acme'));
  expect(await renew('p2')).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('is being pulled right now') },
  });
  const refused = await anna.press(await anna.get('/posting?feed=acme&key=p2'), 'Start its days anew');
  expect([refused.status, refused.text.includes('Its days were not started anew: feed acme is being pulled')]).toEqual([
    409,
    true,
  ]);
  await lock?.release();
  await served.close();
  await mirror.close();
  await open({});
  await mirror.syncOf(postings(1));
  expect(await renew('p1')).toMatchObject({ status: 409, body: { detail: expect.stringContaining('do not expire') } });
  const plain = await (await visitorOf(served, 'anna')).get('/posting?feed=acme&key=p1');
  expect(plain.text).not.toContain('Start its days anew');
  expect(await audited()).toEqual([]);
});

it('no form decides what it does not name: which edits to undo, or which undo has stopped the feed', async () => {
  const anna = await visitorOf(served, 'anna');
  const forms: readonly (readonly [string, Record<string, string>])[] = [
    ['/posting/undo-edit', { feed: 'acme', key: 'p1', version: 'x' }],
    ['/posting/undo-edit', { feed: 'acme', key: 'p1', fields: 'title', version: '' }],
    ['/feed/resume', { feed: 'acme', undo: '' }],
  ];
  for (const [address, fields] of forms) {
    const answer = await anna.post(address, fields);
    expect([answer.status, answer.text], address).toEqual([400, expect.stringContaining('is missing')]);
  }
});
