// Jobs that a search of the site found: the page and the API adopt those that are certain, as `review settle FEED --found` does.
import { request } from 'undici';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { adoptFoundFor } from '../../src/web/adopt-found.ts';
import { OPERATIONS } from '../../src/web/api/operations.ts';
import { acme } from '../review/stage.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { visitorOf } from './form-visitor.ts';
import { type Answer, type Served, serve } from './served.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let mirror: Mirror;
let served: Served;
/** Five postings whose jobs are on the site; two of them need a decision. */
beforeEach(async () => {
  mirror = await openMirror({ searched: true });
  for (const number of ['p1', 'p2', 'p3', 'p4', 'p4', 'P-5']) await send('POST', '/jobs.xml', number);
  await mirror.writeFeed(feedXml(postings(5)));
  expect(await mirror.sync()).toMatchObject({ in_doubt: 5, created: 0 });
  await mirror.stopEngine();
  served = await serve(mirror);
});
afterEach(async () => {
  await served?.close();
  await mirror?.close();
});

async function send(method: 'POST' | 'PUT', path: string, number: string): Promise<void> {
  const answer = await request(`${mirror.sandbox.url}${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${mirror.env.BOARD_TOKEN}:X`).toString('base64')}`,
      'content-type': 'application/xml',
    },
    body: `<job><title>Made earlier</title><number>${number}</number><location-state>Ohio</location-state></job>`,
  });
  await answer.body.dump();
}

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
  // The site shows another reference since the search.
  await send('PUT', `/jobs/${first.items[1].job_id}.xml`, 'of-another');
  const done = fits('adoptFound', await adopt(first.mark));
  expect(done).toMatchObject({ feed: 'acme', adopted: 2, to_do: 0, refused: [{ key: 'p2' }] });
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
  expect(done.text).toContain('3 jobs adopted.');
  expect(done.text).toContain('2 found jobs to decide one by one');
  expect(await mapped()).toEqual(['p1', 'p2', 'p3']);
  expect((await anna.post('/doubts/found', { feed: 'acme', mark: 'x' })).status).toBe(409);
  expect((await anna.post('/doubts/found', { feed: 'acme' })).status).toBe(400);
  expect((await anna.post('/doubts/found', {})).status).toBe(400);
  const ben = await visitorOf(served, 'ben');
  expect((await ben.get('/doubts/found?feed=acme')).status).toBe(200);
  expect((await ben.post('/doubts/found', { feed: 'acme', mark: 'x' })).status).toBe(403);
});

it('what the time of a request does not suffice for is left for the next one', async () => {
  const asker = { app: served.app, control: { wake: () => undefined } as never, actor: 'tester' };
  const { mark } = await show();
  expect(await adoptFoundFor(asker, acme, mark, AbortSignal.abort())).toMatchObject({
    adopted: [],
    refused: [],
    todo: 3,
  });
  expect(await mapped()).toEqual([]);
  expect(await adoptFoundFor(asker, acme, mark)).toMatchObject({ refused: [], todo: 0 });
  expect(await mapped()).toEqual(['p1', 'p2', 'p3']);
});
