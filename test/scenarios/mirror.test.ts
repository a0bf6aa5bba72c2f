// The whole path of a feed into the site, on both queues: creates, minimal updates, deletes, guard, review, quiet pulls.
import { afterEach, describe, expect, it } from 'vitest';
import { TIMING } from '../../src/runtime/timing.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { type PrivateRedis, redisForTests } from '../support/redis.ts';

const redis = redisForTests();
let mirror: Mirror;
let server: PrivateRedis | undefined;
afterEach(async () => {
  await mirror?.close();
  await server?.stop();
  server = undefined;
});

const QUEUES = [
  { queue: 'database', available: true, note: '' },
  { queue: 'redis', available: redis.available, note: redis.note },
];

describe.each(QUEUES)('with the queue in $queue $note', ({ queue, available }) => {
  async function open(options: Parameters<typeof openMirror>[0] = {}): Promise<Mirror> {
    if (queue === 'redis') server = await redis.start();
    // With the real timing: the other tests run with a fast one.
    mirror = await openMirror({ ...options, queue: server?.url ?? 'database', timing: TIMING });
    return mirror;
  }

  it.skipIf(!available)('mirrors a feed, then sends nothing, then only what differs', async () => {
    await open();
    // Keys that differ in case or leading zeros only.
    const list = [...postings(8), posting('7'), posting('007'), posting('a'), posting('A')];
    await mirror.writeFeed(feedXml(list));
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', seen: 12, created: 12, requests: 12, review: 0 });
    expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(list.map(({ key }) => key).sort());

    mirror.sandbox.requests.clear();
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', seen: 12, unchanged: 12, requests: 0 });
    expect(mirror.sandbox.requests.recent()).toEqual([]);

    const changed = list.slice(1).map((p) => (p.key === 'p7' ? { ...p, title: 'Head nurse' } : p));
    await mirror.writeFeed(feedXml([...changed, posting('new')]));
    expect(await mirror.sync()).toMatchObject({ created: 1, updated: 1, deleted: 1, unchanged: 10, requests: 3 });
    const jobs = await mirror.siteJobs();
    expect([...jobs.keys()].sort()).toEqual([...changed.map((p) => p.key), 'new'].sort());
    expect(jobs.get('p7')).toMatchObject({ title: 'Head nurse', 'location-city': 'Boston' });
  });
});

describe('deletes', () => {
  it('never follow from a truncated feed, are held when a feed is emptied, and no longer when the postings come back', async () => {
    mirror = await openMirror();
    const whole = feedXml(postings(8));
    await mirror.writeFeed(whole);
    await mirror.sync();
    await mirror.writeFeed(whole.slice(0, whole.indexOf('p3') - 40));
    expect(await mirror.sync()).toMatchObject({ status: 'incomplete', complete: false, deleted: 0, held: 0 });
    await mirror.writeFeed(feedXml([]));
    const emptied = { status: 'review', complete: true, seen: 0, gone: 8, held: 8, deleted: 0 };
    expect(await mirror.sync()).toMatchObject(emptied);
    expect(await mirror.syncOf(postings(2))).toMatchObject({ gone: 6, held: 6, deleted: 0 });
    expect((await mirror.siteJobs()).size).toBe(8);
    await mirror.writeFeed(whole);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', unchanged: 8, held: 0, requests: 0 });
  });

  it('wait for as many missing pulls as configured', async () => {
    mirror = await openMirror({ feed: { delete_guard: '{ missing_pulls: 2 }' } });
    await mirror.syncOf(postings(5));
    expect(await mirror.syncOf(postings(4))).toMatchObject({ gone: 1, grace: 1, deleted: 0 });
    expect(await mirror.syncOf(postings(5))).toMatchObject({ gone: 0, unchanged: 5 });
    expect(await mirror.syncOf(postings(4))).toMatchObject({ grace: 1 });
    expect(await mirror.sync()).toMatchObject({ grace: 0, deleted: 1, gone: 1 });
  });
});

describe('postings that break a rule', () => {
  it('wait in review while all others are mirrored, leave it when the source fixes them, and leave a live job as it is', async () => {
    mirror = await openMirror();
    await mirror.writeFeed(feedXml([posting('a'), posting('b', { state: 'Jalisco' }), posting('c')]));
    expect(await mirror.sync()).toMatchObject({ status: 'review', created: 2, rejected: 1, requests: 2 });
    expect(await mirror.sync()).toMatchObject({ rejected: 1, unchanged: 2, requests: 0 });
    const fixed = feedXml([posting('a'), posting('b', { state: 'N.Y.' }), posting('c')]);
    await mirror.writeFeed(fixed);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 1, rejected: 0 });
    expect((await mirror.siteJobs()).get('b')).toMatchObject({ 'location-state': 'New York' });
    await mirror.writeFeed(feedXml([posting('a'), posting('b', { state: 'Jalisco', title: 'Other' }), posting('c')]));
    expect(await mirror.sync()).toMatchObject({ rejected: 1, deleted: 0, updated: 0, gone: 0 });
    expect((await mirror.siteJobs()).get('b')).toMatchObject({ title: 'Nurse b', 'location-state': 'New York' });
    await mirror.writeFeed(fixed);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', unchanged: 3, requests: 0 });
  });

  it('are recorded with the response of the site if the site rejects them', async () => {
    mirror = await openMirror({
      sandbox: { states: 'states' },
      site: { state_field: '{ name: location-state, values: name }' },
    });
    await mirror.writeFeed(feedXml([posting('a'), posting('b', { state: 'DC' })]));
    expect(await mirror.sync()).toMatchObject({ created: 1, rejected: 1, requests: 2 });
    const app = await mirror.app();
    const [failure] = await app.db.query('select kind, problems, request, response from failure');
    expect(failure).toMatchObject({ kind: 'rejected', response: { status: 422 } });
    expect(JSON.stringify(failure)).not.toContain(mirror.env.BOARD_TOKEN);
  });
});

describe('keys', () => {
  it('count once: identical records collapse, and of conflicting records the job keeps its version', async () => {
    mirror = await openMirror();
    const list = [posting('a'), posting('a'), posting('b'), posting('b', { title: 'Other' })];
    expect(await mirror.syncOf(list)).toMatchObject({ seen: 4, created: 2, duplicates: 2, review: 1 });
    expect(await mirror.sync()).toMatchObject({ seen: 4, unchanged: 2, duplicates: 2, review: 1, requests: 0 });
    expect((await mirror.siteJobs()).get('b')).toMatchObject({ title: 'Nurse b' });
    // The records have changed places, and nothing else.
    await mirror.writeFeed(feedXml([posting('a'), posting('b', { title: 'Other' }), posting('b')]));
    expect(await mirror.sync()).toMatchObject({ seen: 3, updated: 0, unchanged: 2, duplicates: 1, requests: 0 });
    expect((await mirror.siteJobs()).get('b')).toMatchObject({ title: 'Nurse b' });
    await mirror.writeFeed(feedXml([posting('a'), posting('b', { title: 'Other' })]));
    expect(await mirror.sync()).toMatchObject({ seen: 2, updated: 1, unchanged: 1, duplicates: 0 });
    expect((await mirror.siteJobs()).get('b')).toMatchObject({ title: 'Other' });
  });

  it('missing in a record cause one review entry, and no delete', async () => {
    mirror = await openMirror();
    await mirror.syncOf(postings(3));
    await mirror.writeFeed(feedXml([posting('p1'), posting(' '), posting('p4')]));
    expect(await mirror.sync()).toMatchObject({ complete: false, unreadable: 1, created: 1, deleted: 0, review: 1 });
    expect((await mirror.siteJobs()).size).toBe(4);
  });
});
