// The job of a posting ends after a number of days although the feed still has the posting: through the same guard as every delete, once,
// and durably.
// @module-tag slow
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { summarisePull } from '../../src/store/status/pull-summary.ts';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { listen } from '../support/listen.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

const open = async (feed: MirrorOptions['feed'] = {}, options: MirrorOptions = {}) => {
  mirror = await openMirror({ ...options, feed: { expire_after_days: '30', ...feed } });
};
const db = async () => (await mirror.app()).db;
const has = (list: readonly TestPosting[]) => mirror.writeFeed(feedXml(list));
const live = async () => [...(await mirror.siteJobs()).keys()].sort();
const rows = async () =>
  (await db()).query(
    'select key, expired_at is not null as expired, missing_pulls as missing from posting_expiry order by key',
  );
/** Lets postings have been on the site for a number of days. */
const age = async (days: number, ...keys: string[]) =>
  (await db()).query(`update mapping set mapped_at = now() - make_interval(hours => $1) where key = any($2)`, [
    24 * days,
    keys,
  ]);
const run = async (...args: readonly string[]) => {
  await mirror.stopEngine();
  return runProgram(mirror, ...args);
};

it('deletes the job after the days, keeps it gone while the feed has the posting, and says so', async () => {
  await open();
  await has(postings(10));
  await mirror.sync();
  await age(29, 'p1');
  await age(30, 'p2');
  expect(await mirror.sync()).toMatchObject({
    status: 'mirrored',
    complete: true,
    seen: 10,
    unchanged: 9,
    skipped: 1,
    expired: 1,
    gone: 1,
    deleted: 1,
    requests: 1,
  });
  expect(await live()).toEqual(['p1', 'p10', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9']);
  expect(await rows()).toEqual([{ key: 'p2', expired: true, missing: 0 }]);
  // Nothing changed: nothing is parsed, planned or sent.
  const quiet = { seen: 10, unchanged: 9, skipped: 1, expired: 1, gone: 0, created: 0, requests: 0 };
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', ...quiet });
  // Also not because its record changes.
  await has([posting('p2', { title: 'New title' }), ...postings(10).filter(({ key }) => key !== 'p2')]);
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', ...quiet });
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', ...quiet });

  const why = await run('why', 'acme', 'p2');
  expect(why.out).toMatch(
    /Posting p2 of feed acme expired on .*: its job \d+ had been on the site .* feeds renew acme p2/,
  );
  const [story] = (await run('why', 'acme', 'p2', '--json')).json();
  expect(story).toMatchObject({ site_job: null, renewed_at: null, expired_at: expect.any(String) });
  expect((await run('pulls', 'acme')).out).toContain('1 expired');
  const [planned] = (await run('plan', 'acme', '--json')).json();
  expect(planned).toBeUndefined();
});

it('happens although the source says that nothing has changed', async () => {
  const server = createServer((request, response) => {
    const etag = '"1"';
    if (request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end();
    return response.writeHead(200, { etag, 'content-type': 'application/xml' }).end(feedXml(postings(3)));
  });
  const port = await listen(server);
  await open({ source: `http://127.0.0.1:${port}/feed.xml` });
  await mirror.sync();
  expect(await mirror.sync()).toMatchObject({ status: 'not_modified' });
  await age(31, 'p3');
  expect(await mirror.sync()).toMatchObject({ expired: 1, deleted: 1 });
  expect(await live()).toEqual(['p1', 'p2']);
  expect(await mirror.sync()).toMatchObject({
    status: 'not_modified',
    expired: 1,
    skipped: 1,
    unchanged: 2,
    requests: 0,
  });
  server.close();
});

describe('many at once, as when the setting is new', () => {
  const many = Array.from({ length: 7 }, (_, at) => `p${at + 1}`);

  it('are held, and go with the approval', async () => {
    await open();
    await has(postings(14));
    await mirror.sync();
    await age(40, ...many);
    const held = await mirror.sync();
    expect(held).toMatchObject({ status: 'review', held: 7, deleted: 0, expired: 7, gone: 7 });
    expect(held.message).toMatch(/all of the new deletes are of postings that have expired/);
    expect(await mirror.sync()).toMatchObject({ held: 7, deleted: 0, expired: 7, gone: 7, requests: 0 });
    expect(await live()).toHaveLength(14);
    expect((await run('review', 'approve', 'acme', '--count', '7')).status).toBe(0);
    expect(await mirror.sync()).toMatchObject({ held: 0, expired: 7 });
    expect(await live()).toHaveLength(7);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', expired: 7, gone: 0, created: 0, requests: 0 });
  });

  it('keep their jobs, up to date if a person renews them, and as they are if a person discards the deletes', async () => {
    await open();
    await has(postings(7));
    await mirror.sync();
    await age(40, ...many);
    const { pull } = await mirror.sync();
    expect((await run('feeds', 'renew', 'acme', ...many)).status).toBe(0);
    // The next pull may be hours away: until then, no delete is left to be approved or sent.
    expect(await (await db()).query('select from change')).toEqual([]);
    expect((await summarisePull(await db(), pull ?? 0)).summary).toMatchObject({ gone: 0, held: 0 });
    await has(postings(7).map((each) => ({ ...each, title: 'Changed' })));
    expect(await mirror.sync()).toMatchObject({ held: 0, expired: 0, gone: 0, updated: 7, unchanged: 0 });
    expect(await live()).toHaveLength(7);

    await (await db()).query(`update posting_expiry set renewed_at = renewed_at - interval '40 days'`);
    await age(40, ...many);
    expect(await mirror.sync()).toMatchObject({ held: 7, deleted: 0 });
    expect((await run('review', 'discard', 'acme', '--kind', 'held', '--yes')).status).toBe(0);
    await has(postings(7).map((each) => ({ ...each, title: 'Changed again' })));
    expect(await mirror.sync()).toMatchObject({ kept: 7, held: 0, expired: 7, gone: 7, updated: 0, requests: 0 });
    expect(await live()).toHaveLength(7);
  });

  it('stay kept, as a person decided, although the record of one cannot be read for a while', async () => {
    await open();
    await has(postings(7));
    await mirror.sync();
    await age(40, ...many);
    expect(await mirror.sync()).toMatchObject({ held: 7 });
    expect((await run('review', 'discard', 'acme', '--kind', 'held', '--yes')).status).toBe(0);
    const broken = feedXml(postings(7)).replace('Nurse p1]]>', 'Nurse p1');
    await mirror.writeFeed(broken);
    expect(await mirror.sync()).toMatchObject({ status: 'incomplete', unreadable: 1, expired: 6 });
    expect((await run('review', 'discard', 'acme', '--kind', 'unreadable', '--yes')).status).toBe(0);
    expect(await mirror.sync()).toMatchObject({ complete: true, unreadable: 1, expired: 6, gone: 7, kept: 7 });
    await has(postings(7));
    expect(await mirror.sync()).toMatchObject({ expired: 7, gone: 7, kept: 7, deleted: 0 });
    expect(await live()).toHaveLength(7);
  });

  it('an only posting that expires is no emptied feed', async () => {
    await open();
    await has(postings(1));
    await mirror.sync();
    await age(40, 'p1');
    expect(await mirror.sync()).toMatchObject({ expired: 1, deleted: 1, held: 0 });
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', expired: 1, held: 0, gone: 0 });
  });
});

describe('coming back', () => {
  async function expired(feed?: MirrorOptions['feed']) {
    await open(feed);
    await has(postings(3));
    await mirror.sync();
    await age(30, 'p1');
    await mirror.sync();
    expect(await live()).toEqual(['p2', 'p3']);
  }

  it('a posting that left the feed and returns is a new one', async () => {
    await expired();
    await has(postings(3).slice(1));
    expect(await mirror.sync()).toMatchObject({ seen: 2, expired: 0, skipped: 0, gone: 0 });
    expect(await rows()).toEqual([]);
    await has(postings(3));
    expect(await mirror.sync()).toMatchObject({ created: 1, expired: 0 });
    expect(await live()).toEqual(['p1', 'p2', 'p3']);
  });

  it('but not one that is missing only within its grace', async () => {
    await expired({ delete_guard: '{ missing_pulls: 3 }' });
    await has(postings(3).slice(1));
    await mirror.sync();
    await mirror.sync();
    expect(await rows()).toEqual([{ key: 'p1', expired: true, missing: 2 }]);
    await has(postings(3));
    expect(await mirror.sync()).toMatchObject({ created: 0, expired: 1 });
    expect(await rows()).toEqual([{ key: 'p1', expired: true, missing: 0 }]);
  });

  it('an incomplete pull forgets nothing, and deletes nothing; without the setting, all get jobs again', async () => {
    await expired({ expect: '{ min_records: 3 }' });
    await age(30, 'p2');
    await has(postings(3).slice(1, 2));
    expect(await mirror.sync()).toMatchObject({ complete: false, seen: 1, expired: 1, deleted: 0, gone: 0 });
    expect(await live()).toEqual(['p2', 'p3']);
    await has(postings(3));
    expect(await mirror.sync()).toMatchObject({ complete: true, created: 0, expired: 2, deleted: 1 });
    expect(await live()).toEqual(['p3']);
    await mirror.configure(/ *expire_after_days.*\n/, '');
    expect(await mirror.sync()).toMatchObject({ created: 2, skipped: 0, expired: 0 });
    expect(await rows()).toEqual([]);
    expect(await live()).toEqual(['p1', 'p2', 'p3']);
  });

  it('a person renews it: it gets a new job, for as many days; a mistake in renewing changes nothing', async () => {
    await expired();
    const unknown = await run('feeds', 'renew', 'acme', 'p1', 'nobody');
    expect(unknown.status).toBe(1);
    expect(unknown.errors).toContain(
      '1 posting of feed acme neither have a job nor have expired: nobody. Nothing was changed',
    );
    expect(await rows()).toEqual([{ key: 'p1', expired: true, missing: 0 }]);
    const renewed = await run('feeds', 'renew', 'acme', 'p1', '--as', 'anna');
    expect(renewed.out).toContain('The days of 1 posting begin anew.');
    expect(await mirror.sync()).toMatchObject({ created: 1, expired: 0 });
    expect(await mirror.sync()).toMatchObject({ created: 0, unchanged: 3 });
    expect((await run('why', 'acme', 'p1')).out).toMatch(/began anew on .*renew by anna/s);
    await age(29, 'p1');
    expect(await mirror.sync()).toMatchObject({ unchanged: 3 });
    await (await db()).query(`update posting_expiry set renewed_at = renewed_at - interval '31 days'`);
    await age(30, 'p1');
    expect(await mirror.sync()).toMatchObject({ expired: 1, deleted: 1 });
    expect(await mirror.sync()).toMatchObject({ expired: 1, created: 0, requests: 0 });
  });

  it('an undo of the pull creates the jobs again, and their days begin anew', async () => {
    await expired();
    const [{ id }] = (await (await db()).query('select max(id) as id from pull')) as [{ id: number }];
    expect((await run('undo', String(id), '--yes')).status).toBe(0);
    expect(await live()).toEqual(['p1', 'p2', 'p3']);
    expect((await run('feeds', 'resume', 'acme')).status).toBe(0);
    expect(await mirror.sync()).toMatchObject({ created: 0, deleted: 0, expired: 0 });
    expect(await live()).toEqual(['p1', 'p2', 'p3']);
  });
});

it('a change that the site refused does not keep the job; an unreadable record without a key holds the delete until it can be read', async () => {
  await open();
  await has(postings(4));
  await mirror.sync();
  const changed = [posting('p1', { state: 'Nowhere' }), ...postings(4).slice(1)];
  await has(changed);
  expect(await mirror.sync()).toMatchObject({ rejected: 1 });
  await age(30, 'p1');
  await mirror.writeFeed(feedXml(changed).replace('</source>', '<job><title>No key</title></job></source>'));
  expect(await mirror.sync()).toMatchObject({ unreadable: 1, expired: 1, deleted: 0 });
  expect(await live()).toHaveLength(4);
  await has(changed);
  const counts = { seen: 4, unchanged: 3, rejected: 0, expired: 1, held: 0, deleted: 1 };
  expect(await mirror.sync()).toMatchObject(counts);
  expect(await live()).toEqual(['p2', 'p3', 'p4']);
  expect(await mirror.sync()).toMatchObject({ rejected: 0, expired: 1, review: 0, requests: 0 });
});

it('each place of a posting expires by itself', async () => {
  const fields = ['Ohio', 'Texas', 'Utah'];
  const format =
    `{ type: json, records: jobs, key: id, fields: { number: id, title: title, description: text, category-name: { value: Health },
    contact-web-address: url, location-city: places/city, location-state: places/state } }`.replaceAll('\n', '');
  await open({ source: 'feed.json', format, places: '{ path: places, use: each }' });
  const record = (id: string) => ({
    ...{ id, title: `Nurse ${id}`, text: '<p>Work</p>', url: `https://jobs.example.com/${id}` },
    places: fields.map((state) => ({ city: `City of ${state}`, state })),
  });
  await writeFile(`${mirror.folder}/feed.json`, JSON.stringify({ jobs: [record('a'), record('b')] }));
  expect(await mirror.sync()).toMatchObject({ created: 6 });
  await (await db()).query(
    `update mapping set mapped_at = now() - interval '720 hours' where key like 'a%' and key ilike '%texas%'`,
  );
  expect(await mirror.sync()).toMatchObject({ seen: 6, unchanged: 5, expired: 1, deleted: 1 });
  expect(await mirror.sync()).toMatchObject({ seen: 6, unchanged: 5, expired: 1, gone: 0, created: 0, requests: 0 });
  expect(await mirror.sandbox.inspect.count()).toBe(5);
  await (await db()).query(`update mapping set mapped_at = now() - interval '720 hours' where key like 'a%'`);
  expect(await mirror.sync()).toMatchObject({ seen: 6, unchanged: 3, expired: 3, deleted: 2 });
  expect(await mirror.sync()).toMatchObject({ seen: 6, unchanged: 3, expired: 3, gone: 0, created: 0, requests: 0 });
});

it('is refused with a policy that deletes nothing', async () => {
  await open({ policy: 'upsert_only' });
  for (const policy of ['upsert_only', 'create_only']) {
    await mirror.configure(/policy: \w+/, `policy: ${policy}`);
    const check = await runProgram(mirror, 'check');
    expect(check.status).toBe(1);
    expect(check.out + check.errors).toMatch(
      /expire_after_days: deletes jobs, which a policy other than mirror forbids/,
    );
  }
});
