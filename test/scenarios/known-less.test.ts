// A database that knows less than the site: existing jobs are neither created a second time nor changed.
// @module-tag slow
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readStatus } from '../../src/operations/status.ts';
import { assessRunning } from '../../src/runtime/read-health.ts';
import { runProgram } from '../cli/run-program.ts';
import { startCachingProxy } from '../support/caching-proxy.ts';
import { makeJob } from '../support/hand-made-jobs.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

const make = (number: string | undefined, title = 'Made earlier') =>
  makeJob(mirror, { title, ...(number === undefined ? {} : { number }), 'location-state': 'Ohio' });

async function open(site: Readonly<Record<string, string | undefined>> = {}): Promise<void> {
  mirror = await openMirror({ searched: true, site });
  await mirror.writeFeed(feedXml(postings(4)));
}

const run = (...args: readonly string[]) => runProgram(mirror, ...args);
/** What fails, as `status` and `/healthz` say. */
async function failing(): Promise<readonly string[][]> {
  const app = await mirror.app();
  const { check } = await readStatus(app);
  const { failing } = await assessRunning(app, [], 1, undefined);
  return [check.failing.map(({ condition }) => condition), failing.map(({ kind }) => kind)];
}
const entries = async () =>
  mirror.query<{ id: number; key: string; found: string }>(
    'select id, key, found_job_id as found from change where found_job_id is not null order by key',
  );

it('jobs that were found for creates are not the live ones of which few may be deleted', async () => {
  await open();
  for (let at = 21; at <= 60; at++) await make(`p${at}`);
  expect(await mirror.syncOf(postings(60))).toMatchObject({ created: 20, in_doubt: 40 });
  expect(await mirror.syncOf(postings(60).slice(8))).toMatchObject({ deleted: 0, held: 8, in_doubt: 40 });
  expect(await mirror.query(`select distinct reason->>'message' as why from change where state = 'held'`)).toEqual([
    { why: expect.stringContaining('8 of 20 live jobs') },
  ]);
});

describe('jobs whose references the site has changed', () => {
  const keys = ['WX-2026-0042-a', 'WX-2026-0043-b', 'lm_007'];
  const shown: Readonly<Record<string, (key: string) => string | undefined>> = {
    'cut to ten characters': (key) => key.slice(0, 10),
    'cut to the end': (key) => key.slice(-6),
    'the digits only': (key) => key.replace(/\D/g, ''),
    'without leading zeros': (key) => key.replace(/(?<!\d)0+(?=\d)/g, ''),
    'with a prefix': (key) => `ACME:${key}`,
    'with a suffix': (key) => `${key}-1`,
    'left out': () => undefined,
  };

  it.each(Object.entries(shown))('%s, are recognised by their titles', async (_name, change) => {
    await open();
    for (const key of keys) await make(change(key), `Title of ${key.toUpperCase()}`);
    await make(change('somebody-1'), 'Another title');
    const state = change('x') === undefined ? 'OH' : 'MA';
    await mirror.writeFeed(
      feedXml([...keys, 'new-4711-c'].map((key) => posting(key, { title: `Title of ${key}`, state }))),
    );
    expect(await mirror.sync()).toMatchObject({ created: 1, in_doubt: 3 });
    expect(await mirror.sandbox.inspect.count()).toBe(5);
    expect(await entries()).toHaveLength(3);
  });

  it('are created if a person says that the found jobs are others, however many share the title and have no reference', async () => {
    await open();
    for (let made = 0; made < 3; made++) await make(undefined, 'Nurse');
    await mirror.writeFeed(feedXml([posting('p1', { title: 'Nurse', state: 'OH' })]));
    expect(await mirror.sync()).toMatchObject({ created: 0, in_doubt: 1 });
    const [entry] = await entries();
    await mirror.stopEngine();
    // Nothing says that it was sent.
    const id = String(entry?.id);
    for (const args of [
      ['why', 'acme', 'p1'],
      ['review', 'show', id],
      ['review', 'show', id, '--candidates'],
    ])
      expect((await run(...args)).out, args.join(' ')).not.toMatch(/(?<!not )sent (?:at|then)|response to|made this/i);
    expect((await run('review', 'settle', id, '--missing')).status).toBe(0);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', in_doubt: 0 });
    expect(await mirror.sandbox.inspect.count()).toBe(4);
  });

  it('are not matched if the title differs, or if other jobs show references', async () => {
    await open();
    await make('p1', 'Another title');
    await make(undefined, 'Title of p12');
    expect(await mirror.syncOf([posting('p12', { title: 'Title of p12' })])).toMatchObject({ created: 1, in_doubt: 0 });
  });
});

describe('a list that states a failure', () => {
  it.each([
    '<jobs><error>The search is not available</error></jobs>',
    '<response><status>error</status><message>The search is not available</message><jobs/></response>',
  ])('does not show that the site has none of the jobs: %s', async (list) => {
    await open();
    for (const { key } of postings(4)) await make(key);
    const proxy = await startCachingProxy(mirror.sandbox.url);
    proxy.list = list;
    await mirror.configure(mirror.sandbox.url, proxy.url);
    try {
      expect(await mirror.sync()).toMatchObject({ status: 'pending', created: 0, pending: 4 });
      expect(await mirror.sandbox.inspect.count()).toBe(4);
      await mirror.stopEngine();
    } finally {
      await proxy.close();
    }
  });
});

describe('jobs with references of the feed', () => {
  it('are neither changed nor created again until a person says what they are; all others are created', async () => {
    await open();
    for (const number of ['p2', ' P3 ', 'somebody-elses']) await make(number);
    const before = await mirror.sandbox.inspect.jobs();
    expect(await mirror.sync()).toMatchObject({ status: 'review', created: 2, in_doubt: 2, pending: 0 });
    expect(await mirror.sandbox.inspect.count()).toBe(5);
    expect((await mirror.sandbox.inspect.jobs()).slice(0, 3)).toEqual(before);
    expect(await entries()).toMatchObject([
      { key: 'p2', found: before[0]?.id },
      { key: 'p3', found: before[1]?.id },
    ]);
    // Not even if the record changes meanwhile.
    await mirror.writeFeed(feedXml(postings(4).map((one) => ({ ...one, title: 'Another title' }))));
    expect(await mirror.sync()).toMatchObject({ in_doubt: 2, updated: 2 });
    expect(await mirror.sandbox.inspect.count()).toBe(5);
    await mirror.stopEngine();

    const [second, third] = await entries();
    await mirror.stopEngine();
    expect((await run('review', 'settle', String(second?.id), '--exists', String(second?.found))).status).toBe(0);
    expect((await run('review', 'settle', String(third?.id), '--missing')).status).toBe(0);
    expect((await run('sync')).status).toBe(0);
    expect(await mirror.sandbox.inspect.count()).toBe(6);
    expect((await mirror.siteJobs()).get('p2')?.title).toBe('Another title');
  });

  it('are also found if the posting first appears in a later pull', async () => {
    await open();
    await make('p4');
    expect(await mirror.syncOf(postings(3))).toMatchObject({ status: 'mirrored', created: 3 });
    expect(await mirror.syncOf(postings(4))).toMatchObject({ created: 0, in_doubt: 1 });
    expect(await mirror.sandbox.inspect.count()).toBe(4);
  });

  it('are also found if an edit makes a rejected posting ready', async () => {
    await open();
    await make('p4');
    await mirror.writeFeed(feedXml([...postings(3), posting('p4', { state: 'Jalisco' })]));
    expect(await mirror.sync()).toMatchObject({ created: 3, rejected: 1 });
    const [rejected] = await mirror.query<{ id: number }>(`select id from change where key = 'p4'`);
    await mirror.stopEngine();
    await run('review', 'edit', String(rejected?.id), '--set', 'location-state=Ohio');
    expect(await mirror.sandbox.inspect.count()).toBe(4);
    expect(await entries()).toMatchObject([{ key: 'p4', found: expect.any(String) }]);
  });

  it('are searched once, however often and by whatever process the feed is mirrored', async () => {
    await open();
    mirror.sandbox.requests.clear();
    await mirror.sync();
    const lists = () =>
      mirror.sandbox.requests.recent().filter(({ method, path }) => method === 'GET' && path.includes('jobs.xml'))
        .length;
    const first = lists();
    expect(first).toBeGreaterThan(0);
    await mirror.stopEngine();
    expect(await mirror.syncOf(postings(6))).toMatchObject({ created: 2 });
    expect(lists()).toBe(first);
  });

  it('are not searched if a person states that the site has none', async () => {
    await open();
    mirror.sandbox.requests.clear();
    expect((await run('feeds', 'new', 'acme')).out).toContain('Feed acme is declared new');
    expect((await run('sync')).status).toBe(0);
    // Besides, one of the new jobs is asked for.
    expect(
      mirror.sandbox.requests.recent().filter(({ method, path }) => method === 'GET' && path.includes('jobs.xml')),
    ).toEqual([]);
  });

  it('are searched again in a restored database', async () => {
    await open();
    await mirror.sync();
    await mirror.query('delete from mapping');
    await mirror.query('delete from document');
    await mirror.query(`update installation set place = 'another'`);
    await mirror.stopEngine();
    await writeFile(join(mirror.folder, 'feed.xml'), feedXml(postings(4).map((one) => ({ ...one, title: 'Changed' }))));
    expect(await mirror.sync()).toMatchObject({ created: 0, in_doubt: 4 });
    expect(await mirror.sandbox.inspect.count()).toBe(4);
  });
});

it('nothing is created while the list cannot be read, with the reason, until a person says to go on', async () => {
  await open({ list_path: '/no-such-list.xml' });
  await make('p2');
  const report = await mirror.sync();
  expect(report).toMatchObject({ status: 'pending', created: 0, pending: 4 });
  expect(report.message).toContain('jobmirror feeds new acme');
  // It may still succeed; after a while it counts as a failure.
  expect(await failing()).toEqual([[], []]);
  await mirror.query(`update change set since = since - interval '6 minutes'`);
  expect(await failing()).toEqual([['unsearched'], ['unsearched']]);
  await mirror.stopEngine();
  expect((await run('status')).out).toContain('acme: no new jobs are created');
  expect(await mirror.sandbox.inspect.count()).toBe(1);
  await run('feeds', 'new', 'acme');
  expect(await mirror.sync()).toMatchObject({ created: 4 });
  expect(await failing()).toEqual([[], []]);
});

it.each(['429', '503'] as const)('a list that is answered with %s for more than an hour is reported', async (name) => {
  await open();
  await mirror.sandbox.setFaults([{ name, on: ['list'], retryAfter: 'none' }]);
  const { db } = await mirror.app();
  await mirror.engine();
  const syncing = mirror.sync();
  await expect.poll(() => db.query('select from site_state where throttled_at is not null')).toHaveLength(1);
  expect(await failing()).toEqual([[], []]);
  await db.query(`update change set since = since - interval '61 minutes'`);
  await expect.poll(failing).toEqual([['unsearched'], ['unsearched']]);
  expect(await syncing).toMatchObject({ status: 'pending', pending: 4 });
  await mirror.sandbox.setFaults([]);
  // Otherwise the worker might search the site and create before the next pull begins.
  await mirror.stopEngine();
  await mirror.query(`update feed_state set site_check_failed_at = '-infinity'`);
  expect(await mirror.sync()).toMatchObject({ created: 4 });
  expect(await failing()).toEqual([[], []]);
});

it('without a list the first sync explains the risk once, and continues', async () => {
  await open({ list_path: undefined });
  const first = await mirror.sync();
  expect(first).toMatchObject({ status: 'mirrored', created: 4 });
  expect(first.message).toContain('It creates those missing from its database a second time');
  expect(await mirror.sync()).not.toHaveProperty('message');
});

it('after an import the other postings are still searched', async () => {
  await open();
  for (const number of ['p1', 'p2']) await make(number);
  const [one] = await mirror.sandbox.inspect.jobs();
  const file = join(mirror.folder, 'mappings.csv');
  await writeFile(file, `feed,key,site_job_id\nacme,p1,${one?.id}\n`);
  expect((await run('mappings', 'import', file)).status).toBe(0);
  expect(await mirror.sync()).toMatchObject({ created: 2, updated: 1, in_doubt: 1 });
  const [second] = await entries();
  await writeFile(file, `feed,key,site_job_id\nacme,p2,${second?.found}\n`);
  expect((await run('mappings', 'import', file)).status).toBe(0);
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 0, in_doubt: 0 });
  expect(await mirror.sandbox.inspect.count()).toBe(4);
});
