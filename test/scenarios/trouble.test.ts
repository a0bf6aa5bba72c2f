// Problems of a whole site: it is paused with a cause, resumed, and loses nothing.
import { afterEach, describe, expect, it } from 'vitest';
import { readStatus } from '../../src/operations/status.ts';
import { textOf } from '../../src/plan/message.ts';
import { siteName } from '../../src/posting/identifiers.ts';
import { assessRunning } from '../../src/runtime/read-health.ts';
import { enterAsWorker } from '../../src/store/locks/processes.ts';
import { readSiteState, resumeSite, trustGoneForADay } from '../../src/store/site/site-state.ts';
import { openSite } from '../site/scripted-site.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const board = siteName('board');
let mirror: Mirror;
afterEach(() => mirror?.close());

const changedTitles = (count: number) => postings(count).map((p) => ({ ...p, title: `Changed ${p.key}` }));

describe('a site that refuses', () => {
  it('the token is paused within the requests in flight, and resumed when the token is right again', async () => {
    mirror = await openMirror();
    await mirror.writeFeed(feedXml(postings(24)));
    await mirror.sandbox.setFaults([{ name: '401' }]);
    const report = await mirror.sync();
    expect(report).toMatchObject({ status: 'pending', pending: 24, created: 0, failed: 0 });
    expect(report.requests).toBeLessThanOrEqual(16);
    expect(report.message).toContain('jobmirror resume board');
    await mirror.stopEngine();
    await mirror.sandbox.setFaults([]);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 24, pending: 0 });
  });

  it('most of the first postings is paused, and only a person resumes it', async () => {
    mirror = await openMirror({ site: { canary: '{ requests: 10, percent: 50 }' } });
    await mirror.writeFeed(feedXml(postings(40)));
    await mirror.sandbox.setFaults([{ name: '403' }]);
    const report = await mirror.sync();
    expect(report.status).toBe('pending');
    expect(report.failed).toBeGreaterThanOrEqual(10);
    expect(report.failed).toBeLessThanOrEqual(30);
    const app = await mirror.app();
    expect(await readSiteState(app.db, board)).toMatchObject({ probeInMs: undefined });
    expect(textOf((await readSiteState(app.db, board)).pauseCause ?? '')).toContain('first');

    await mirror.stopEngine();
    await mirror.sandbox.setFaults([]);
    expect(await mirror.sync()).toMatchObject({ status: 'pending', created: 0 });
    const reopened = await mirror.app();
    await resumeSite(reopened.db, board);
    const resumed = await mirror.sync();
    // Changes that were sent between resume and pull count as unchanged.
    expect(resumed.created + resumed.unchanged).toBe(40 - report.failed);
  });
});

it('a site that refuses the token for one job only is not paused again and again: that posting fails, and all others are sent', async () => {
  await using site = await openSite((got) => {
    const [, number = ''] = /<number>([^<]*)</.exec(got.body) ?? [];
    if (got.method === 'POST') return [201, { location: `/jobs/${number}` }];
    if (got.method === 'GET') return [200, { 'content-type': 'application/xml' }, '<jobs></jobs>'];
    return got.url === '/jobs/p1.xml' ? [401] : [200];
  });
  const limits = '{ requests_per_second: 5000, concurrency: 2, timeout_seconds: 5 }';
  mirror = await openMirror({ site: { base_url: site.url.href, limits } });
  await mirror.syncOf(postings(12));
  await mirror.writeFeed(feedXml(changedTitles(12)));
  let report = await mirror.sync();
  for (let more = 0; more < 4 && report.status === 'pending'; more++) {
    await mirror.query(`update request set at = at - interval '1 minute'`);
    await mirror.stopEngine();
    report = await mirror.sync();
  }
  expect(report).toMatchObject({ status: 'review', failed: 1, pending: 0 });
  const { db } = await mirror.app();
  expect(await db.query(`select key, state, reason->>'kind' as kind from change`)).toEqual([
    { key: 'p1', state: 'failed', kind: 'forbidden' },
  ]);
  expect(await readSiteState(db, board)).toMatchObject({ pausedSince: undefined });
});

describe('a site that refuses everything, with many requests in flight', () => {
  const limits = '{ requests_per_second: 5000, concurrency: 16, timeout_seconds: 5 }';

  it('is paused although more than twice the first postings were sent before the check', async () => {
    mirror = await openMirror({ site: { limits, canary: '{ requests: 5, percent: 50 }' } });
    await mirror.writeFeed(feedXml(postings(100)));
    // All responses arrive at the same time.
    await mirror.sandbox.setFaults([{ name: 'latency', ms: 500 }, { name: '403' }]);
    const report = await mirror.sync();
    expect(report).toMatchObject({ status: 'pending', created: 0 });
    expect(report.failed).toBeLessThanOrEqual(5 + 4 * 16);
    const { pauseCause = '' } = await readSiteState((await mirror.app()).db, board);
    expect(textOf(pauseCause)).toContain('first');
  });

  it('is not paused if the check is switched off', { tags: 'slow' }, async () => {
    mirror = await openMirror({ site: { limits, canary: '{ requests: 0 }' } });
    await mirror.writeFeed(feedXml(postings(50)));
    await mirror.sandbox.setFaults([{ name: '403' }]);
    expect(await mirror.sync()).toMatchObject({ status: 'review', failed: 50, pending: 0 });
  });

  it('to delete a job that no posting has is reported', async () => {
    mirror = await openMirror();
    await mirror.syncOf(postings(3));
    await mirror.sandbox.setFaults([{ name: '429', on: ['delete'] }]);
    const app = await mirror.app();
    await app.db.query(
      `with lost as (delete from mapping where key = 'p1' returning *)
       insert into orphan_site_job (site, site_job_id, feed, key, attempts) select site, site_job_id, feed, key, 4 from lost`,
    );
    const failing = async () => [
      (await readStatus(app)).check.failing.map(({ condition }) => condition),
      (await assessRunning(app, [], 1, undefined)).failing.map(({ kind }) => kind),
    ];
    // The site only asks to wait, which is no answer about this job.
    const asked = () => app.db.query('select attempts from orphan_site_job where not_before > now() and attempts = 4');
    await expect.poll(asked).toHaveLength(1);
    expect(await failing()).toEqual([[], []]);
    await mirror.sandbox.setFaults([{ name: '403', on: ['delete'] }]);
    await app.db.query(`update orphan_site_job set not_before = '-infinity'`);
    await expect.poll(failing).toEqual([['undeleted'], ['undeleted']]);
    await mirror.sandbox.setFaults([]);
    await app.db.query(`update orphan_site_job set not_before = '-infinity'`);
    await expect.poll(failing).toEqual([[], []]);
    expect(await mirror.sandbox.inspect.count()).toBe(2);
  });
});

describe('a site that says "no such job"', () => {
  it('for one job gets it created again', async () => {
    mirror = await openMirror();
    await mirror.syncOf(postings(5));
    const [first] = await mirror.sandbox.inspect.jobs();
    await mirror.sandbox.inspect.removeJob(first?.id ?? '');
    expect(await mirror.syncOf(changedTitles(5))).toMatchObject({ status: 'mirrored', created: 1, updated: 4 });
    expect((await mirror.siteJobs()).size).toBe(5);
  });

  it('for every job is not believed: its address may be wrong', async () => {
    mirror = await openMirror();
    await mirror.syncOf(postings(8));
    const all = await mirror.sandbox.inspect.jobs();
    await mirror.writeFeed(feedXml(changedTitles(8)));
    await mirror.sandbox.setFaults([{ name: '404' }]);
    const report = await mirror.sync();
    expect(report).toMatchObject({ status: 'pending', created: 0, updated: 0 });
    expect(report.message).toContain('base_url');
    await mirror.stopEngine();
    await mirror.sandbox.setFaults([]);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', updated: 8, created: 0 });
    expect((await mirror.sandbox.inspect.jobs()).map(({ id }) => id).sort()).toEqual(all.map(({ id }) => id).sort());
  });

  it('for every job is not believed about a job without a posting either: it is deleted once the address is right', async () => {
    mirror = await openMirror();
    await mirror.syncOf(postings(3));
    const { db } = await mirror.app();
    await mirror.sandbox.setFaults([{ name: '404' }]);
    const before = mirror.sandbox.requests.total();
    await db.query(
      `with lost as (delete from mapping where key = 'p1' returning *)
       insert into orphan_site_job (site, site_job_id, feed, key) select site, site_job_id, feed, key from lost`,
    );
    await mirror.engine();
    await expect.poll(() => mirror.sandbox.requests.total()).toBeGreaterThan(before);
    await mirror.stopEngine();
    await mirror.sandbox.setFaults([]);
    await mirror.query(`update orphan_site_job set not_before = '-infinity'`);
    await mirror.engine();
    await expect.poll(() => mirror.sandbox.inspect.count()).toBe(2);
    const left = async () => mirror.query('select from orphan_site_job');
    await expect.poll(left).toEqual([]);
  });

  it('for every job is believed once a person says that the site was emptied', { tags: 'slow' }, async () => {
    mirror = await openMirror();
    await mirror.syncOf(postings(3));
    for (const { id } of await mirror.sandbox.inspect.jobs()) await mirror.sandbox.inspect.removeJob(id);
    await mirror.writeFeed(feedXml([...changedTitles(3), posting('new')]));
    const app = await mirror.app();
    await trustGoneForADay(app.db, board);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 4 });
  });
});

it('changes that no running process sends for ten minutes are a failure, unless they wait for something else', async () => {
  mirror = await openMirror();
  expect(await mirror.syncOf(postings(2))).toMatchObject({ created: 2 });
  await mirror.stopEngine();
  const app = await mirror.app();
  const { leave } = await enterAsWorker(
    app.db,
    { command: 'start', host: 'h', pid: 1, parts: {}, feeds: new Map() },
    () => undefined,
  );
  await mirror.query(`insert into change (feed, key, site, desired, operation, state, since)
    values ('acme', 'p1', 'board', 'absent', 'delete', 'ready', now() - interval '1 hour')`);
  const failing = async () => {
    const { check } = await readStatus(app);
    const { failing: seen } = await assessRunning(app, [], 1, undefined);
    return [...check.failing.map(({ condition }) => condition), ...seen.map(({ kind }) => kind)];
  };
  // The process has just started, or something was sent a moment ago.
  expect(await failing()).toEqual([]);
  await mirror.query(`update process set started_at = now() - interval '1 hour'`);
  expect(await failing()).toEqual([]);
  await mirror.query(`update request set at = now() - interval '1 hour'`);
  expect(await failing()).toEqual(['stalled', 'stalled']);
  await mirror.query(`update site_state set not_before = now()`);
  expect(await failing()).toEqual([]);
  await mirror.query(`update site_state set not_before = now() - interval '1 hour'`);
  await mirror.query(`update change set operation = 'create', desired = 'present', fields = '{}'`);
  await mirror.query('update feed_state set site_checked_at = null');
  expect(await failing()).toEqual([]);
  await leave();
});
