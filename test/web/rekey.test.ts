// Changed keys over HTTP: the API's operations, and refusals of what is stale or malformed, on the page as well.
import { beforeEach, expect, it } from 'vitest';
import { decideRekey, type RekeyDecision, rekeyPolicy, suspectedPairs } from '../../src/review/decide-rekey.ts';
import { lockFeed } from '../../src/store/locks/feed-locks.ts';
import { acme, openStage } from '../review/stage.ts';
import { posting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { type FormVisitor, visitorOf } from './form-visitor.ts';
import { serve } from './served.ts';

let anna: FormVisitor;
const stage = openedForEach(() => openStage());
const served = openedForEach(() => serve(stage.mirror));
beforeEach(async () => {
  anna = await visitorOf(served, 'anna');
  await stage.pull(wards('a'));
  await stage.acceptAll();
});

const wards = (prefix: string, count = 12) =>
  Array.from({ length: count }, (_, at) =>
    posting(`${prefix}${at}`, { title: `Nurse ${at}`, description: `<p>Ward ${at}</p>` }),
  );
const show = async (query = '') => (await served.api('GET', `feeds/acme/rekey${query}`)).body;
const decide = (body: unknown) => served.api('POST', 'feeds/acme/rekey', body);
const keys = async () =>
  (await stage.app.db.query<{ key: string }>('select key from mapping order by key')).map(({ key }) => key);

it('answers that nothing is suspected, and decides nothing then', async () => {
  expect(await show()).toEqual({ feed: 'acme', suspected: false, items: [], next_cursor: null });
  expect((await decide({ decision: 'sure', mark: 'x' })).status).toBe(409);
  expect((await decide({ decision: 'not_rekey', mark: 'x' })).status).toBe(409);
  expect((await decide({ decision: 'pair', key: 'a1', old_key: 'a2' })).status).toBe(409);
  expect((await anna.post('/rekey', { feed: 'acme', decision: 'sure', mark: 'x' })).status).toBe(409);
});

it('lists the pairs page by page, and binds them all by their mark, but not while the feed is pulled', async () => {
  await stage.pull(wards('b'));
  const first = await show('?limit=5');
  expect(first).toMatchObject({ suspected: true, sure: 12, unsure: 0, new: 0, missing: 0 });
  expect(first.items[0]).toMatchObject({ key: 'b0', old_key: 'a0', job_id: 'job-a0', verdict: 'sure' });
  const second = await show(`?limit=10&cursor=${first.next_cursor}`);
  expect([first.items.length, second.items.length, second.next_cursor]).toEqual([5, 7, null]);
  // Further pulls of the same feed change nothing of what was shown.
  await stage.pull(wards('b'));
  const lock = await lockFeed(stage.app.db, acme);
  const refused = await decide({ decision: 'sure', mark: first.marks.sure });
  await lock?.release();
  expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('try again')]);
  const bound = await decide({ decision: 'sure', mark: first.marks.sure });
  expect(bound.body).toEqual({ feed: 'acme', not_rekey: false, bound: 12, refused: [], left: 0 });
  expect(await keys()).toEqual(
    wards('b')
      .map(({ key }) => key)
      .sort(),
  );
  expect((await decide({ decision: 'sure', mark: first.marks.sure })).status).toBe(409);
});

it('binds one pair as it was shown, and refuses another version', async () => {
  await stage.pull(wards('b'));
  const { items, marks } = await show();
  const [{ key, old_key, version }] = items;
  expect((await decide({ decision: 'pair', key, old_key, version: 'other' })).status).toBe(409);
  expect((await decide({ decision: 'pair', key, old_key: 'a5', version })).status).toBe(409);
  expect((await decide({ decision: 'pair', key, old_key, version })).body).toMatchObject({ bound: 1 });
  expect(await keys()).toContain(key);
  // One pair fewer is sure now.
  expect((await decide({ decision: 'sure', mark: marks.sure })).status).toBe(409);
  expect((await decide({ decision: 'not_rekey', mark: marks.all })).status).toBe(409);
  const now = await show();
  expect((await decide({ decision: 'not_rekey', mark: now.marks.all })).body).toMatchObject({
    not_rekey: true,
    creates: 11,
  });
  expect((await show()).suspected).toBe(false);
});

it('binds nothing where the feed is not configured, as its policy is not known there', { tags: 'slow' }, async () => {
  await stage.pull(wards('b'));
  const { marks } = await show();
  const policy = rekeyPolicy({ ...stage.app.config, feeds: new Map() }, acme);
  const decide = (decision: RekeyDecision) =>
    decideRekey(stage.app.db, { feed: acme, actor: 'tester', policy }, decision);
  const refused = { kind: 'refused', message: expect.stringContaining('decide where it is configured') };
  expect(await decide({ decision: 'sure', mark: marks.sure })).toEqual(refused);
  expect(await decide({ decision: 'not_rekey', mark: marks.all })).toMatchObject({ kind: 'denied', creates: 12 });
});

it('binds at most so many in one go, and the rest by their new mark', { tags: 'slow' }, async () => {
  await stage.pull(wards('b'));
  for (const [bound, left] of [
    [5, 7],
    [5, 2],
    [2, 0],
  ]) {
    const page = await suspectedPairs(stage.app.db, acme, { show: 'sure', after: undefined, limit: 1 });
    const decision = { decision: 'sure', mark: page?.marks.sure ?? '' } as const;
    expect(await decideRekey(stage.app.db, { feed: acme, actor: 'tester', policy: undefined }, decision, 5)).toEqual({
      kind: 'bound',
      bound,
      refused: [],
      left,
    });
  }
  expect(await suspectedPairs(stage.app.db, acme, { show: 'sure', after: undefined, limit: 1 })).toBeUndefined();
});

it('refuses malformed requests, and changes nothing', { tags: 'slow' }, async () => {
  await stage.pull(wards('b'));
  const before = await keys();
  const statuses = async (paths: readonly string[]) =>
    Promise.all(paths.map(async (path) => (await anna.get(path)).status));
  expect(await statuses(['/rekey?feed=nowhere', '/rekey?feed=%00', '/rekey?feed=acme&feed=acme'])).toEqual([
    404, 400, 400,
  ]);
  const past = Buffer.from(JSON.stringify({ rank: 9, length: 9, named: 'x' })).toString('base64url');
  expect(
    await statuses(['/rekey?feed=acme&show=x', '/rekey?feed=acme&cursor=x', '/rekey?feed=acme&cursor=eyJmcm9tIjoxfQ']),
  ).toEqual([400, 400, 400]);
  expect(await statuses([`/rekey?feed=acme&cursor=${past}`, '/rekey?feed=acme&show=missing'])).toEqual([200, 200]);
  const post = async (fields: Readonly<Record<string, string | readonly string[]>>) =>
    (await anna.post('/rekey', { feed: 'acme', ...fields })).status;
  expect(await post({})).toBe(400);
  expect(await post({ decision: 'x' })).toBe(400);
  expect(await post({ decision: 'sure' })).toBe(400);
  expect(await post({ decision: 'sure', mark: 'x' })).toBe(409);
  expect(await post({ decision: 'sure', mark: ['x', 'y'] })).toBe(400);
  expect(await post({ decision: 'not_rekey', mark: 'x' })).toBe(400);
  expect(await post({ decision: 'not_rekey', confirmed: 'true', mark: 'x' })).toBe(409);
  expect(await post({ decision: 'pair', key: 'b1' })).toBe(400);
  expect(await post({ decision: 'pair', key: 'b1', old_key: 'x'.repeat(5_000) })).toBe(400);
  expect(await post({ decision: 'pair', key: 'b1', old_key: 'nowhere' })).toBe(409);
  expect(await post({ decision: 'pair', key: '\0', old_key: 'a1' })).toBe(400);
  expect(await post({ feed: 'nowhere', decision: 'sure', mark: 'x' })).toBe(404);
  expect(await post({ csrf: 'forged', decision: 'pair', key: 'b1', old_key: 'a1' })).toBe(403);
  for (const body of [
    {},
    { decision: 'sure' },
    { decision: 'pair', key: 'b1' },
    { decision: 'sure', mark: 1 },
    [],
    '{',
  ]) {
    expect((await decide(body)).status, JSON.stringify(body)).toBe(400);
  }
  for (const query of ['?show=x', '?cursor=x', '?limit=0', '?cursor=eyJmcm9tIjotMX0']) {
    expect((await served.api('GET', `feeds/acme/rekey${query}`)).status, query).toBe(400);
  }
  expect((await served.api('GET', 'feeds/nowhere/rekey')).status).toBe(404);
  const asReader = await served.api('POST', 'feeds/acme/rekey', { decision: 'sure', mark: 'x' }, { as: 'puller' });
  expect(asReader.status).toBe(403);
  expect(await keys()).toEqual(before);
});

it('protects the jobs: API and pages offer the comparison, and refuse what would end or keep them', async () => {
  await stage.pull(wards('b'));
  const held = (await served.api('GET', 'review?kind=held')).body.items;
  expect(held).toHaveLength(12);
  const [{ id }] = held;
  const entry = (await served.api('GET', `review/${id}`)).body;
  expect(entry.actions).toEqual([
    { kind: 'compare_keys', entry: id, parameters: { feed: 'acme' }, effect: expect.any(String) },
  ]);
  for (const [action, body] of [
    ['approve', { version: entry.version }],
    ['discard', { version: entry.version }],
    ['retry', {}],
  ] as const) {
    const { status, body: problem } = await served.api('POST', `review/${id}/${action}`, body);
    expect([action, status]).toEqual([action, 409]);
    expect(problem.detail).toContain('feeds rekey acme');
  }
  const chosen = await served.api('GET', 'review/selection?action=approve&feed=acme');
  expect(chosen.body).toMatchObject({ count: 0, answer_first: expect.stringContaining('feeds rekey acme') });
  for (const action of ['approve', 'discard']) {
    for (const filter of [{ feed: 'acme' }, { ids: [id] }, { groups: [entry.group ?? ''] }].slice(0, 2)) {
      const body = { action, filter, expected: 'ids' in filter ? 1 : 12, mark: chosen.body.mark };
      const { status, body: problem } = await served.api('POST', 'review/actions', body);
      expect([status, problem.detail]).toEqual([409, expect.stringContaining('feeds rekey acme')]);
    }
  }
  const feed = (await served.api('GET', 'feeds/acme')).body;
  expect(JSON.stringify(feed.actions)).not.toContain('approve');
  for (const page of [
    '/held?feed=acme',
    '/review/entries?feed=acme',
    '/posting?feed=acme&key=a0',
    '/review/confirm?action=approve&feed=acme',
    '/review/confirm?action=discard&feed=acme',
  ]) {
    const { status, text } = await anna.get(page);
    expect([page, status]).toEqual([page, 200]);
    expect(text, page).not.toMatch(/value="(approve|approve-all|keep|discard)"|<button[^>]*>(Delete|Discard|Keep)/);
    expect(text, page).toContain('keys');
  }
  const refused = await anna.post('/held', {
    feed: 'acme',
    decision: 'approve-all',
    confirmed: 'true',
    expected: '12',
    seen: 'x',
  });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('seem to have changed');
  expect((await anna.post(`/entries/${id}`, { action: 'approve', version: entry.version })).status).not.toBe(200);
  expect(await keys()).toHaveLength(12);
  expect(await stage.app.db.query(`select from change where state <> 'held' and desired = 'absent'`)).toEqual([]);
});
