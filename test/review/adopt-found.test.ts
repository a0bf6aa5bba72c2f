// Adopting found jobs as an action on many entries: each exactly once, whatever stops it, and none is left alone because of trouble
// of the site.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { textOf } from '../../src/plan/message.ts';
import { siteName } from '../../src/posting/identifiers.ts';
import { continueBulk, stopBulk } from '../../src/review/bulk/run-bulk.ts';
import { readFoundJobs, startAdoptingFound } from '../../src/review/jobs/proposals.ts';
import { resolveEntry } from '../../src/review/resolve-entry.ts';
import type { App } from '../../src/runtime/app.ts';
import { carryOutBulk, startBulkRunner } from '../../src/runtime/bulk-runner.ts';
import type { Fault } from '../../src/sandbox/interface/fault-table.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { findBulk, openUnattended, skippedOfBulk } from '../../src/store/review/bulk-actions.ts';
import { pauseSite, resumeSite } from '../../src/store/site/site-state.ts';
import { openFoundJobs } from '../support/found-jobs.ts';
import { changeJob, removeJob } from '../support/hand-made-jobs.ts';
import { postings } from '../support/indeed-feed.ts';
import type { Mirror } from '../support/mirror.ts';
import { acme } from './stage.ts';

let mirror: Mirror;
let jobs: ReadonlyMap<string, string>;
let app: App;
beforeEach(async () => {
  ({ mirror, jobs } = await openFoundJobs());
  app = await mirror.app();
});
afterEach(() => mirror?.close());

const board = siteName('board');
const OF = { feed: acme, site: board, referenceField: 'number' };
const FOUND = { of: OF, actor: 'ann', unattended: true };

async function start(): Promise<number> {
  const { mark } = await readFoundJobs(app.db, OF);
  const end = await startAdoptingFound(app.db, app.config, { ...FOUND, mark });
  if (end.kind === 'refused') throw new Error(textOf(end.message));
  return end.bulk.id;
}
async function run(id: number, signal = new AbortController().signal, onProgress = () => {}) {
  const end = await carryOutBulk(app, id, { signal, onProgress, askAgainMs: 200 });
  if (end === undefined || end === 'taken') throw new Error(`it did not run: ${end}`);
  return end;
}
/** The site answers about the second one only after the stop. */
async function stopAfterFirst(id: number): Promise<void> {
  await mirror.sandbox.setFaults([{ name: 'latency', ms: 3_000, on: ['show'], after: 1, count: 1 }]);
  const { bulk } = await run(id, undefined, () => void stopBulk(app.db, id, 'ann'));
  expect(bulk).toMatchObject({ state: 'stopped', done: 1, skipped: 0 });
}
const mapped = async () =>
  Object.fromEntries(
    (await app.db.query<{ key: string; id: string }>('select key, site_job_id as id from mapping order by key')).map(
      ({ key, id }) => [key, id],
    ),
  );
const decisions = () =>
  app.db.query(
    `select actor, key, detail->>'siteJobId' as job, (detail->>'bulk')::int as bulk from audit where action = 'settle' order by key`,
  );
const CERTAIN = ['p1', 'p2', 'p3'];
const certain = () => Object.fromEntries(CERTAIN.map((key) => [key, jobs.get(key)]));
const entryOf = async (key: string): Promise<number> =>
  (await app.db.query<{ id: number }>('select id from change where key = $1', [key]))[0]?.id ?? 0;
const left = async (id: number) =>
  Object.fromEntries((await skippedOfBulk(app.db, id)).map(({ message, count }) => [message, count]));

it('is about exactly the jobs that were shown, and one at a time for a feed', async () => {
  const { mark } = await readFoundJobs(app.db, OF);
  const find = (key: string, id: string | null) =>
    app.db.query('update change set found_job_id = $2 where key = $1', [key, id]);
  await find('p3', null);
  expect(await startAdoptingFound(app.db, app.config, { ...FOUND, mark })).toMatchObject({
    kind: 'refused',
    message: 'other jobs are certain than those that were shown; look at them again. Nothing was adopted.',
  });
  expect(await app.db.query('select from bulk_action')).toEqual([]);
  await find('p3', jobs.get('p3') ?? null);
  const id = await start();
  await expect(start()).rejects.toThrow(
    `action ${id} adopts found jobs of feed acme already: wait for its end, or stop it`,
  );
  await stopBulk(app.db, id, 'ann');
  const next = await start();
  expect(next).toBeGreaterThan(id);
  await stopBulk(app.db, next, 'ann');
  for (const key of CERTAIN) await find(key, null);
  const none = await readFoundJobs(app.db, OF);
  expect(await startAdoptingFound(app.db, app.config, { ...FOUND, mark: none.mark })).toMatchObject({
    kind: 'refused',
  });
});

it('each is adopted once, however often it is stopped, interrupted and continued', async () => {
  const id = await start();
  await stopAfterFirst(id);
  expect((await run(id)).acted).toEqual([]);
  await continueBulk(app.db, id, 'ann');
  const stopping = new AbortController();
  await run(id, stopping.signal, () => stopping.abort());
  expect(await findBulk(app.db, id)).toMatchObject({ state: 'open', done: 2 });
  expect((await run(id)).bulk).toMatchObject({ state: 'done', done: 3, skipped: 0, total: 3 });
  expect(await mapped()).toEqual(certain());
  expect(await decisions()).toEqual(CERTAIN.map((key) => ({ actor: 'ann', key, job: jobs.get(key), bulk: id })));
  expect(mirror.sandbox.requests.recent().filter(({ method }) => method !== 'GET')).toEqual([]);
});

it('one process at a time asks the site; a second one asks nothing', async () => {
  const id = await start();
  const db = openDatabase(mirror.env.DATABASE_URL as string);
  await db.query('select 1');
  await mirror.sandbox.setFaults([{ name: 'latency', ms: 3_000, on: ['show'], count: 1 }]);
  const ends = await Promise.all(
    [app, { ...app, db }].map((each) => carryOutBulk(each, id, { signal: new AbortController().signal })),
  );
  expect(ends.map((end) => (end === 'taken' ? end : end?.bulk.done)).sort()).toEqual([3, 'taken']);
  expect(mirror.sandbox.requests.recent()).toHaveLength(3);
  await db.close();
});

it('what is no longer certain, in doubt, or what it was is left alone with the reason', async () => {
  const id = await start();
  await changeJob(mirror, jobs.get('p1') ?? '', { number: 'of-another' });
  await removeJob(mirror, jobs.get('p2') ?? '');
  // Meanwhile the site shows the reference of p3 twice.
  await app.db.query(
    `insert into site_reference (site, site_job_id, reference, shown, field)
     select site, 'another', reference, shown, field from site_reference where site_job_id = $1`,
    [jobs.get('p3')],
  );
  expect((await run(id)).bulk).toMatchObject({ state: 'done', done: 0, skipped: 3 });
  expect(await left(id)).toEqual({
    '2 jobs on the site show this reference': 1,
    [`site board has no job ${jobs.get('p2')}`]: 1,
    [`job ${jobs.get('p1')}, "Made earlier", seems to be another job, not the one that was sent`]: 1,
  });
  await changeJob(mirror, jobs.get('p1') ?? '', { number: 'p1' });
  const again = await start();
  const options = { actor: 'ben', site: undefined };
  await resolveEntry(app.db, await entryOf('p1'), { kind: 'missing' }, options);
  await run(again);
  expect(await left(again)).toMatchObject({ 'it has changed since it was selected': 1 });
  expect(await mapped()).toEqual({});
});

const TROUBLE: readonly (readonly [string, readonly Fault[], string])[] = [
  ['is overloaded', [{ name: '503', on: ['show'], seconds: 3600, retryAfter: 'seconds' }], 'answered 503'],
  ['fails', [{ name: '500', on: ['show'] }], 'answered 500'],
  ['is not reached', [{ name: 'reset-before', on: ['show'] }], 'did not show job'],
  ['shows a page instead', [{ name: 'html', status: 200, on: ['show'] }], 'is not the XML of a job'],
  ['refuses the token', [{ name: '401', on: ['show'] }], 'answered 401'],
];

it('trouble of the site is waited for, and said', async () => {
  const id = await start();
  await pauseSite(app.db, board, 'for a test', undefined);
  expect((await run(id)).bulk).toMatchObject({
    state: 'open',
    waitsFor: expect.stringContaining('paused (for a test)'),
  });
  expect(mirror.sandbox.requests.recent()).toEqual([]);
  await resumeSite(app.db, board);
  for (const [what, faults, said] of TROUBLE) {
    await mirror.sandbox.setFaults(faults);
    const { bulk } = await run(id);
    expect({ what, ...bulk }).toMatchObject({
      what,
      state: 'open',
      done: 0,
      skipped: 0,
      waitsFor: expect.stringContaining(said),
    });
  }
  // The token is not sent again before it is tried by the process that sends.
  mirror.sandbox.requests.clear();
  expect((await run(id)).bulk.waitsFor).toContain('does not accept the token');
  expect(mirror.sandbox.requests.recent()).toEqual([]);
  await mirror.sandbox.setFaults([]);
  await resumeSite(app.db, board);
  // Nobody goes on before the time has come.
  await app.db.query(`update bulk_action set touched_at = now() - interval '1 hour'`);
  expect(await openUnattended(app.db, 15_000)).toEqual([]);
  await app.db.query(`update bulk_action set not_before = now()`);
  expect(await openUnattended(app.db, 15_000)).toMatchObject([{ id, action: 'adopt', feeds: ['acme'] }]);
  const runner = startBulkRunner(app, () => undefined);
  await expect.poll(async () => (await findBulk(app.db, id))?.state).toBe('done');
  await runner.stop(5_000);
  expect(await findBulk(app.db, id)).toMatchObject({ done: 3, skipped: 0, waitsFor: null });
  expect(await mapped()).toEqual(certain());
});

/** One is adopted, and the action is ready to go on. */
async function adoptFirst(): Promise<number> {
  const id = await start();
  await stopAfterFirst(id);
  await continueBulk(app.db, id, 'ann');
  return id;
}

it('a job about which the site gives no clear answer does not keep the others from being adopted', async () => {
  const id = await adoptFirst();
  // Three tries, and the same again when it is asked for once more: after three tries, the proof by another job, and the third job.
  const tries = { name: '500', on: ['show'], count: 3 } as const;
  await mirror.sandbox.setFaults([tries, { ...tries, after: 2 }]);
  expect((await run(id)).bulk).toMatchObject({ state: 'done', done: 2, skipped: 1 });
  expect(Object.keys(await left(id))).toEqual([expect.stringContaining('it answered 500')]);
});

it('a single answer that is trouble or not clear, or a site that shows none of its jobs, leaves none alone', async () => {
  const id = await adoptFirst();
  await mirror.sandbox.setFaults([{ name: '503', on: ['show'], seconds: 60, retryAfter: 'seconds', count: 1 }]);
  expect((await run(id)).bulk).toMatchObject({
    state: 'open',
    done: 1,
    skipped: 0,
    waitsFor: expect.stringContaining('503'),
  });
  await mirror.sandbox.setFaults([{ name: 'html', status: 404, on: ['show'] }]);
  const { bulk } = await run(id);
  expect(bulk).toMatchObject({
    state: 'open',
    done: 1,
    skipped: 0,
    waitsFor: expect.stringContaining('is not proven'),
  });
  // Three tries for the first one of those that are left, which is asked for once more, and none for others.
  await mirror.sandbox.setFaults([{ name: '500', on: ['show'], count: 3 }]);
  expect((await run(id)).bulk).toMatchObject({ state: 'done', done: 3, skipped: 0 });
});

it('none is certain that may be the job of another user of the site', async () => {
  const foreign = jobs.get('p1') ?? '';
  await app.db.query('update site_reference set foreign_owner = true where site_job_id = $1', [foreign]);
  const { sure, left: others } = await readFoundJobs(app.db, OF);
  expect(sure.map(({ key }) => key)).toEqual(['p2', 'p3']);
  expect(others).toContainEqual(
    expect.objectContaining({ key: 'p1', message: `job ${foreign} may be another user’s` }),
  );
});

it('none is certain whose posting is to be removed, or that is of another site than the configured one', async () => {
  const id = await start();
  expect(await mirror.syncOf(postings(5).filter(({ key }) => key !== 'p1'))).toMatchObject({ in_doubt: 4, deleted: 0 });
  await mirror.stopEngine();
  app = await mirror.app();
  const { sure, left: others } = await readFoundJobs(app.db, OF);
  expect(sure.map(({ key }) => key)).toEqual(['p2', 'p3']);
  expect(others).toContainEqual(
    expect.objectContaining({
      key: 'p1',
      message: 'its posting is to be removed: once adopted, the job would be deleted',
    }),
  );
  expect((await run(id)).bulk).toMatchObject({ state: 'done', done: 2, skipped: 1 });
  expect(await mapped()).not.toHaveProperty('p1');
  const elsewhere = await readFoundJobs(app.db, { ...OF, site: siteName('other') });
  expect(elsewhere.sure).toEqual([]);
  expect(elsewhere.left.map(({ message }) => message)).toContain('it is of site board, not of other');
});
