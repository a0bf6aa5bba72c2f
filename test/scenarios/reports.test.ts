// Reports of pulls that overlap, are incomplete, or leave doubts: every record is counted once.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import type { PullReportJson } from '../../src/runtime/conclude-pull.ts';
import { concludePull, exitStatusOf } from '../../src/runtime/conclude-pull.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

/** The sum of a report's counts of records. */
const placed = (report: PullReportJson): number =>
  report.unchanged +
  report.created +
  report.updated +
  report.rejected +
  report.in_doubt +
  report.pending +
  report.failed +
  report.duplicates +
  report.unreadable;

/** The feed, cut off in the first bytes of this posting. */
const cutAt = (key: string, whole: string): string => whole.slice(0, whole.indexOf(`<![CDATA[${key}]]>`));

describe('a pull that a later one takes over', () => {
  it('counts all its records, and names the pull that counts the rest', async () => {
    const limits = '{ requests_per_second: 5000, concurrency: 2, timeout_seconds: 5 }';
    // More than the slow site takes until the later pull has taken over, however long that needs.
    const count = 60;
    mirror = await openMirror({ site: { limits, doubts: '{ resolve_after_seconds: 5.5 }' } });
    const { db } = await mirror.app();
    await mirror.sandbox.setFaults([{ name: 'latency', ms: 1_000 }]);
    await mirror.writeFeed(feedXml(postings(count)));
    const first = mirror.sync();
    await vi.waitFor(async () => expect(await mirror.sandbox.inspect.count()).toBeGreaterThan(0), { timeout: 60_000 });
    await mirror.writeFeed(feedXml(postings(count).map((p) => ({ ...p, title: `Newer ${p.key}` }))));
    const later = mirror.sync();
    // Slow only until the later pull has taken over.
    const committed = 'select from pull where id = 2 and committed_at is not null';
    await vi.waitFor(async () => expect(await db.query(committed)).toHaveLength(1), { timeout: 60_000 });
    await mirror.sandbox.setFaults([]);
    const [report, second] = await Promise.all([first, later]);
    expect(report).toMatchObject({ pull: 1, complete: true, seen: count, status: 'mirrored' });
    expect(placed(report)).toBe(count);
    expect(report.pending).toBeGreaterThan(0);
    expect(report.message).toMatch(/^pull 2 of the feed took over while \d+ changes of this one were open, and counts/);
    expect(second).toMatchObject({ pull: 2, status: 'mirrored', pending: 0 });
    expect(placed(second)).toBe(count);
    expect(await db.query('select status, notes from pull where id = 1')).toEqual([
      {
        status: 'mirrored',
        notes: [
          {
            text: report.message?.replace(/: jobmirror.*/, ''),
            next: [{ action: { kind: 'list_pulls', feed: 'acme' } }],
          },
        ],
      },
    ]);
  });

  it('does not mention it if nothing was left', async () => {
    mirror = await openMirror();
    await mirror.writeFeed(feedXml(postings(3)));
    const { db, log, config } = await mirror.app();
    const [setup] = feedSetups(config, []);
    if (setup === undefined) throw new Error('no feed');
    const end = await pullFeed(setup, { db, log, signal: new AbortController().signal });
    if (end.kind === 'busy' || end.kind === 'paused') throw new Error(end.kind);
    (await mirror.engine()).wake();
    await vi.waitFor(async () => expect(await db.query('select from change')).toEqual([]), { timeout: 60_000 });
    expect(await mirror.sync()).toMatchObject({ pull: 2, unchanged: 3 });
    const report = await concludePull(db, setup.feed, end, undefined, 0);
    expect(report).toMatchObject({ pull: 1, status: 'mirrored', created: 3, pending: 0 });
    expect(report.notes).toEqual([]);
  });
});

describe('a pull that is not complete', () => {
  it('counts no posting that it did not see', async () => {
    mirror = await openMirror();
    const whole = feedXml([posting('a'), posting('b', { state: 'Jalisco' })]);
    await mirror.writeFeed(whole);
    expect(await mirror.sync()).toMatchObject({ status: 'review', rejected: 1 });
    await mirror.writeFeed(cutAt('b', whole));
    expect(await mirror.sync()).toMatchObject({ status: 'incomplete', seen: 1, unchanged: 1, rejected: 0, review: 1 });
    // The whole feed again: postings that were not seen once count as before.
    await mirror.writeFeed(whole);
    expect(await mirror.sync()).toMatchObject({ status: 'review', seen: 2, unchanged: 1, rejected: 1 });
  });

  it('does not count changes that are sent for an earlier pull', async () => {
    mirror = await openMirror();
    await mirror.sandbox.setFaults([{ name: '401' }]);
    const whole = feedXml(postings(3));
    await mirror.writeFeed(whole);
    expect(await mirror.sync()).toMatchObject({ status: 'pending', pending: 3 });
    await mirror.stopEngine();
    await mirror.sandbox.setFaults([]);
    await mirror.writeFeed(cutAt('p3', whole));
    const report = await mirror.sync();
    expect(report).toMatchObject({ status: 'incomplete', seen: 2, created: 2, pending: 0 });
    expect(placed(report)).toBe(2);
    expect((await mirror.siteJobs()).size).toBe(3);
  });
});

it('a doubt whose posting is gone only waits for review', async () => {
  mirror = await openMirror({ site: { list_path: undefined } });
  await mirror.sandbox.setFaults([{ name: '500', made: true, on: ['create'], count: 1 }]);
  await mirror.writeFeed(feedXml([posting('a'), posting('b')]));
  expect(await mirror.sync()).toMatchObject({ status: 'review', in_doubt: 1, created: 1 });
  const [doubt] = await mirror.query<{ key: string }>(`select key from change where state = 'in_doubt'`);
  const report = await mirror.syncOf([posting('a'), posting('b')].filter(({ key }) => key !== doubt?.key));
  expect(report).toMatchObject({ status: 'review', gone: 1, pending_deletes: 1, unchanged: 1 });
  expect(exitStatusOf(report)).toBe(2);
});
