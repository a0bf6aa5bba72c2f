// Jobs that a search of the site found: the page and the API adopt those that are certain, as `review settle FEED --found` does.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/web/http-routes.ts';
import { openFoundJobs } from '../support/found-jobs.ts';
import { changeJob } from '../support/hand-made-jobs.ts';
import { postings } from '../support/indeed-feed.ts';
import type { Mirror } from '../support/mirror.ts';
import { visitorOf } from './form-visitor.ts';
import { type Answer, type Served, serve } from './served.ts';

let mirror: Mirror;
let served: Served;
beforeEach(async () => {
  ({ mirror } = await openFoundJobs());
  served = await serve(mirror, { sends: true });
});
afterEach(async () => {
  await served?.close();
  await mirror?.close();
});

function fits(id: string, answer: Answer) {
  const operation = OPERATIONS.find((each) => each.id === id);
  expect(answer.status, answer.text).toBe(operation?.status);
  expect(operation?.response.safeParse(answer.body).error?.issues ?? []).toEqual([]);
  return answer.body;
}

const show = async (query = '') => fits('showFound', await served.api('GET', `feeds/acme/found${query}`));
const adopt = (mark: string) => served.api('POST', 'feeds/acme/found', { mark });
const mapped = async () =>
  (await served.app.db.query<{ key: string }>('select key from mapping order by key')).map(({ key }) => key);

it('through the API: the certain ones are adopted, for exactly what was shown', async () => {
  const first = await show('?limit=2');
  expect(first).toMatchObject({ feed: 'acme', sure: 3, left: 2 });
  const second = await show(`?limit=3&cursor=${first.next_cursor}`);
  expect([...first.items, ...second.items].map(({ key, message }) => [key, message])).toEqual([
    ['p1', null],
    ['p2', null],
    ['p3', null],
    ['p4', '2 jobs on the site show this reference'],
    ['p5', expect.stringContaining('shows the reference "P-5"')],
  ]);
  expect(second.next_cursor).toBeNull();
  expect((await adopt('x')).status).toBe(409);
  expect((await served.api('POST', 'feeds/acme/found', {})).status).toBe(400);
  expect((await served.api('POST', 'feeds/acme/found', { mark: first.mark }, { as: 'puller' })).status).toBe(403);
  expect((await served.api('GET', 'feeds/nowhere/found')).status).toBe(404);
  expect(await mapped()).toEqual([]);
  expect(await served.app.db.query('select from bulk_action')).toEqual([]);
  // The site shows another reference since the search.
  await changeJob(mirror, first.items[1].job_id, { number: 'of-another' });
  const answer = await adopt(first.mark);
  const { bulk, ...started } = fits('adoptFound', answer);
  expect(answer.headers.get('location')).toMatch(new RegExp(`/review/actions/${bulk}$`));
  expect(started).toMatchObject({ action: 'adopt', actor: 'token reviewer', state: 'open', total: 3, waits_for: null });
  const progress = async () => fits('showReviewAction', await served.api('GET', `review/actions/${bulk}`));
  await expect.poll(async () => (await progress()).state).toBe('done');
  expect(await progress()).toMatchObject({
    done: 2,
    left_alone: 1,
    to_do: 0,
    reasons: [{ message: expect.stringContaining('seems to be another job'), count: 1 }],
  });
  expect(await mapped()).toEqual(['p1', 'p3']);
  expect((await adopt(first.mark)).status).toBe(409);
  const actors = await served.app.db.query(`select distinct actor from audit where action = 'settle'`);
  expect(actors).toEqual([{ actor: 'token reviewer' }]);
});

it('on the page: from the doubts to the certain ones, and what is left', async () => {
  const anna = await visitorOf(served, 'anna');
  const doubts = await anna.get('/doubts');
  expect(doubts.text).toContain('5 jobs were found on the site for feed acme.');
  expect(doubts.text).toContain('href="/doubts/found?feed=acme"');
  const page = await anna.get('/doubts/found?feed=acme');
  expect(page.text).toContain('Adopt all 3 certain jobs');
  const certain = page.text.split('aria-label="Certain jobs"')[1]?.split('</table>')[0] ?? '';
  expect([...certain.matchAll(/>(p\d)<\/a>/g)].map(([, key]) => key)).toEqual(['p1', 'p2', 'p3']);
  expect(page.text).toContain('2 jobs on the site show this reference');
  const done = await anna.press(page, 'Adopt all 3 certain jobs');
  expect(done.status).toBe(200);
  expect(done.text).toMatch(/Action \d+: adopt/);
  await expect.poll(mapped).toEqual(['p1', 'p2', 'p3']);
  const stale = await anna.post('/doubts/found', { feed: 'acme', mark: 'x' });
  expect(stale.status).toBe(409);
  expect(stale.text).toContain('Other jobs are certain than those that were shown');
  expect(stale.text).toContain('2 found jobs to decide one by one');
  expect((await anna.post('/doubts/found', { feed: 'acme' })).status).toBe(400);
  expect((await anna.post('/doubts/found', {})).status).toBe(400);
  const ben = await visitorOf(served, 'ben');
  expect((await ben.get('/doubts/found?feed=acme')).status).toBe(200);
  expect((await ben.post('/doubts/found', { feed: 'acme', mark: 'x' })).status).toBe(403);
});

it('what it waits for is shown, and it can be stopped and continued', async () => {
  await mirror.sandbox.setFaults([{ name: '500', on: ['show'] }]);
  const { bulk } = fits('adoptFound', await adopt((await show()).mark));
  const progress = async () => fits('showReviewAction', await served.api('GET', `review/actions/${bulk}`));
  await expect.poll(async () => (await progress()).waits_for).toContain('it answered 500');
  expect(await progress()).toMatchObject({ state: 'open', done: 0, left_alone: 0 });
  const anna = await visitorOf(served, 'anna');
  const page = await anna.get(`/review/actions/${bulk}`);
  expect(page.text).toContain('waiting: 0 of 3 entries');
  expect(page.text).toMatch(/Waiting: The site did not show job \d+: it answered 500<br\/>It continues by itself\./);
  expect((await anna.get('/review/actions')).text).toMatch(/<td[^>]*>waiting<\/td>/);
  await mirror.sandbox.setFaults([]);
  const stopped = await anna.press(page, 'Stop after the present batch');
  expect(stopped.text).toContain('stopped: 0 of 3 entries');
  expect(stopped.text).not.toContain('answered 500');
  expect((await anna.get('/doubts/found?feed=acme')).text).toContain(
    `Adopting some of them was stopped: <a href="/review/actions/${bulk}">action ${bulk}</a>`,
  );
  await anna.press(stopped, 'Continue');
  await expect.poll(mapped).toEqual(['p1', 'p2', 'p3']);
});

it('what was read of a large site is shown again for a while, but nothing is adopted that is not certain any more', async () => {
  const { db } = served.app;
  await db.query(`update pg_class set reltuples = 1e6 where oid = 'document'::regclass`);
  const { mark } = await show();
  // Another posting with the reference of p1.
  await db.query(`insert into change (feed, key, site, desired, operation, fields, state, invalid)
    select feed, 'other', site, desired, operation, '{"number":"p1"}', 'rejected', true
    from change where key = 'p1'`);
  expect(await show()).toMatchObject({ sure: 3, left: 2, mark });
  expect((await adopt(mark)).status).toBe(409);
  expect(await show()).toMatchObject({ sure: 2, left: 3 });
  expect(await db.query('select from bulk_action')).toEqual([]);
  // A decision about an entry is shown at once.
  await db.query(`update change set found_job_id = null where key = 'p2'`);
  expect(await show()).toMatchObject({ sure: 1, left: 3 });
});

it('a doubt whose posting is gone says that its job would be deleted', { tags: 'slow' }, async () => {
  expect(await mirror.syncOf(postings(4))).toMatchObject({ in_doubt: 4, deleted: 0 });
  const [row] = await served.app.db.query<{ id: number }>(`select id from change where key = 'p5'`);
  const anna = await visitorOf(served, 'anna');
  const posting = 'its posting is to be removed, so a job that is said to be its own is deleted';
  expect((await anna.get('/posting?feed=acme&key=p5')).text).toContain(posting);
  expect((await anna.get(`/doubts/${row?.id}`)).text).toContain('Its posting is to be removed');
  expect((await anna.get('/doubts/found?feed=acme')).text).toContain('the job would be deleted');
});
