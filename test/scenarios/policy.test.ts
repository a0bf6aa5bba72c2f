// The policy of a feed: which jobs it may update and delete, and what a change of the policy does to what waits.

import { createServer } from 'node:http';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import type { FeedPolicy } from '../../src/plan/policy.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { listen } from '../support/listen.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

/** The same installation, with another policy from the next pull on. */
async function setPolicy(policy: FeedPolicy): Promise<void> {
  await mirror.configure(/^ {4}policy: .*$/m, `    policy: ${policy}`);
}

const changed = (key: string) => posting(key, { title: `Changed ${key}` });
const titles = async () =>
  Object.fromEntries([...(await mirror.siteJobs())].map(([key, { title }]) => [key, title]).sort());
const changes = () => mirror.sandbox.requests.recent().filter(({ method }) => method !== 'GET').length;

it('upsert_only updates jobs and deletes none; back at mirror, what is missing goes through the guard', async () => {
  mirror = await openMirror({ feed: { policy: 'upsert_only' } });
  expect(await mirror.syncOf(postings(6))).toMatchObject({ created: 6 });
  const without = [changed('p1'), ...postings(5).slice(1)];
  expect(await mirror.syncOf(without)).toMatchObject({
    status: 'mirrored',
    updated: 1,
    gone: 1,
    grace: 1,
    deleted: 0,
    held: 0,
  });
  // However many are missing, and however often; a feed that arrives empty as well.
  expect(await mirror.syncOf([])).toMatchObject({ gone: 6, grace: 6, held: 0, deleted: 0 });
  expect(await mirror.syncOf([])).toMatchObject({ gone: 6, grace: 6 });
  expect(await mirror.sandbox.inspect.count()).toBe(6);
  await mirror.query('update mapping set missing_pulls = 32766');
  expect(await mirror.syncOf([])).toMatchObject({ gone: 6, grace: 6 });
  // What comes back is the same job.
  mirror.sandbox.requests.clear();
  expect(await mirror.syncOf(without)).toMatchObject({ unchanged: 5, gone: 1, grace: 1 });
  expect(changes()).toBe(0);
  await setPolicy('mirror');
  expect(await mirror.syncOf(without)).toMatchObject({ gone: 1, deleted: 1 });
  expect(await mirror.syncOf([])).toMatchObject({ gone: 5, held: 5, deleted: 0 });
  // Held deletes are withdrawn, and what a person approves is deleted.
  await setPolicy('upsert_only');
  expect(await mirror.syncOf([])).toMatchObject({ gone: 5, held: 0, grace: 5 });
  await mirror.stopEngine();
  expect((await runProgram(mirror, 'review', 'list', '--json')).json()).toEqual([]);
  expect(await mirror.sandbox.inspect.count()).toBe(5);
});

it('create_only changes no job; back at mirror, every difference is sent', { tags: 'slow' }, async () => {
  mirror = await openMirror({ feed: { policy: 'create_only' } });
  expect(await mirror.syncOf(postings(4))).toMatchObject({ created: 4 });
  const later = [changed('p1'), posting('p2', { state: 'Jalisco' }), posting('p3'), posting('p5')];
  expect(await mirror.syncOf(later)).toMatchObject({
    status: 'mirrored',
    created: 1,
    unchanged: 3,
    updated: 0,
    rejected: 0,
    gone: 1,
    grace: 1,
  });
  expect(await mirror.syncOf(later)).toMatchObject({ created: 0, unchanged: 4, gone: 1 });
  expect(await titles()).toMatchObject({ p1: 'Nurse p1', p4: 'Nurse p4' });
  await setPolicy('upsert_only');
  expect(await mirror.syncOf(later)).toMatchObject({ updated: 1, rejected: 1, unchanged: 2, grace: 1 });
  await setPolicy('mirror');
  expect(await mirror.syncOf(later)).toMatchObject({ rejected: 1, unchanged: 3, gone: 1, deleted: 1 });
  expect(await titles()).toEqual({ p1: 'Changed p1', p2: 'Nurse p2', p3: 'Nurse p3', p5: 'Nurse p5' });
});

it.each(['rejected', 'in doubt'])(
  'create_only keeps an update or create that is %s when the policy changes',
  { tags: 'slow' },
  async (state) => {
    mirror = await openMirror({ feed: { policy: 'mirror' } });
    expect(await mirror.syncOf(postings(2))).toMatchObject({ created: 2 });
    const doubtful = state === 'in doubt';
    if (doubtful) await mirror.sandbox.setFaults([{ name: '500', made: true, on: ['create'], count: 1 }]);
    const wrong = doubtful ? [...postings(2), posting('p3')] : [posting('p1', { state: 'Jalisco' }), posting('p2')];
    await mirror.syncOf(wrong);
    await setPolicy('create_only');
    const later = doubtful ? postings(3) : [changed('p1'), changed('p2')];
    const report = await mirror.syncOf(later);
    expect(report).toMatchObject(doubtful ? { unchanged: 3, in_doubt: 0 } : { rejected: 1, unchanged: 1, updated: 0 });
    expect(await mirror.sandbox.inspect.count()).toBe(doubtful ? 3 : 2);
    expect((await titles()).p2).toBe('Nurse p2');
  },
);

it('upsert_only withdraws deletes that wait although the source says that nothing has changed', async () => {
  let list = postings(6);
  const server = createServer((request, response) => {
    const etag = `"${list.length}"`;
    if (request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end();
    return response.writeHead(200, { etag, 'content-type': 'application/xml' }).end(feedXml(list));
  });
  onTestFinished(() => void server.close());
  const port = await listen(server);
  mirror = await openMirror({ feed: { policy: 'mirror', source: `http://127.0.0.1:${port}/feed.xml` } });
  expect(await mirror.sync()).toMatchObject({ created: 6 });
  expect(await mirror.sync()).toMatchObject({ status: 'not_modified' });
  // A pull whose delete is not sent, as while the site is paused.
  list = postings(5);
  const { db, log, config } = await mirror.app();
  const [setup] = feedSetups(config, ['acme']);
  if (setup === undefined) throw new Error('no feed');
  const { signal } = new AbortController();
  expect(await pullFeed(setup, { db, log, signal })).toMatchObject({ kind: 'committed', complete: true });
  await setPolicy('upsert_only');
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', gone: 1, grace: 1, deleted: 0 });
  expect(await mirror.sandbox.inspect.count()).toBe(6);
});
