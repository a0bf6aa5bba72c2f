import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { pullOf } from '../../src/operations/pulls.ts';
import { planFeed } from '../../src/pull/preview/dry-run.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { listPulls } from '../../src/store/pull/pull-history.ts';
import { checkCounts } from '../laws/laws.ts';
import { acme } from '../review/stage.ts';
import { feedXml, posting, postings, recordXml, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror.close());

const DRAFTS = { skip: '{ city: Draft }' };
const draft = (key: string, fields: Omit<TestPosting, 'key' | 'city'> = {}) =>
  posting(key, { ...fields, city: 'draft' });
const live = postings(5);
/** The feed, in which the postings with these keys are drafts. */
const withDrafts = (...keys: string[]) => live.map((one) => (keys.includes(one.key) ? draft(one.key) : one));

async function sync(list?: readonly TestPosting[]) {
  if (list !== undefined) await mirror.writeFeed(feedXml(list));
  return checkCounts(await mirror.sync());
}

async function stored(): Promise<number> {
  const [row] = await mirror.query<{ n: number }>('select count(*) as n from skipped_record');
  return row?.n ?? -1;
}

describe('drafts', () => {
  it('are counted, not sent, and known in the next pull', async () => {
    mirror = await openMirror({ feed: DRAFTS });
    const list = [...live, draft('d1'), draft('d2'), draft('d3', { state: 'Jalisco' })];
    expect(await sync(list)).toMatchObject({ status: 'mirrored', seen: 8, created: 5, skipped: 3, rejected: 0 });
    expect((await mirror.siteJobs()).size).toBe(5);
    expect(await stored()).toBe(3);
    expect(await sync()).toMatchObject({ seen: 8, unchanged: 5, skipped: 3, requests: 0, gone: 0 });
    expect(await sync([...list.slice(0, -1), draft('d4'), draft('d5')])).toMatchObject({ unchanged: 5, skipped: 4 });
    expect(await stored()).toBe(4);
    const { db, writeAction } = await mirror.app();
    const [pull] = await listPulls(db, acme, 1);
    expect(pull === undefined ? undefined : pullOf(pull, writeAction)).toMatchObject({ seen: 9, skipped: 4 });
  });

  it('are counted in a plan, which stores nothing; created when published; each counted if their bytes are equal', {
    tags: 'slow',
  }, async () => {
    mirror = await openMirror({ feed: DRAFTS });
    await mirror.writeFeed(feedXml(withDrafts('p1')));
    const { db, log, config } = await mirror.app();
    const [setup] = feedSetups(config, ['acme']);
    const context = { db, log, signal: new AbortController().signal };
    const end = await planFeed(setup ?? expect.fail(), context, () => undefined);
    expect(end).toMatchObject({ kind: 'planned', seen: 5, skipped: 1 });
    expect(await stored()).toBe(0);

    await sync(withDrafts('p1', 'p2'));
    expect(await sync(withDrafts('p2'))).toMatchObject({ created: 1, unchanged: 3, skipped: 1 });
    expect(await stored()).toBe(1);

    const list = [...live, draft('d1'), draft('d1'), draft('d1')];
    for (const pull of [1, 2]) {
      expect(await sync(list), `pull ${pull}`).toMatchObject({ seen: 8, skipped: 3, duplicates: 0 });
    }
    expect(await stored()).toBe(1);
  });

  it('with the key of a posting are no duplicates of it, whichever comes first', async () => {
    mirror = await openMirror({ feed: DRAFTS });
    const list = [draft('p1'), ...live, draft('p2')];
    expect(await sync(list)).toMatchObject({ status: 'mirrored', created: 5, skipped: 2, duplicates: 0, review: 0 });
    expect(await sync(list.toReversed())).toMatchObject({ unchanged: 5, skipped: 2, requests: 0 });
  });

  it('without a key are skipped; a record that cannot be read never is', async () => {
    mirror = await openMirror({ feed: DRAFTS });
    const keyless = recordXml(draft('x'))
      .replace('<referencenumber>', '<other>')
      .replace('</referencenumber>', '</other>');
    await mirror.writeFeed(feedXml(live).replace('</source>', `${keyless}</source>`));
    expect(await sync()).toMatchObject({ complete: true, skipped: 1, unreadable: 0 });
    const broken = recordXml(draft('x')).replace('</city>', ' & </city>').replace('draft', 'draft</city><city>');
    await mirror.writeFeed(feedXml(live.slice(1)).replace('</source>', `${broken}</source>`));
    expect(await sync()).toMatchObject({ complete: false, skipped: 0, unreadable: 1, deleted: 0 });
    expect((await mirror.siteJobs()).size).toBe(5);
  });
});

it('skips records of a large feed, which is split and parsed in a thread', { tags: 'slow' }, async () => {
  mirror = await openMirror({ feed: DRAFTS });
  const list = postings(40).map((one, at) => (at % 4 === 0 ? { ...one, city: 'Draft' } : one));
  // In an element that no field has, so that the site gets short jobs.
  await mirror.writeFeed(feedXml(list).replaceAll('</job>', `<more>${'x'.repeat(70_000)}</more></job>`));
  expect(await sync()).toMatchObject({ seen: 40, created: 30, skipped: 10 });
  expect(await sync()).toMatchObject({ unchanged: 30, skipped: 10, requests: 0 });
});

describe('a live posting that becomes a draft', () => {
  it('is deleted after its grace, in complete pulls only', async () => {
    mirror = await openMirror({ feed: { ...DRAFTS, delete_guard: '{ missing_pulls: 2 }' } });
    await sync(live);
    const whole = feedXml(withDrafts('p1'));
    await mirror.writeFeed(whole.slice(0, whole.lastIndexOf('<job>')));
    expect(await sync()).toMatchObject({ complete: false, skipped: 1, deleted: 0 });
    expect(await sync(withDrafts('p1'))).toMatchObject({ complete: true, skipped: 1, grace: 1, deleted: 0 });
    expect(await sync()).toMatchObject({ complete: true, skipped: 1, grace: 0, gone: 1, deleted: 1 });
    expect((await mirror.siteJobs()).has('p1')).toBe(false);
    expect(await sync(live)).toMatchObject({ created: 1, skipped: 0 });
  });

  it('leaves review if it was rejected, as if it were gone', { tags: 'slow' }, async () => {
    mirror = await openMirror({ feed: DRAFTS });
    expect(await sync([...live, posting('bad', { state: 'Jalisco' })])).toMatchObject({ rejected: 1, review: 1 });
    expect(await sync([...live, draft('bad', { state: 'Jalisco' })])).toMatchObject({
      rejected: 0,
      review: 0,
      skipped: 1,
    });
  });
});

describe('the rule', () => {
  it('that skips everything deletes nothing until a person approves', async () => {
    const few = live.slice(0, 3);
    mirror = await openMirror({ feed: { skip: '{ city: Draft }' } });
    await sync(few);
    await mirror.configure('city: Draft', 'city: [Draft, Boston]');
    const report = await sync();
    expect(report).toMatchObject({ complete: true, seen: 3, skipped: 3, gone: 3, held: 3, deleted: 0 });
    expect(report.message).toContain(
      "the feed's rule skips all of its records: all 3 of its live jobs would be deleted",
    );
    expect(report.message).toContain("nothing was mirrored: all 3 postings were skipped by the feed's rule");
    await mirror.configure('city: [Draft, Boston]', 'city: Draft');
    expect(await sync()).toMatchObject({ unchanged: 3, skipped: 0, gone: 0, held: 0, requests: 0 });
    expect((await mirror.siteJobs()).size).toBe(3);
  });

  it('holds even beside an unreadable record that a person has discarded', { tags: 'slow' }, async () => {
    mirror = await openMirror({ feed: { skip: '{ city: Draft }' } });
    await sync(live.slice(0, 3));
    const broken = recordXml(posting('x')).replace('MA</state>', 'MA &</state>');
    await mirror.writeFeed(
      feedXml(withDrafts('p1', 'p2', 'p3').slice(0, 3)).replace('</source>', `${broken}</source>`),
    );
    await sync();
    await mirror.query('update record_problem set discarded = true');
    expect(await sync()).toMatchObject({ complete: true, skipped: 3, unreadable: 1, held: 3, deleted: 0 });
  });

  it('that is added, changed and removed reads every record again', async () => {
    mirror = await openMirror({ feed: { ...DRAFTS, delete_guard: '{ percent: 100, count: 100 }' } });
    const list = [...live.slice(0, 2), ...['p6', 'p7'].map((key) => posting(key, { city: 'Salem' })), draft('d1')];
    expect(await sync(list)).toMatchObject({ created: 4, skipped: 1 });
    await mirror.configure('{ city: Draft }', '[{ city: Draft }, { city: Salem }]');
    expect(await sync()).toMatchObject({ unchanged: 2, skipped: 3, deleted: 2 });
    expect(await stored()).toBe(3);
    await mirror.configure(`    skip: [{ city: Draft }, { city: Salem }]\n`, '');
    expect(await sync()).toMatchObject({ unchanged: 2, skipped: 0, created: 3 });
    expect(await stored()).toBe(0);
    expect(await sync()).toMatchObject({ unchanged: 5, requests: 0 });
  });

  it('skips all of a new feed, and says so', { tags: 'slow' }, async () => {
    mirror = await openMirror({ feed: { skip: '{ city: Boston }' } });
    for (const pull of [1, 2]) {
      const report = await sync(live);
      expect(report, `pull ${pull}`).toMatchObject({ status: 'mirrored', seen: 5, skipped: 5, created: 0 });
      expect(report.message).toContain("nothing was mirrored: all 5 postings were skipped by the feed's rule");
    }
  });
});

it('keeps the count when the source has nothing new', async () => {
  const server = createServer((request, response) => {
    const known = request.headers['if-none-match'] === '"1"';
    response.writeHead(known ? 304 : 200, { etag: '"1"', 'content-type': 'application/xml' });
    response.end(known ? undefined : feedXml(withDrafts('p1', 'p2')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    mirror = await openMirror({ feed: { ...DRAFTS, source } });
    expect(await sync()).toMatchObject({ created: 3, skipped: 2 });
    expect(await sync()).toMatchObject({ status: 'not_modified', seen: 5, unchanged: 3, skipped: 2 });
  } finally {
    server.close();
  }
});
