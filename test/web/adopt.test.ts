import { afterEach, beforeEach, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { serveWeb } from '../feed/web-server.ts';
import { jobOf, makeJob, removeJob, without } from '../support/hand-made-jobs.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { lockWhenFree } from '../support/lock-when-free.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { type FormVisitor, visitorOf } from './form-visitor.ts';
import { type Served, serve } from './served.ts';

let mirror: Mirror;
let served: Served;
let anna: FormVisitor;
beforeEach(async () => {
  mirror = await openMirror({ searched: true });
  served = await serve(mirror, { sends: true, requestsPerMinute: 100_000 });
  anna = await visitorOf(served, 'anna');
});
afterEach(async () => {
  await served.close();
  await mirror.close();
});

const acme = feedName('acme');
const show = async (query = '') => (await served.api('GET', `feeds/acme/adopt${query}`)).body;
const ask = (body: unknown) => served.api('POST', 'feeds/acme/adopt', body);
/** Starts a run and waits for its end. */
async function run(body: unknown) {
  const { status, body: answer } = await ask(body);
  expect([status, answer]).toEqual([202, { feed: 'acme', run: expect.any(Number) }]);
  await expect.poll(async () => (await show()).state, { interval: 20 }).not.toBe('running');
  return show();
}
const match = () => run({ decision: 'match' });
const mapped = async () => {
  const rows = await served.app.db.query<{ key: string; id: string }>(
    'select key, site_job_id as id from mapping order by key',
  );
  return Object.fromEntries(rows.map(({ key, id }) => [key, id]));
};
const writes = () => mirror.sandbox.requests.recent().filter(({ method }) => method !== 'GET');
const actions = () => served.app.db.query('select actor, action, key, detail from audit order by id');

/** p1 and p2 have certain jobs, p3 one without its reference and place, p4 none. */
async function fourPostings() {
  const list = [...postings(3), posting('p4', { city: 'Salem' })];
  await mirror.writeFeed(feedXml(list));
  const [one, two, three] = list.map(jobOf) as [Record<string, string>, ...Record<string, string>[]];
  const jobs = {
    p1: await makeJob(mirror, one),
    p2: await makeJob(mirror, { ...two, description: 'by hand' }),
    p3: await makeJob(mirror, without(three ?? {}, 'number', 'description')),
  };
  mirror.sandbox.requests.clear();
  return { list, jobs };
}

it('shows what it found, and adopts the sure ones that were shown; the next pull sends the differences', async () => {
  expect(await show()).toMatchObject({ state: 'none', items: [] });
  const { jobs } = await fourPostings();
  const found = await match();
  expect(found).toMatchObject({ state: 'done', asked: 'match', actor: 'token reviewer', adopted: 0 });
  expect(found).toMatchObject({ sure: 2, unsure: 1, unmatched: 1, other_jobs: 0, notes: [], next_cursor: null });
  expect(found.items).toMatchObject([
    { key: 'p1', verdict: 'sure', candidates: [{ job_id: jobs.p1, score: 1, differences: [], owned: false }] },
    {
      key: 'p2',
      title: 'Nurse p2',
      candidates: [
        { job_id: jobs.p2, differences: [{ field: 'description', job: 'by hand', posting: '<p>Work p2</p>' }] },
      ],
    },
  ]);
  expect((await show('?show=unmatched')).items).toMatchObject([{ key: 'p4', candidates: [] }]);
  const first = await show('?limit=1');
  expect(first.items).toHaveLength(1);
  expect((await show(`?limit=1&cursor=${first.next_cursor}`)).items).toMatchObject([{ key: 'p2' }]);
  expect([await mapped(), writes()]).toEqual([{}, []]);

  expect((await ask({ decision: 'sure', mark: 'other' })).status).toBe(409);
  expect(await run({ decision: 'sure', mark: found.mark })).toMatchObject({
    state: 'done',
    adopted: 2,
    refused: 0,
    sure: 0,
    unsure: 1,
    items: [],
  });
  expect([await mapped(), writes()]).toEqual([{ p1: jobs.p1, p2: jobs.p2 }, []]);
  expect((await ask({ decision: 'sure', mark: found.mark })).status).toBe(409);

  const [unsure] = (await show('?show=unsure')).items;
  const named = { decision: 'named', key: 'p3', job_id: jobs.p3, version: unsure.version };
  const other = await ask({ ...named, version: 'other' });
  expect([other.status, other.body.detail]).toEqual([
    409,
    expect.stringContaining(`version other was decided about, and it is version ${unsure.version} now`),
  ]);
  expect((await ask({ ...named, job_id: jobs.p1 })).status).toBe(409);
  expect(await run(named)).toMatchObject({ state: 'done', asked: 'named', adopted: 1, unsure: 0 });
  expect(await mapped()).toEqual({ p1: jobs.p1, p2: jobs.p2, p3: jobs.p3 });
  expect(await actions()).toEqual([
    { actor: 'token reviewer', action: 'match jobs', key: null, detail: { asked: 'match' } },
    { actor: 'token reviewer', action: 'match jobs', key: null, detail: { asked: 'sure' } },
    { actor: 'token reviewer', action: 'adopt jobs', key: null, detail: { added: 2 } },
    {
      actor: 'token reviewer',
      action: 'match jobs',
      key: null,
      detail: { asked: 'named', key: 'p3', siteJobId: jobs.p3 },
    },
    { actor: 'token reviewer', action: 'adopt jobs', key: 'p3', detail: { siteJobId: jobs.p3, anyway: false } },
  ]);
  expect(writes()).toEqual([]);

  expect(await mirror.sync()).toMatchObject({ created: 1, updated: 2, unchanged: 1 });
  expect(
    writes()
      .map(({ method, path }) => `${method} ${path}`)
      .sort(),
  ).toEqual(['POST /jobs.xml', `PUT /jobs/${jobs.p2}.xml`, `PUT /jobs/${jobs.p3}.xml`].sort());
});

it('adopts nothing that is different by now, and says why', async () => {
  const { list, jobs } = await fourPostings();
  const found = await match();
  const [unsure] = (await show('?show=unsure')).items;
  // A second job of p1, p2's job is gone, p3 has changed, and p5 is new with a certain job.
  const second = await makeJob(mirror, jobOf(list[0] as TestPosting));
  await removeJob(mirror, jobs.p2);
  await makeJob(mirror, jobOf(posting('p5')));
  const changed = [posting('p3', { description: 'another' }), posting('p5')];
  await mirror.writeFeed(feedXml([...list.slice(0, 2), ...changed, ...list.slice(3)]));
  const named = await run({ decision: 'named', key: 'p3', job_id: jobs.p3, version: unsure.version });
  expect(named).toMatchObject({ adopted: 0, refused: 1, refusals: [{ key: 'p3', job_id: jobs.p3 }] });
  expect(named.refusals[0].message).toContain(
    `the posting has changed since it was shown: version ${unsure.version} was decided about, and it is version `,
  );
  const end = await run({ decision: 'sure', mark: found.mark });
  // The job of p5 is certain, but was not shown.
  expect(end).toMatchObject({ state: 'done', adopted: 0, refused: 2, sure: 1, items: [{ key: 'p5' }] });
  expect(end.refusals.map(({ message }: { message: string }) => message)).toEqual([
    'it is no longer certain that this is its job',
    'it is no longer certain that this is its job',
  ]);
  expect(await mapped()).toEqual({});
  const [p1] = (await show('?show=unsure')).items;
  expect(p1.key).toBe('p1');
  expect(p1.candidates.map((each: { job_id: string }) => each.job_id).sort()).toEqual([jobs.p1, second].sort());
  // Named without a version, it is compared as it is now.
  expect(await run({ decision: 'named', key: 'p3', job_id: jobs.p1 })).toMatchObject({ adopted: 0, refused: 1 });
  expect(await run({ decision: 'named', key: 'p3', job_id: '0' })).toMatchObject({ adopted: 0, refused: 1 });
  expect(await run({ decision: 'named', key: 'p3', job_id: jobs.p3 })).toMatchObject({ adopted: 1, refused: 0 });
  expect(await mapped()).toEqual({ p3: jobs.p3 });
});

it.for([
  { source: 'is unchanged, as its server says', tag: '"1"' },
  { source: 'has no versions', tag: undefined },
])('decides about one match without the list, or the rest of a feed that $source', async ({ tag }) => {
  const { list, jobs } = await fourPostings();
  const rest = feedXml([posting('long', { description: 'x'.repeat(200_000) }), ...list.slice(3)]);
  const xml = feedXml(list).replace('</source>', rest.slice(rest.indexOf('<job>')));
  let isWhole = true;
  const server = await serveWeb(({ headers }, response) => {
    if (tag !== undefined) response.setHeader('ETag', tag);
    if (tag !== undefined && headers['if-none-match'] === tag) response.writeHead(304).end();
    else if (isWhole) response.end(xml);
    // Never ends.
    else response.write(xml.slice(0, -20));
  });
  try {
    await served.close();
    await mirror.configure('source: feed.xml', `source: ${server.origin}/feed.xml`);
    served = await serve(mirror, { sends: true, requestsPerMinute: 100_000 });
    await match();
    const [unsure] = (await show('?show=unsure')).items;
    isWhole = false;
    mirror.sandbox.requests.clear();
    const named = { decision: 'named', key: 'p3', job_id: jobs.p3, version: unsure.version };
    expect(await run(named)).toMatchObject({ state: 'done', adopted: 1, sure: 2, unsure: 0, unmatched: 2 });
    expect(await mapped()).toEqual({ p3: jobs.p3 });
    expect(mirror.sandbox.requests.recent().map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET /jobs/${jobs.p3}.xml`,
    ]);
    expect(server.requests).toHaveLength(2);
  } finally {
    await server.close();
  }
});

it('stays out of the way of a pull, and shows jobs that postings have got meanwhile', async () => {
  const { jobs } = await fourPostings();
  const found = await match();
  const lock = await lockWhenFree(served.app.db, acme);
  const refused = await ask({ decision: 'sure', mark: found.mark });
  expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('is being pulled')]);
  await lock.release();
  // The search before the first create finds the jobs of p1 and p2, and the one that may be p3's, and holds these creates.
  expect(await mirror.sync()).toMatchObject({ created: 1, in_doubt: 3 });
  expect((await show('?show=unsure')).items).toMatchObject([{ key: 'p3', own_job_id: null }]);
  const { body } = await served.api('GET', 'review?feed=acme');
  const { id } = body.items.find(({ key }: { key: string }) => key === 'p3');
  const { version } = (await served.api('GET', `review/${id}`)).body;
  const settled = await served.api('POST', `review/${id}/settle`, { verdict: 'missing', version });
  expect(settled.status).toBe(200);
  await expect.poll(async () => Object.keys(await mapped())).toContain('p3');
  expect((await show('?show=unsure')).items).toMatchObject([{ key: 'p3', own_job_id: expect.any(String) }]);
  const end = await run({ decision: 'sure', mark: found.mark });
  expect(end).toMatchObject({ adopted: 2, refused: 0, sure: 0, unsure: 0, unmatched: 0 });
  expect(await mapped()).toMatchObject({ p1: jobs.p1, p2: jobs.p2 });
  // What differs is planned as the doubt ends, so the server may send it before this pull begins.
  expect(await mirror.sync()).toMatchObject({ created: 0, in_doubt: 0, pending: 0 });
  expect(writes().flatMap(({ method, path }) => (method === 'POST' ? [] : `${method} ${path}`))).toEqual([
    `PUT /jobs/${jobs.p2}.xml`,
  ]);
});

it('is shown as interrupted after the end of its process, and can be started again', async () => {
  const { jobs } = await fourPostings();
  const found = await match();
  await served.app.db.query(`update adopt_run set state = 'running', worker = 0, ended_at = null`);
  expect(await show()).toMatchObject({ state: 'interrupted', sure: 2, mark: found.mark });
  const page = await anna.get('/adopt?feed=acme');
  expect(page.text).toContain('was interrupted');
  expect((await run({ decision: 'sure', mark: found.mark })).adopted).toBe(2);
  expect(await mapped()).toEqual({ p1: jobs.p1, p2: jobs.p2 });
});

it('ends when the process stops, and says that it was interrupted', async () => {
  await served.close();
  await mirror.close();
  const limits = '{ requests_per_second: 1, concurrency: 1, timeout_seconds: 5 }';
  mirror = await openMirror({ searched: true, site: { limits }, sandbox: { pageSize: 1 } });
  served = await serve(mirror, { sends: true });
  await fourPostings();
  expect((await ask({ decision: 'match' })).status).toBe(202);
  expect((await ask({ decision: 'match' })).status).toBe(409);
  await expect.poll(async () => (await show()).progress).toContain('reading the list of site board');
  await served.close();
  expect(await served.app.db.query('select state, adopted from adopt_run')).toEqual([
    { state: 'interrupted', adopted: 0 },
  ]);
});

it('keeps what was shown if the site cannot be read, and says why', async () => {
  await fourPostings();
  const found = await match();
  await mirror.writeFeed('<html>down</html>');
  const failed = await run({ decision: 'sure', mark: found.mark });
  expect(failed).toMatchObject({ state: 'failed', adopted: 0, sure: 2, mark: found.mark });
  expect(failed.message).toContain('Nothing was adopted');
  expect(await mapped()).toEqual({});
});
