// The HTTP API over real HTTP: reads, pulls and actions on review, and answers as their schemas say.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockFeed } from '../../src/store/locks/feed-locks.ts';
import { OPERATIONS } from '../../src/web/http-routes.ts';
import { doOnce } from '../../src/web/read-request.ts';
import { acme, openStage, type Stage } from '../review/stage.ts';
import { ageDoubts } from '../support/age-doubts.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Answer, type Served, serve } from './served.ts';

let stage: Stage;
let served: Served;
beforeEach(async () => {
  // Longer than a test takes on a busy machine.
  stage = await openStage({ site: { doubts: '{ resolve_after_seconds: 600 }' } });
  served = await serve(stage.mirror);
});
afterEach(async () => {
  await served.close();
  await stage.close();
});

/** The body of an answer that must be as its schema says. */
function fits(id: string, answer: Answer): Answer['body'] {
  const operation = OPERATIONS.find((each) => each.id === id);
  expect(answer.status, answer.text).toBe(operation?.status);
  expect(operation?.response.safeParse(answer.body).error?.issues ?? []).toEqual([]);
  return answer.body;
}

const odd = (key = 'odd') => posting(key, { state: 'Jalisco' });
const get = (path: string) => served.api('GET', path);

describe('reads', () => {
  beforeEach(async () => {
    await stage.pull([...postings(3), odd()]);
    await stage.acceptAll();
  });

  it('feeds and sites with their status, a pull with its counts, and what became of a posting', async () => {
    const { items } = fits('listFeeds', await get('feeds'));
    expect(items).toEqual([expect.objectContaining({ feed: 'acme', site: 'board', live: 3, rejected: 1 })]);
    expect(fits('showFeed', await get('feeds/acme'))).toEqual(items[0]);
    expect(fits('listSites', await get('sites')).items).toEqual([
      expect.objectContaining({ site: 'board', state: 'sending' }),
    ]);
    const pull = fits('showPull', await get(`pulls/${items[0].last_pull.pull}`));
    // Nobody is pulling, so the reader of the pull concludes it.
    expect(pull).toMatchObject({ feed: 'acme', status: 'review', complete: true, seen: 4, created: 3 });
    expect(fits('showPosting', await get('feeds/acme/postings/p1'))).toMatchObject({
      state: 'live',
      site_job_id: 'job-p1',
      reasons: [],
      change: null,
    });
    expect(fits('showPosting', await get('feeds/acme/postings/odd'))).toMatchObject({
      state: 'rejected',
      site_job_id: null,
      reasons: [expect.stringContaining('not a valid U.S. state')],
    });
  });

  it('a posting by a part of its key or title, if asked, and only if one posting has it', async () => {
    expect((await get('feeds/acme/postings/od')).status).toBe(404);
    expect(fits('showPosting', await get('feeds/acme/postings/OD?like=true'))).toMatchObject({ key: 'odd' });
    expect(fits('showPosting', await get('feeds/acme/postings/p1?like=true'))).toMatchObject({ key: 'p1' });
    const several = await get('feeds/acme/postings/nurse?like=true');
    expect([several.status, several.body.postings]).toEqual([
      409,
      ['odd', 'p1', 'p2', 'p3'].map((key) => ({ key, title: `Nurse ${key}` })),
    ]);
    expect((await get('feeds/acme/postings/nobody?like=true')).status).toBe(404);
  });

  it('says of a wrong value what it must be, in words', async () => {
    const said = async (answer: Promise<Answer>) => {
      const { status, body } = await answer;
      return [status, body.errors.map(({ message }: { message: string }) => message).join('; ')];
    };
    const choice = 'must be one of create, update, delete';
    expect(await said(get('changes?operation=x'))).toEqual([400, choice]);
    const pause = (body: object) => said(served.api('POST', 'pause', body));
    expect(await pause({ feed: 1 })).toEqual([400, 'must be a text']);
    expect(await pause({ all: 'yes' })).toEqual([400, 'must be true or false']);
    expect(await said(served.api('POST', 'review/actions', { action: 'x' }))).toEqual([
      400,
      expect.stringMatching(/^must be one of edit, retry, /),
    ]);
  });

  it('postings page by page in the order of their keys, by state, key or job ID', async () => {
    const keys: string[] = [];
    let cursor = '';
    do {
      const page = fits('listPostings', await get(`feeds/acme/postings?limit=2${cursor}`));
      expect(page.items.length).toBeLessThanOrEqual(2);
      keys.push(...page.items.map((item: { key: string }) => item.key));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(keys).toEqual(['odd', 'p1', 'p2', 'p3']);
    const list = async (query: string) =>
      fits('listPostings', await get(`feeds/acme/postings?${query}`)).items.map((item: { key: string }) => item.key);
    expect(await list('state=rejected')).toEqual(['odd']);
    expect(await list('state=live,grace')).toEqual(['p1', 'p2', 'p3']);
    expect(await list('q=p2')).toEqual(['p2']);
    expect(await list('q=job-p3')).toEqual(['p3']);
    expect(await list('q=nothing')).toEqual([]);
    expect(await list('q=nurse')).toEqual(['odd', 'p1', 'p2', 'p3']);
    expect(await list('q=nurse&state=rejected')).toEqual(['odd']);
  });

  it('review, page by page and filtered, and one entry', async () => {
    await stage.pull([...postings(3), odd('a'), odd('b'), odd('c')]);
    const keys: string[] = [];
    let cursor = '';
    do {
      const page = fits('listReview', await get(`review?limit=2&kind=rejected${cursor}`));
      keys.push(...page.items.map((item: { key: string }) => item.key));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(keys.sort()).toEqual(['a', 'b', 'c']);
    const count = async (query: string) => fits('listReview', await get(`review?${query}`)).items.length;
    expect(await count('kind=rejected,failed')).toBe(3);
    expect(await count('kind=held')).toBe(0);
    expect(await count('feed=acme&q=JALISCO')).toBe(3);
    expect(await count('q=nothing')).toBe(0);
    expect(await count('discarded=true')).toBe(0);
    expect(await count('site=board&limit=200')).toBe(3);
    const id = await stage.entry('a');
    expect(fits('showEntry', await get(`review/${id}`))).toMatchObject({ id, key: 'a', kind: 'rejected' });
  });

  it('groups, actions on many entries, and rules, each page by page', { tags: 'slow' }, async () => {
    await stage.pull([...postings(3), odd('a'), odd('b'), posting('c', { title: '' }), posting('d', { state: '' })]);
    const walk = async (operation: string, path: string, expected: number) => {
      const items: Record<string, unknown>[] = [];
      let cursor = '';
      do {
        const page = fits(operation, await get(`${path}?limit=1${cursor}`));
        expect(page.items).toHaveLength(1);
        items.push(...page.items);
        cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
      } while (cursor !== '' && items.length <= expected);
      const whole = fits(operation, await get(`${path}?limit=${expected}`));
      expect([items, whole.next_cursor]).toEqual([whole.items, null]);
      return items;
    };
    const groups = await walk('listReviewGroups', 'review/groups', 3);
    expect(groups.map(({ count }) => count)).toEqual([2, 1, 1]);
    const api = async (path: string, body?: unknown) => {
      const { status, text, body: answer } = await served.api('POST', path, body);
      expect([200, 201, 202], text).toContain(status);
      return answer;
    };
    const rules: number[] = [];
    for (const { group, count } of groups) {
      rules.push((await api('review/rules', { action: 'discard', group })).rule);
      await api('review/actions', { action: 'discard', filter: { group }, expected: count });
    }
    await api(`review/rules/${rules[2]}/end`);
    expect((await walk('listReviewRules', 'review/rules', 3)).map(({ rule }) => rule)).toEqual([
      rules[1],
      rules[0],
      rules[2],
    ]);
    const bulks = (await walk('listReviewActions', 'review/actions', 3)).map(({ bulk }) => bulk as number);
    expect(bulks).toEqual(bulks.toSorted((one, other) => other - one));
    for (const path of ['review/groups', 'review/actions', 'review/rules']) {
      expect([path, (await get(`${path}?cursor=eyJmcm9tIjoxfQ`)).status]).toEqual([path, 400]);
    }
  });

  it('an answer that its reader has: 304', async () => {
    const first = await get('feeds/acme/postings');
    const tag = first.headers.get('etag') ?? '';
    const again = await served.api('GET', 'feeds/acme/postings', undefined, { headers: { 'If-None-Match': tag } });
    expect([again.status, again.text]).toEqual([304, '']);
    await stage.pull([...postings(3), odd(), odd('new')]);
    const changed = await served.api('GET', 'feeds/acme/postings', undefined, { headers: { 'If-None-Match': tag } });
    expect(changed.status).toBe(200);
  });
});

describe('actions', () => {
  const act = (id: number, action: string, body?: unknown) => served.api('POST', `review/${id}/${action}`, body);
  const audit = () => stage.app.db.query<{ action: string }>('select actor, action from audit order by id');

  it('edit: makes the posting ready, under the name of the token', async () => {
    await stage.pull([odd()]);
    const id = await stage.entry('odd');
    const { version } = (await get(`review/${id}`)).body;
    const done = await act(id, 'edit', { fields: { 'location-state': 'MA' }, version });
    expect(fits('editEntry', done)).toMatchObject({ action: 'edit', entry: id, result: 'done' });
    expect(await stage.change('odd')).toMatchObject({ state: 'ready' });
    expect(await audit()).toEqual([{ actor: 'token reviewer', action: 'edit' }]);
  });

  it('an edit and a discard of an older version are refused with both versions', async () => {
    const actions = [
      ['edit', { fields: { 'location-state': 'ME' } }],
      ['discard', {}],
    ] as const;
    await stage.pull(actions.map(([action]) => odd(action)));
    const seen = new Map<string, string>();
    for (const [action] of actions) {
      seen.set(action, (await get(`review/${await stage.entry(action)}`)).body.version);
    }
    await stage.pull(actions.map(([action]) => posting(action, { state: 'Sonora' })));
    for (const [action, body] of actions) {
      const [id, version] = [await stage.entry(action), seen.get(action)];
      const before = await stage.change(action);
      const stale = await act(id, action, { ...body, version });
      expect(stale.status).toBe(409);
      expect(stale.body).toMatchObject({
        detail: expect.stringContaining('it has changed since you saw it'),
        yours: { version, ...body },
        current: { id, desired_fields: { 'location-state': 'Sonora' } },
      });
      expect(stale.body.current.version).toBe(stale.body.version);
      expect(stale.body.version).not.toBe(version);
      expect(await stage.change(action)).toEqual({ ...before, ageMs: expect.any(Number) });
      const now = await act(id, action, { ...body, version: stale.body.version });
      expect(now.status).toBe(200);
    }
  });

  it('discard of a record that has changed since is refused', { tags: 'slow' }, async () => {
    const conflicting = (title: string) => [posting('same'), posting('same', { title }), posting('other')];
    await stage.pull(conflicting('One'));
    const { items } = (await get('review?kind=duplicate')).body;
    const [{ id }] = items;
    const { version } = (await get(`review/${id}`)).body;
    await stage.pull(conflicting('Two'));
    const [row] = (await get('review?kind=duplicate')).body.items;
    expect(row.id).toBe(id);
    expect((await act(id, 'discard', { version })).status).toBe(409);
    expect((await act(id, 'discard', { version: (await get(`review/${id}`)).body.version })).status).toBe(200);
  });

  it('discard and reopen', async () => {
    await stage.pull([odd()]);
    const id = await stage.entry('odd');
    fits('discardEntry', await act(id, 'discard'));
    expect(fits('showEntry', await get(`review/${id}`))).toMatchObject({ kind: 'discarded' });
    expect((await act(id, 'discard')).status).toBe(409);
    fits('reopenEntry', await act(id, 'reopen'));
    expect(await stage.change('odd')).toMatchObject({ state: 'rejected' });
    expect((await audit()).map(({ action }) => action)).toEqual(['discard', 'reopen']);
  });

  it('retry and approve', async () => {
    await stage.pull(postings(8));
    await stage.fail('p1', 'failed');
    fits('retryEntry', await act(await stage.entry('p1'), 'retry', {}));
    expect(await stage.change('p1')).toMatchObject({ state: 'ready' });
    await stage.acceptAll();
    await stage.pull([posting('p1')]);
    expect(await stage.change('p8')).toMatchObject({ state: 'held' });
    expect((await act(await stage.entry('p8'), 'retry')).body.detail).toContain('it is held');
    const id = await stage.entry('p8');
    const { version } = (await get(`review/${id}`)).body;
    expect((await act(id, 'approve')).status).toBe(400);
    expect((await act(id, 'approve', {})).status).toBe(400);
    // Back, and held again: another delete than the one that was seen.
    await stage.pull(postings(8));
    await stage.pull([posting('p1')]);
    expect(await stage.entry('p8')).toBe(id);
    expect((await act(id, 'approve', { version })).status).toBe(409);
    expect(await stage.change('p8')).toMatchObject({ state: 'held' });
    fits('approveEntry', await act(id, 'approve', { version: (await get(`review/${id}`)).body.version }));
    expect(await stage.change('p8')).toMatchObject({ state: 'ready', desired: 'absent' });
  });

  it('settle: a create in doubt is sent again, or adopted after a look at the site', async () => {
    await stage.pull(postings(2));
    await stage.fail('p1', 'in_doubt');
    await stage.fail('p2', 'in_doubt');
    const [p1, p2] = [await stage.entry('p1'), await stage.entry('p2')];
    const version = async (id: number) => (await get(`review/${id}`)).body.version;
    const seen = await version(p1);
    const other = await act(p1, 'settle', { verdict: 'exists', site_job_id: '4711', version: seen });
    expect([other.status, other.body.detail]).toEqual([409, expect.stringContaining('has no job 4711')]);
    expect((await act(p1, 'settle', { verdict: 'missing' })).status).toBe(400);
    const young = await act(p1, 'settle', { verdict: 'missing', version: seen });
    expect([young.status, young.body.detail]).toEqual([409, expect.stringContaining('may still arrive')]);
    await ageDoubts(stage.app.db);
    fits('settleEntry', await act(p1, 'settle', { verdict: 'missing', version: seen }));
    expect(await stage.change('p1')).toMatchObject({ state: 'ready' });
    // In doubt again: nobody has seen this one.
    await stage.fail('p1', 'in_doubt');
    expect(await stage.entry('p1')).toBe(p1);
    expect((await act(p1, 'settle', { verdict: 'missing', version: seen })).status).toBe(409);
    expect(await stage.change('p1')).toMatchObject({ state: 'in_doubt' });
    const noJob = { verdict: 'exists', site_job_id: '', version: await version(p2) };
    expect((await act(p2, 'settle', noJob)).status).toBe(400);
    expect(await stage.change('p2')).toMatchObject({ state: 'in_doubt' });
  });

  it('resume a site', async () => {
    await stage.app.db.query(`insert into site_state (site, paused_since) values ('board', now())
      on conflict (site) do update set paused_since = now()`);
    expect(fits('resumeSite', await served.api('POST', 'sites/board/resume'))).toEqual({
      site: 'board',
      was_paused: true,
      token_proven: true,
    });
    expect((await get('sites')).body.items[0].state).toBe('sending');
  });
});

describe('Idempotency-Key', () => {
  const discard = (id: number, key: string) =>
    served.api('POST', `review/${id}/discard`, undefined, { headers: { 'Idempotency-Key': key } });

  it('a repeated request gets the same answer and does nothing again', async () => {
    await stage.pull([odd(), odd('other')]);
    const id = await stage.entry('odd');
    const first = await discard(id, 'k1');
    const again = await discard(id, 'k1');
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await stage.app.db.query('select action from audit')).toEqual([{ action: 'discard' }]);
    expect((await discard(await stage.entry('other'), 'k1')).status).toBe(422);
    expect(await stage.change('other')).toMatchObject({ state: 'rejected' });
  });

  it('two at once act once', async () => {
    await stage.pull([odd()]);
    const id = await stage.entry('odd');
    const answers = await Promise.all([discard(id, 'k2'), discard(id, 'k2'), discard(id, 'k2')]);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    for (const { status, body } of answers) if (status !== 200) expect(body.detail).toContain('is being answered');
    expect(await stage.app.db.query('select action from audit')).toEqual([{ action: 'discard' }]);
  });

  it('is being answered only as long as a process lives that answers it', async () => {
    const { db } = stage.app;
    const aged = (seconds: number) =>
      db.query('update web_request set claimed_at = clock_timestamp() - make_interval(secs => $1)', [seconds]);
    let answer: (response: Response) => void = () => undefined;
    const slow = { who: 'reviewer', key: 'k5', target: 'POST slow', body: Buffer.from('') };
    const first = doOnce(db, slow, () => new Promise((resolve) => (answer = resolve)));
    await expect.poll(() => db.query('select 1 from web_request')).toHaveLength(1);
    // However long it takes: the process that answers it says so.
    await aged(3_600);
    await expect
      .poll(() => db.query(`select 1 from web_request where claimed_at > clock_timestamp() - interval '1 minute'`))
      .toHaveLength(1);
    await expect(doOnce(db, slow, async () => new Response())).rejects.toThrow('is being answered');
    answer(new Response('done'));
    expect(await (await first).text()).toBe('done');
    // One that died does not.
    await db.query('update web_request set status = null, headers = null, body = null');
    await aged(db.lockTiming.staleAfterMs / 1000 + 1);
    await expect(doOnce(db, slow, async () => new Response())).rejects.toThrow('is not known');
    const again = await doOnce(db, { ...slow, mayRepeat: true }, async () => new Response('again'));
    expect(await again.text()).toBe('again');
  });

  it('work that is done is not done again because its answer could not be kept', { tags: 'slow' }, async () => {
    await stage.pull([odd()]);
    const id = await stage.entry('odd');
    await stage.app.db.query('alter table web_request add constraint broken check (status is null)');
    expect((await discard(id, 'k4')).status).toBe(500);
    expect(await stage.change('odd')).toMatchObject({ state: 'discarded' });
    const again = await discard(id, 'k4');
    expect([again.status, again.body.detail]).toEqual([409, expect.stringContaining('is being answered')]);
    // Nor later, when the entry may be about something else.
    await served.api('POST', `review/${id}/reopen`);
    await stage.app.db.query("update web_request set claimed_at = now() - interval '23 hours'");
    const late = await discard(id, 'k4');
    expect([late.status, late.body.detail]).toEqual([409, expect.stringContaining('is not known')]);
    expect(await stage.app.db.query('select action from audit order by id')).toEqual([
      { action: 'discard' },
      { action: 'reopen' },
    ]);
  });

  it('a refused request may be repeated: nothing was done', { tags: 'slow' }, async () => {
    await stage.pull([odd()]);
    const id = await stage.entry('odd');
    const retry = () => served.api('POST', `review/${id}/retry`, undefined, { headers: { 'Idempotency-Key': 'k3' } });
    expect((await retry()).status).toBe(409);
    await served.api('POST', `review/${id}/edit`, { fields: { 'location-state': 'MA' } });
    await stage.fail('odd', 'rejected');
    expect((await retry()).status).toBe(200);
  });
});

describe('scopes', () => {
  it('let a token do what it is for, and nobody without one do anything', async () => {
    for (const [as, method, path, status] of [
      ['reader', 'GET', 'feeds', 200],
      ['reader', 'POST', 'feeds/acme/pulls', 403],
      ['reader', 'POST', 'feeds/acme/postings/p1/sync', 403],
      ['reader', 'POST', 'sites/board/resume', 403],
      ['puller', 'POST', 'sites/board/resume', 403],
      ['puller', 'POST', 'feeds/acme/pulls', 409],
      ['reviewer', 'POST', 'sites/board/resume', 200],
    ] as const) {
      const answer = await served.api(method, path, undefined, { as });
      expect([as, method, path, answer.status]).toEqual([as, method, path, status]);
    }
    const answer = await served.api('GET', 'feeds', undefined, { as: null });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="jobmirror"');
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
  });
});

it('starts a pull, whose changes are sent', async () => {
  await served.close();
  served = await serve(stage.mirror, { sends: true });
  await stage.mirror.writeFeed(feedXml(postings(3)));
  const started = await served.api('POST', 'feeds/acme/pulls', undefined, { as: 'puller' });
  const { pull } = fits('startPull', started);
  expect(started.headers.get('location')).toBe(`/api/v1/pulls/${pull}`);
  await expect.poll(async () => fits('showPull', await get(`pulls/${pull}`)).status).toBe('mirrored');
  expect((await stage.mirror.siteJobs()).size).toBe(3);
  expect(await stage.app.db.query('select actor, action, feed from audit')).toEqual([
    { actor: 'token puller', action: 'pull', feed: 'acme' },
  ]);
});

it('brings one posting up to date, after a pull that runs', { tags: 'slow' }, async () => {
  await served.close();
  served = await serve(stage.mirror, { sends: true });
  await stage.mirror.writeFeed(feedXml([posting('A/1')]));
  const lock = await lockFeed(stage.app.db, acme);
  const queued = await served.api('POST', 'feeds/acme/postings/A%2F1/sync', undefined, { as: 'puller' });
  expect(fits('syncPosting', queued)).toEqual({ feed: 'acme', key: 'A/1', pull: null });
  expect(queued.headers.get('location')).toBe('/api/v1/feeds/acme/postings/A%2F1');
  await lock?.release();
  await expect.poll(async () => (await get('feeds/acme/postings/A%2F1')).body?.state).toBe('live');
  expect((await served.api('POST', 'feeds/nothing/postings/x/sync')).status).toBe(404);
});

it('says of a feed that only the database has that it is not in the configuration', { tags: 'slow' }, async () => {
  await stage.app.db.query(`insert into feed_state (feed, site) values ('former', 'board')`);
  await served.close();
  served = await serve(stage.mirror, { sends: true });
  expect(await served.api('POST', 'feeds/former/pulls')).toMatchObject({
    status: 409,
    body: { detail: 'feed former is not in the configuration that this process uses' },
  });
});

it('starts no second pull of a feed that is being pulled', { tags: 'slow' }, async () => {
  await served.close();
  served = await serve(stage.mirror, { sends: true });
  const lock = await lockFeed(stage.app.db, acme);
  const refused = await served.api('POST', 'feeds/acme/pulls');
  await lock?.release();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([409, '5']);
  expect(refused.body.detail).toContain('is being pulled right now');
});

it('limits how often a token may ask', async () => {
  await served.close();
  served = await serve(stage.mirror, { requestsPerMinute: 3 });
  const statuses = [];
  for (let n = 0; n < 5; n++) statuses.push((await get('sites')).status);
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  expect((await served.api('GET', 'sites', undefined, { as: 'reader' })).status).toBe(200);
  expect(Number((await get('sites')).headers.get('retry-after'))).toBeGreaterThan(0);
  const guess = () => served.api('GET', 'sites', undefined, { as: null, headers: { Authorization: 'Bearer guessed' } });
  const guesses = [];
  for (let n = 0; n < 5; n++) guesses.push((await guess()).status);
  expect(guesses).toEqual([401, 401, 401, 429, 429]);
});
