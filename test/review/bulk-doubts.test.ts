// Many creates in doubt at once: sent again only if nothing speaks for a job on the site, and only as they were shown.
import { afterEach, describe, expect, it } from 'vitest';
import { textOf } from '../../src/plan/message.ts';
import { postingKey, siteJobId } from '../../src/posting/identifiers.ts';
import { runBulk } from '../../src/review/bulk/run-bulk.ts';
import { type BulkRequest, previewBulk, startBulk } from '../../src/review/bulk/start-bulk.ts';
import { resolveEntry } from '../../src/review/resolve-entry.ts';
import { tokenOf, tokenOfChange, tokenOfOne } from '../../src/review/seen.ts';
import { explainDoubts, findDoubt, refuteDoubt } from '../../src/store/change/doubt.ts';
import { type DoubtAction, setBulkState, skippedOfBulk } from '../../src/store/review/bulk-actions.ts';
import { readMarks } from '../../src/store/review/review-totals.ts';
import { runProgram } from '../cli/run-program.ts';
import { posting } from '../support/indeed-feed.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { serve } from '../web/served.ts';
import { acme, openStage, type Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

/** Shorter than an hour, and longer than an action takes on a busy machine. */
const WITHOUT_LIST = { site: { list_path: undefined, doubts: '{ resolve_after_seconds: 600 }' } };
const UNREAD = 'the list was cut';

/** The keys in doubt for an hour. */
async function doubts(keys: readonly string[], options: Parameters<typeof openStage>[0] = WITHOUT_LIST): Promise<void> {
  stage = await openStage(options);
  await stage.pull(keys.map((key) => posting(key)));
  for (const key of keys) await stage.fail(key, 'in_doubt');
  await age();
}

const age = () => stage.app.db.query(`update change set attempt_started = attempt_started - interval '1 hour'`);
const doubtOf = async (key: string) => {
  const doubt = await findDoubt(stage.app.db, acme, postingKey(key));
  if (doubt === undefined) throw new Error(`${key} is not in doubt`);
  return doubt;
};
/** What a reading of the list has told; nothing without `possible`. */
const explain = async (key: string, possible?: Parameters<typeof explainDoubts>[4]) =>
  explainDoubts(stage.app.db, [await doubtOf(key)], UNREAD, 60_000, possible);
const CANDIDATES = { candidates: [siteJobId('job-7')], crowded: false };

const start = (action: DoubtAction, more: Partial<BulkRequest> = {}) =>
  startBulk(stage.app.db, stage.app.config, {
    action,
    actor: 'ann',
    detail: { query: { kinds: ['in_doubt'] } },
    ...more,
  });
async function started(action: DoubtAction, more: Partial<BulkRequest> = {}): Promise<number> {
  const end = await start(action, more);
  if (end.kind === 'refused') throw new Error(textOf(end.message));
  return end.bulk.id;
}
const run = (id: number, batch = 2) =>
  runBulk(stage.app.db, stage.app.config, id, { signal: new AbortController().signal, batch });
const states = async () =>
  Object.fromEntries(
    (await stage.app.db.query<{ key: string; state: string }>('select key, state from change order by key')).map(
      ({ key, state }) => [key, state],
    ),
  );
const left = async (id: number) =>
  Object.fromEntries((await skippedOfBulk(stage.app.db, id)).map(({ message, count }) => [message, count]));

it('a page and a command say that nothing searches a site without a list', async () => {
  await doubts(['a']);
  const served = await serve(stage.mirror);
  try {
    const anna = await visitorOf(served, 'anna');
    const { text } = await anna.get('/doubts');
    expect(text).toContain('Doubts of site board wait for you, as it has no list to search');
    const [, entry = ''] = /\/doubts\/(\d+)/.exec(text) ?? [];
    const told = 'the site has no list to search (list_path). Look for the job on the site, and decide.';
    expect((await anna.get(`/doubts/${entry}`)).text).toContain(told);
    expect((await runProgram(stage.mirror, 'review', 'show', entry, '--candidates')).out).toContain(told);
  } finally {
    await served.close();
  }
});

describe('the site has made none of them', () => {
  it('they are sent again, each once, also after a stop', async () => {
    await doubts(['a', 'b', 'c']);
    const id = await started('missing');
    const stopping = new AbortController();
    const first = await runBulk(stage.app.db, stage.app.config, id, {
      signal: stopping.signal,
      batch: 2,
      onProgress: () => stopping.abort(),
    });
    expect(first?.bulk).toMatchObject({ state: 'open', done: 2 });
    await setBulkState(stage.app.db, id, 'stopped');
    expect((await run(id))?.acted).toEqual([]);
    await setBulkState(stage.app.db, id, 'open');
    const ends = await Promise.all([run(id), run(id, 1)]);
    expect(ends.flatMap((end) => end?.acted ?? [])).toHaveLength(1);
    expect(await states()).toEqual({ a: 'ready', b: 'ready', c: 'ready' });
    const audit = await stage.app.db.query(
      `select actor, key, detail->>'kind' as kind, detail->>'bulk' as bulk from audit order by key`,
    );
    expect(audit).toEqual(['a', 'b', 'c'].map((key) => ({ actor: 'ann', key, kind: 'missing', bulk: String(id) })));
    expect(await stage.claim('a')).toMatchObject({ request: { kind: 'create' } });
  });

  it('whatever a job on the site may belong to, or whose request may still arrive, is left alone', async () => {
    await doubts(['a', 'b', 'c', 'd', 'e']);
    await explain('b', CANDIDATES);
    // A list that can't be read later does not clear what an earlier one has shown.
    await explain('b');
    await explain('c', { candidates: [], crowded: true });
    await stage.app.db.query(`update change set found_job_id = 'job-9' where key = 'd'`);
    await stage.app.db.query(`update change set attempt_started = clock_timestamp() where key = 'e'`);
    const id = await started('missing');
    await run(id);
    expect(await states()).toEqual({ a: 'ready', b: 'in_doubt', c: 'in_doubt', d: 'in_doubt', e: 'in_doubt' });
    expect(await left(id)).toEqual({
      'a job on the site may be its own: compare the two, and decide it by itself': 3,
      'its request may still arrive: decide it later': 1,
    });
  });

  it('what a list has shown stays known when the record breaks a rule for a while', async () => {
    await doubts(['a'], {});
    await explain('a', CANDIDATES);
    await stage.pull([posting('a', { state: 'Jalisco' })]);
    await stage.pull([posting('a', { title: 'Cook' })]);
    await explain('a');
    const id = await started('missing');
    await run(id);
    expect(await states()).toEqual({ a: 'in_doubt' });
  });

  it('one whose job showed the reference of another posting is left alone: the list does not decide it', async () => {
    await doubts(['a'], {});
    await stage.app.db.query(`update change set not_before = 'infinity'`);
    for (const action of ['missing', 'check'] as const) {
      const id = await started(action);
      await run(id);
      expect(await left(id)).toEqual({
        'a job on the site may be its own: compare the two, and decide it by itself': 1,
      });
    }
    expect(await stage.app.db.query('select state, not_before::text from change')).toEqual([
      { state: 'in_doubt', not_before: 'infinity' },
    ]);
  });

  it('none is sent again while base_url leads elsewhere: without doubts, that would count as the address of the jobs', async () => {
    await doubts(['a']);
    const { db } = stage.app;
    await db.query(
      `insert into site_state (site, address) values ('board', 'former.example.com')
       on conflict (site) do update set address = excluded.address`,
    );
    const id = await started('missing');
    await run(id);
    expect(await states()).toEqual({ a: 'in_doubt' });
    expect(await left(id)).toEqual({
      'the jobs of its site were made at another address than base_url has now: what that shows proves nothing': 1,
    });
  });

  it('where the site has a list, only what that list could not tell is sent again', async () => {
    await doubts(['a', 'b'], {});
    await explain('b');
    const id = await started('missing');
    await run(id);
    expect(await states()).toEqual({ a: 'in_doubt', b: 'ready' });
    expect(await left(id)).toEqual({ 'the list of its site is being read for it, and decides it': 1 });
  });

  it('a create that is in doubt anew, or has a possible job since, is not the one that was shown', async () => {
    await doubts(['a', 'b', 'c']);
    const { db, config } = stage.app;
    const seen = tokenOf((await previewBulk(db, config, 'missing', { kinds: ['in_doubt'] })).selected);
    const ids = await Promise.all(['a', 'b', 'c'].map((key) => stage.entry(key)));
    const each = (await readMarks(db, ids)).map(tokenOfOne);
    const id = await started('missing');
    await refuteDoubt(db, await doubtOf('a'), 5);
    await stage.fail('a', 'in_doubt');
    await age();
    await explain('b', CANDIDATES);
    expect(await start('missing', { seen: { tokens: [seen] } })).toMatchObject({ kind: 'refused' });
    expect(await start('missing', { seen: { tokens: each }, detail: { query: { ids } } })).toMatchObject({
      message: expect.stringContaining(`entries ${ids[0]}, ${ids[1]} changed); look at it again`),
    });
    await run(id);
    expect(await states()).toEqual({ a: 'in_doubt', b: 'in_doubt', c: 'ready' });
    expect(await left(id)).toEqual({ 'it has changed since it was selected': 2 });
  });
});

it('a single decision is refused as well once a job may be its own that was not shown', async () => {
  await doubts(['a']);
  const { db } = stage.app;
  const change = await stage.change('a');
  const seen = change && { tokens: [tokenOfChange(change)] };
  await explain('a', CANDIDATES);
  const options = { actor: 'ann', site: undefined, seen };
  const end = await resolveEntry(db, await stage.entry('a'), { kind: 'missing' }, options);
  expect(end).toMatchObject({ kind: 'refused', stale: true });
  expect(await states()).toEqual({ a: 'in_doubt' });
});

it('the list is read again for those that it can decide', async () => {
  await doubts(['a', 'b'], {});
  await explain('a', CANDIDATES);
  await stage.app.db.query(`update change set found_job_id = 'job-9' where key = 'b'`);
  const id = await started('check');
  await run(id);
  const due = await stage.app.db.query(`select key, not_before = '-infinity' as due, state from change order by key`);
  expect(due).toEqual([
    { key: 'a', due: true, state: 'in_doubt' },
    { key: 'b', due: true, state: 'in_doubt' },
  ]);
  expect(await left(id)).toEqual({ 'a job on the site may be its own: compare the two, and decide it by itself': 1 });
});

it('the terminal asks, or needs the mark of exactly these', async () => {
  await doubts(['a', 'b']);
  const decide = (...args: readonly string[]) => runProgram(stage.mirror, 'review', 'settle', ...args, '--no-send');
  const asked = await decide('acme', '--missing');
  expect(asked.status).toBe(1);
  expect(asked.errors).toContain('This sends 2 creates in doubt again');
  const [, mark = ''] = /--mark (\w+)/.exec(asked.errors) ?? [];
  expect(await states()).toEqual({ a: 'in_doubt', b: 'in_doubt' });
  expect(await decide('acme', '--missing', '--mark', `${mark}0`)).toMatchObject({ status: 1 });
  expect(await states()).toEqual({ a: 'in_doubt', b: 'in_doubt' });
  expect(await decide('acme', '--missing', '--mark', mark)).toMatchObject({ status: 0 });
  expect(await states()).toEqual({ a: 'ready', b: 'ready' });
});
