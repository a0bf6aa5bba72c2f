// Groups of review entries, and one decision for many of them, over the HTTP API.
// @module-tag slow
import { afterEach, expect, it } from 'vitest';
import { startBulkRunner } from '../../src/runtime/bulk-runner.ts';
import { OPERATIONS } from '../../src/web/http-routes.ts';
import { openStage } from '../review/stage.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { type Answer, type Served, serve } from './served.ts';

let served: Served;
const stage = openedForEach(() => openStage());
afterEach(() => served.close());

function fits(id: string, answer: Answer): Answer['body'] {
  const operation = OPERATIONS.find((each) => each.id === id);
  expect(answer.status, answer.text).toBe(operation?.status);
  expect(operation?.response.safeParse(answer.body).error?.issues ?? []).toEqual([]);
  return answer.body;
}

const act = (body: unknown) => served.api('POST', 'review/actions', body);
const show = async (bulk: number) => fits('showReviewAction', await served.api('GET', `review/actions/${bulk}`));

async function pullOdd(): Promise<string> {
  const odd = ['a', 'b', 'c'].map((key) => posting(key, { state: key === 'c' ? 'Sonora' : 'Jalisco' }));
  await stage.pull([...postings(2), ...odd]);
  const { items } = fits('listReviewGroups', await served.api('GET', 'review/groups'));
  expect(items).toEqual([
    expect.objectContaining({
      kind: 'rejected',
      field: 'location-state',
      count: 3,
      values: [
        { value: 'Jalisco', count: 2 },
        { value: 'Sonora', count: 1 },
      ],
      feeds: [{ feed: 'acme', count: 3 }],
    }),
  ]);
  return items[0].group;
}

it('lists a group, edits all of it by a table, and sends the result', async () => {
  served = await serve(stage.mirror, { sends: true });
  const group = await pullOdd();
  const started = await act({
    action: 'edit',
    filter: { group },
    expected: 3,
    edit: { map: { field: 'location-state', values: { Jalisco: 'Texas', Sonora: 'Arizona' } } },
  });
  const { bulk } = fits('actOnReview', started);
  expect(started.headers.get('location')).toBe(`/api/v1/review/actions/${bulk}`);
  await expect.poll(async () => (await show(bulk)).state).toBe('done');
  expect(await show(bulk)).toMatchObject({ action: 'edit', actor: 'token reviewer', total: 3, done: 3, left_alone: 0 });
  await expect.poll(async () => (await stage.mirror.siteJobs()).size).toBe(5);
  expect(fits('listReviewActions', await served.api('GET', 'review/actions')).items).toHaveLength(1);
  expect((await served.api('POST', `review/actions/${bulk}/stop`)).status).toBe(409);
});

it('acts only on as many entries as somebody saw', async () => {
  served = await serve(stage.mirror);
  const group = await pullOdd();
  const refused = await act({ action: 'discard', filter: { group }, expected: 2 });
  expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('3 entries now, not 2')]);
  expect((await act({ action: 'retry', filter: { feed: 'acme', kinds: ['held'] }, expected: 1 })).status).toBe(409);
  expect(await stage.app.db.query('select from bulk_action')).toEqual([]);
});

it('approves held deletes only if exactly those are held that somebody saw', async () => {
  served = await serve(stage.mirror);
  await stage.pull(postings(10));
  await stage.acceptAll();
  await stage.pull(postings(2));
  const preview = async () =>
    fits('previewActionOnReview', await served.api('GET', 'review/selection?action=approve&feed=acme'));
  const { count, mark } = await preview();
  expect(count).toBe(8);
  const approve = (body: object) => act({ action: 'approve', filter: { feed: 'acme' }, expected: 8, ...body });
  expect((await approve({})).status).toBe(400);
  expect((await approve({ mark: '0123456789' })).status).toBe(409);
  // Another one is held instead.
  await stage.pull([posting('p1'), posting('p3')]);
  expect((await preview()).count).toBe(8);
  const other = await approve({ mark });
  expect([other.status, other.body.detail]).toEqual([409, expect.stringContaining('has changed')]);
  expect(await stage.app.db.query('select from bulk_action')).toEqual([]);
  fits('actOnReview', await approve({ mark: (await preview()).mark }));
});

it('another process carries out what was started and left, and each entry once', async () => {
  served = await serve(stage.mirror);
  const group = await pullOdd();
  const { bulk } = fits('actOnReview', await act({ action: 'discard', filter: { group }, expected: 3, reason: 'old' }));
  expect(await show(bulk)).toMatchObject({ state: 'open', to_do: 3, reason: 'old' });
  await stage.app.db.query(`update bulk_action set touched_at = now() - interval '1 minute'`);
  const runners = [startBulkRunner(served.app, () => undefined), startBulkRunner(served.app, () => undefined)];
  await expect.poll(async () => (await show(bulk)).state).toBe('done');
  await Promise.all(runners.map((runner) => runner.stop(5_000)));
  expect(await stage.app.db.query('select key from audit order by key')).toEqual([
    { key: 'a' },
    { key: 'b' },
    { key: 'c' },
  ]);
});

it('a process without the feed leaves an edit to one that has it', async () => {
  served = await serve(stage.mirror);
  const group = await pullOdd();
  const edit = { set: { 'location-state': 'Texas' } };
  const { bulk } = fits('actOnReview', await act({ action: 'edit', filter: { group }, expected: 3, edit }));
  await stage.app.db.query(`update bulk_action set touched_at = now() - interval '1 minute'`);
  const without = { ...served.app, config: { ...served.app.config, feeds: new Map() } };
  const other = startBulkRunner(without, () => undefined);
  await stage.app.db.query('select pg_sleep(1)');
  await other.stop(5_000);
  expect(await show(bulk)).toMatchObject({ state: 'open', to_do: 3, left_alone: 0 });
  const runner = startBulkRunner(served.app, () => undefined);
  await expect.poll(async () => (await show(bulk)).state).toBe('done');
  await runner.stop(5_000);
  expect(await show(bulk)).toMatchObject({ done: 3, left_alone: 0 });
});

it('a stopped action stays stopped until somebody continues it', async () => {
  served = await serve(stage.mirror);
  const group = await pullOdd();
  const { bulk } = fits('actOnReview', await act({ action: 'discard', filter: { group }, expected: 3 }));
  fits('stopReviewAction', await served.api('POST', `review/actions/${bulk}/stop`));
  await stage.app.db.query(`update bulk_action set touched_at = now() - interval '1 minute'`);
  const runner = startBulkRunner(served.app, () => undefined);
  runner.begin(bulk);
  await runner.stop(5_000);
  expect(await show(bulk)).toMatchObject({ state: 'stopped', to_do: 3 });
  expect(fits('continueReviewAction', await served.api('POST', `review/actions/${bulk}/continue`)).state).toBe('open');
  expect((await served.api('POST', 'review/actions/999/stop')).status).toBe(404);
});
