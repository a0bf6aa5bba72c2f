// A site that expires jobs: expired jobs are created again, and the site is not mistaken for another address.
// @module-tag slow
import { describe, expect } from 'vitest';
import { siteName } from '../../src/posting/identifiers.ts';
import { readSiteState } from '../../src/store/site/site-state.ts';
import { runProgram } from '../cli/run-program.ts';
import { SHORT } from '../laws/installation.ts';
import type { Reply } from '../site/scripted-site.ts';
import { endsTest as it, type Open } from '../support/ends-test.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import type { Mirror } from '../support/mirror.ts';

const edited = (feed: readonly TestPosting[]) => feed.map((one) => ({ ...one, title: `${one.title}, edited` }));
const isPaused = async (mirror: Mirror) =>
  (await readSiteState((await mirror.app()).db, siteName('board'))).pausedSince !== undefined;

/** Mirrors `count` postings, dates them back, and expires the oldest `expired` of them on the site. */
async function openExpired(open: Open, count: number, expired: number, site: Record<string, string | undefined> = {}) {
  const mirror = await open({ site });
  const feed = postings(count);
  await mirror.syncOf(feed);
  await mirror.query(
    `update mapping set mapped_at = now() - interval '90 days' + site_job_id::int * interval '1 second'`,
  );
  await mirror.query(`update request set at = now() - interval '40 days'`);
  const ids = (await mirror.sandbox.inspect.jobs()).map(({ id }) => id).sort((a, b) => Number(a) - Number(b));
  for (const id of ids.slice(0, expired)) await mirror.sandbox.inspect.removeJob(id);
  // As after a restart: only the database remembers.
  await mirror.stopEngine();
  await mirror.writeFeed(feedXml(edited(feed)));
  return mirror;
}

// More than the first requests of a pull, which are checked for how many failed.
describe('a site that has expired', { concurrent: true }, () => {
  it.for([
    { which: 'the oldest half', count: 24, expired: 12 },
    { which: 'all but the youngest', count: 24, expired: 23 },
    { which: 'all of a handful', count: 3, expired: 3 },
    { which: 'the only one', count: 1, expired: 1 },
  ])('$which gets them created again', async ({ count, expired }, { open }) => {
    const mirror = await openExpired(open, count, expired);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: expired, updated: count - expired });
    expect(await isPaused(mirror)).toBe(false);
    expect((await mirror.siteJobs()).size).toBe(count);
  });

  it('the oldest gets none of them back if so configured, and is not paused', async ({ open }) => {
    const mirror = await openExpired(open, 24, 23, { on_missing: 'leave' });
    expect(await mirror.sync()).toMatchObject({ status: 'review', created: 0, updated: 1, rejected: 23 });
    expect(await isPaused(mirror)).toBe(false);
  });

  it('all of many needs a person, and so does a site that answers 404 to everything', async ({ open }) => {
    const mirror = await openExpired(open, 8, 8);
    expect((await mirror.sync()).message).toContain('--emptied');
    expect(await isPaused(mirror)).toBe(true);
    const other = await openExpired(open, 1, 0);
    await other.sandbox.setFaults([{ name: '404' }, { name: '404', on: ['list', 'show'] }]);
    expect(await other.sync()).toMatchObject({ created: 0, updated: 0, rejected: 0 });
    await other.stopEngine();
    await other.sandbox.setFaults([]);
    expect(await other.sync()).toMatchObject({ created: 0 });
    expect((await other.siteJobs()).size).toBe(1);
  });

  it('all that it accepted last may hide them, until a person says that they were removed', async ({ open }) => {
    const mirror = await open({ site: { retry: '{ attempts: 1 }' } });
    const feed = postings(8);
    await mirror.syncOf(feed.slice(0, 3));
    await mirror.syncOf(feed);
    for (const { id } of await mirror.sandbox.inspect.jobs())
      if (Number(id) > 3) await mirror.sandbox.inspect.removeJob(id);
    await mirror.stopEngine();
    expect(await mirror.syncOf([...feed.slice(0, 3), ...edited(feed.slice(3))])).toMatchObject({
      status: 'review',
      unchanged: 3,
      failed: 5,
    });
    const [{ id }] = (await mirror.query<{ id: number }>('select id from change limit 1')) as [{ id: number }];
    const { out } = await runProgram(mirror, 'review', 'show', String(id));
    expect(out).toMatch(/removed there, send the change again after: \S.* resume board --emptied/);
    expect(await runProgram(mirror, 'resume', 'board', '--emptied')).toMatchObject({ status: 0 });
    expect(await runProgram(mirror, 'review', 'retry', 'acme')).toMatchObject({ status: 0 });
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', unchanged: 8 });
    expect((await mirror.siteJobs()).size).toBe(8);
  });
});

it.concurrent('a delete without an answer is done if the job shows the state that others have after deletes, and no live one has', async ({
  openAt,
}) => {
  const jobs = new Map<string, { readonly fields: string; status: string }>();
  /** What a site answers to the delete of a job that it has marked as deleted. */
  const AGAIN: Readonly<Record<string, Reply>> = {
    404: [404],
    422: [422, {}, '<errors><error>The job has expired</error></errors>'],
    500: [500],
  };
  const { mirror } = await openAt(
    ({ method, url, body }) => {
      if (method === 'POST') {
        const id = `${jobs.size + 1}`;
        jobs.set(id, { fields: /<job>([\s\S]*)<\/job>/.exec(body)?.[1] ?? '', status: 'open' });
        return [201, { location: `/jobs/${id}` }, ''];
      }
      const job = jobs.get(/\/jobs\/(\d+)\.xml/.exec(url)?.[1] ?? '');
      if (job === undefined) return [404];
      if (method === 'GET') return [200, {}, `<job>${job.fields}<status>${job.status}</status></job>`];
      const [, key = ''] = /<number>(.*?)</.exec(job.fields) ?? [];
      const wasOpen = job.status === 'open';
      job.status = 'expired';
      return wasOpen ? [key === 'first' ? 200 : 500] : (AGAIN[key] ?? [500]);
    },
    {
      site: { ...SHORT, list_path: undefined },
      feed: { delete_guard: '{ percent: 100, count: 100 }' },
    },
  );
  const stays = [posting('stays')];
  const deleted = Object.keys(AGAIN).map((key) => posting(key));
  await mirror.syncOf([...stays, ...deleted, posting('first')]);
  const live = [...jobs.values()].find(({ fields }) => fields.includes('stays'));
  await mirror.syncOf([...stays, ...deleted]);
  // Of a site that shows it of a live job, too, nothing is known.
  if (live !== undefined) live.status = 'expired';
  expect(await mirror.syncOf(stays)).toMatchObject({ status: 'review', deleted: 0, failed_deletes: 3 });
  if (live !== undefined) live.status = 'open';
  await mirror.stopEngine();
  await runProgram(mirror, 'review', 'retry', 'acme');
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', failed_deletes: 0 });
  expect(await mirror.query('select key from mapping')).toEqual([{ key: 'stays' }]);
});
