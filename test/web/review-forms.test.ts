// The pages of review without scripts: each action acts on exactly what was shown, by those who may.
import { beforeEach, describe, expect, it } from 'vitest';
import { startBulkRunner } from '../../src/runtime/bulk-runner.ts';
import { FilterForm } from '../../src/web/pages/review/filter-form.tsx';
import { openStage } from '../review/stage.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { boxesOf, type Fields, type FormVisitor, visitorOf } from './form-visitor.ts';
import { type Answer, serve } from './served.ts';

let anna: FormVisitor;
const stage = openedForEach(() => openStage());
const served = openedForEach(() => serve(stage.mirror));
beforeEach(async () => {
  anna = await visitorOf(served, 'anna');
});

const odd = (...keys: string[]) => keys.map((key) => posting(key, { state: 'Jalisco' }));
const groupOf = async (): Promise<string> => (await served.api('GET', 'review/groups')).body.items[0].group;
const bulks = async () => stage.app.db.query<{ id: number }>('select id, action, total from bulk_action order by id');
const states = async () =>
  Object.fromEntries(
    (await stage.app.db.query<{ key: string; state: string }>('select key, state from change order by key')).map(
      ({ key, state }) => [key, state],
    ),
  );

/** Carries out what was started. */
async function runAll(): Promise<void> {
  const runner = startBulkRunner(served.app, () => undefined);
  for (const { id } of await bulks()) runner.begin(id);
  const open = async () => stage.app.db.query(`select id from bulk_action where state = 'open'`);
  await expect.poll(open).toEqual([]);
  await runner.stop(5_000);
}

it('the filter writes the name of a feed as it is, and a kind in words', () => {
  const texts = { feed: 'acme_2', kind: 'in_doubt' };
  const form = String(FilterForm({ address: '/review', texts, feeds: ['acme_2'], sites: [] }));
  expect(form).toContain('<summary>Filter: acme_2, in doubt</summary>');
  expect(form).toMatch(
    /<option value="acme_2" selected="">acme_2<\/option>.*<option value="in_doubt" selected="">in doubt</,
  );
});

it('an action of a terminal that waits for a site is continued or stopped on its page', { tags: 'slow' }, async () => {
  await stage.pull(odd('a'));
  await anna.press(await anna.get(`/review/entries?group=${await groupOf()}`), 'Set for 1', { value: 'Texas' });
  const [{ id }] = (await bulks()) as [{ id: number }];
  await stage.app.db.query(
    `update bulk_action set detail = detail - 'unattended', waits_for = 'site board is paused', not_before = 'infinity'`,
  );
  const page = await anna.get(`/review/actions/${id}`);
  expect(page.text).toContain('Waiting: site board is paused<br/>It does not continue by itself.');
  expect(page.text).toContain('Stop after the present batch');
  const continued = await anna.press(page, 'Continue');
  expect(continued.text).toContain('running: 0 of 1 entry');
  expect(continued.text).not.toMatch(/Waiting|>Continue</);
  expect((await (await visitorOf(served, 'ben')).get(`/review/actions/${id}`)).text).not.toContain('Stop after');
  await runAll();
  expect(await states()).toEqual({ a: 'ready' });
});

describe('an action on a group', () => {
  it('does nothing once other entries are in the group: the page comes back with what was typed, and works then', async () => {
    await stage.pull(odd('a', 'b'));
    const page = await anna.get(`/review/entries?group=${await groupOf()}`);
    await stage.pull(odd('a', 'b', 'c'));
    const again = await anna.press(page, 'Set for all 2', { value: 'Texas' });
    expect(again.status).toBe(409);
    expect(again.text).toContain('3 entries now, not 2');
    // As many, but another one is in place of an entry that was shown.
    await stage.pull([posting('a'), ...odd('b', 'c', 'd')]);
    const once = await anna.press(again, 'Set for all 3');
    expect(once.status).toBe(409);
    expect(once.text).toContain('has changed since you saw it');
    expect(again.text).not.toContain('Send again all');
    expect(again.text).toContain('Send again: not for 3 entries, as it breaks a rule of the site');
    expect(await bulks()).toEqual([]);
    const done = await anna.press(once, 'Set for all 3');
    expect(done.text).toContain('edit: sets location-state to &quot;Texas&quot;');
    await runAll();
    expect(await states()).toEqual({ a: 'ready', b: 'ready', c: 'ready', d: 'ready' });
  });

  it('replaces values by a table, and says which entries it left alone and why', async () => {
    await stage.pull([...odd('a'), posting('b', { state: 'Sonora' }), posting('c', { state: 'Ontario' })]);
    const page = await anna.get(`/review/entries?group=${await groupOf()}`);
    expect(page.text).toContain('New value for Jalisco');
    const at = /name="old-(\d)" value="Jalisco"/.exec(page.text)?.[1];
    const { text } = await anna.press(page, 'Replace values', { [`new-${at}`]: 'Texas', table: 'Sonora,Arizona' });
    await runAll();
    const [, id] = /Action (\d+):/.exec(text) ?? [];
    const ended = await anna.get(`/review/actions/${id}`);
    expect(ended.text).toContain('done: 3 of 3 entries');
    expect(ended.text).toContain('1: the table has no line for location-state &quot;Ontario&quot;');
    expect(await states()).toEqual({ a: 'ready', b: 'ready', c: 'rejected' });
  });

  it('can be a rule for new entries, which the page then shows and ends', { tags: 'slow' }, async () => {
    await stage.pull(odd('a'));
    const group = await groupOf();
    const page = await anna.get(`/review/entries?group=${group}`);
    await anna.press(page, 'Set for 1', { value: 'Texas', also_new: 'true' });
    const rules = await anna.get('/review/rules');
    expect(rules.text).toContain('edit: sets location-state to &quot;Texas&quot;');
    const ended = await anna.press(rules, 'End');
    expect(ended.text).toContain('ended by ');
    expect((await anna.post('/review/rules/1/end', {})).status).toBe(409);
    expect((await anna.post('/review/rules/999/end', {})).status).toBe(404);
  });
});

describe('an action on chosen entries', () => {
  it('reaches only these, and none that has changed since it was shown', async () => {
    await stage.pull(odd('a', 'b', 'c'));
    const page = await anna.get(`/review/entries?group=${await groupOf()}`);
    const [one = '', two = ''] = boxesOf(page);
    await anna.press(page, /^Set for/, { value: 'Texas', entry: [one, two] });
    await runAll();
    expect(await states()).toEqual({ a: 'ready', b: 'ready', c: 'rejected' });
    const other = await anna.get(`/review/entries?group=${await groupOf()}`);
    await stage.pull([...odd('a', 'b'), posting('c', { state: 'Jalisco', title: 'Other' })]);
    const again = await anna.press(other, /^Set for/, { value: 'Texas', entry: boxesOf(other) });
    expect(again.status).toBe(409);
    expect(again.text).toMatch(
      /The selection has changed since you saw it \(entry \d+ changed\); look at it again\. Nothing was done\./,
    );
    expect(await bulks()).toHaveLength(1);
  });

  it('are still chosen when the page comes back with what was typed, as it would be about all otherwise', async () => {
    await stage.pull([...odd('a', 'b', 'c'), posting('d', { state: 'Sonora' })]);
    const page = await anna.get(`/review/entries?group=${await groupOf()}`);
    const [, two = '', three = ''] = boxesOf(page);
    let again = await anna.press(page, /^Set for/, { value: 'Texsas', entry: [two, three] });
    for (const [table, says] of [
      ['Jalisco', 'The table can&#39;t be used'],
      ['Jalisco,Utah', 'Two new values are typed for Jalisco: Ohio and Utah'],
    ] as const) {
      const at = /name="old-(\d)" value="Jalisco"/.exec(again.text)?.[1];
      again = await anna.press(again, 'Replace values', { value: '', [`new-${at}`]: 'Ohio', table });
      expect(again).toMatchObject({ status: 400, text: expect.stringContaining(says) });
    }
    await anna.press(again, 'Replace values', { table: '' });
    await runAll();
    expect(await states()).toEqual({ a: 'rejected', b: 'ready', c: 'ready', d: 'rejected' });
  });

  it('of two people is done once: the second one learns that the entry has left the list', {
    tags: 'slow',
  }, async () => {
    await stage.pull(odd('a'));
    const path = `/review/entries?group=${await groupOf()}`;
    const [mine, other] = [await anna.get(path), await anna.get(path)];
    await anna.press(mine, /^Set for/, { value: 'Texas', entry: boxesOf(mine) });
    // Nothing has run yet: the second action is accepted, and leaves the entry alone.
    await anna.press(other, /^Set for/, { value: 'Ohio', entry: boxesOf(other) });
    await runAll();
    const actions = await stage.app.db.query('select done, skipped from bulk_action order by done');
    expect(actions).toEqual([
      { done: 0, skipped: 1 },
      { done: 1, skipped: 0 },
    ]);
    const late = await anna.press(other, /^Set for/, { value: 'Ohio', entry: boxesOf(other) });
    expect(late.status).toBe(409);
    expect(late.text).toMatch(/entry \d+ left this list/);
    expect(await stage.app.db.query('select from override')).toHaveLength(1);
  });
});

describe('discarding', () => {
  const LEFT = /1 in doubt is left as it is: the site may have made the job, so it is never discarded/;

  it('asks first, and says which creates in doubt it leaves', async () => {
    await stage.pull([...odd('a', 'b'), posting('p1')]);
    await stage.fail('p1', 'in_doubt');
    const page = await anna.get('/review/entries');
    expect(page.text).toContain('1 entry in doubt: the site may have made the job.');
    const question = await anna.press(page, 'Discard all 2…');
    expect(question.text).toContain('<h1>Discard 2 entries?</h1>');
    expect(question.text).toContain('2 rejected: leaves them as they are until their postings change');
    expect(question.text).toMatch(LEFT);
    expect(await bulks()).toEqual([]);
    await anna.press(question, 'Discard 2 entries', { reason: 'closed' });
    await runAll();
    expect(await states()).toEqual({ a: 'discarded', b: 'discarded', p1: 'in_doubt' });
    const reasons = await stage.app.db.query(`select detail->>'reason' as reason from audit where action = 'discard'`);
    expect(reasons).toEqual([{ reason: 'closed' }, { reason: 'closed' }]);
    const discarded = await anna.get('/review/entries?discarded=true');
    await anna.press(discarded, 'Reopen all 2');
    await runAll();
    expect(await states()).toEqual({ a: 'rejected', b: 'rejected', p1: 'in_doubt' });
  });

  it('of chosen ones also says so, and leaves those alone with the reason', { tags: 'slow' }, async () => {
    await stage.pull([...odd('a'), posting('p1')]);
    await stage.fail('p1', 'in_doubt');
    const page = await anna.get('/review/entries');
    const question = await anna.press(page, /^Discard/, { entry: boxesOf(page) });
    expect(question.text).toContain('<h1>Discard 1 entry?</h1>');
    expect(question.text).toMatch(LEFT);
    await anna.press(question, 'Discard 1 entry');
    await runAll();
    expect(await states()).toEqual({ a: 'discarded', p1: 'in_doubt' });
    expect((await anna.get('/review/actions/1')).text).toContain(
      'the site may have made the job, so it is never discarded',
    );
  });

  it('does nothing if the entries are others by then', { tags: 'slow' }, async () => {
    await stage.pull(odd('a'));
    const question = await anna.press(await anna.get('/review/entries'), 'Discard 1…');
    await stage.pull([posting('a'), ...odd('b')]);
    const again = await anna.press(question, 'Discard 1 entry', { reason: 'closed' });
    expect(again.status).toBe(409);
    expect(again.text).toContain('has changed since you saw it');
    expect(again.text).toContain('value="closed"');
    expect(await bulks()).toEqual([]);
  });
});

it('approving asks with the numbers, and deletes only what was held then', async () => {
  await stage.pull(postings(10));
  await stage.acceptAll();
  await stage.pull(postings(2));
  const question = await anna.press(await anna.get('/review/entries?kind=held'), 'Approve deletes: all 8…');
  expect(question.text).toContain('<h1>Delete 8 jobs?</h1>');
  // As many, but others.
  await stage.pull([posting('p1'), posting('p3')]);
  const again = await anna.press(question, 'Delete 8 jobs');
  expect([again.status, await bulks()]).toEqual([409, []]);
  await anna.press(again, 'Delete 8 jobs');
  await runAll();
  const approved = await stage.app.db.query<{ key: string }>(
    `select key from audit where action = 'approve' order by key`,
  );
  expect(approved.map(({ key }) => key)).toEqual(['p10', 'p2', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9']);
});

it('a stop ends an action, which can go on; a done one has nothing to stop', async () => {
  await stage.pull(odd('a'));
  const started = await anna.press(await anna.get('/review/entries'), 'Set for 1', {
    field: 'location-state',
    value: 'Texas',
  });
  expect(started.text).toContain('data-live="true"');
  const stopped = await anna.press(started, 'Stop after the present batch');
  expect(stopped.text).toContain('stopped: 0 of 1 entry');
  expect(stopped.text).not.toContain('data-live');
  await anna.press(stopped, 'Continue');
  await runAll();
  const late = await anna.post('/review/actions/1/stop', {});
  expect([late.status, late.text]).toEqual([409, expect.stringContaining('It is done already')]);
  expect((await anna.post('/review/actions/999/stop', {})).status).toBe(404);
  expect((await anna.get('/review/actions')).text).toContain('edit: sets location-state to &quot;Texas&quot;');
});

it('actions and rules have further pages', { tags: 'slow' }, async () => {
  await stage.pull(odd('a'));
  const edit = { filter: { group: await groupOf() }, action: 'edit', edit: { set: { 'location-state': 'Texas' } } };
  await served.api('POST', 'review/actions', { ...edit, expected: 1, also_new: true });
  for (const [table, of] of [
    ['bulk_action', 'actions'],
    ['review_rule', 'rules'],
  ]) {
    const others = `select (r).* from (select jsonb_populate_record(t, jsonb_build_object('id', t.id + n, 'ended_at', now(), 'state', 'done')) as r
      from ${table} t, generate_series(1, 150) n) made`;
    await stage.app.db.query(`insert into ${table} overriding system value ${others}`);
    const first = await anna.get(`/review/${of}`);
    const [, next = ''] = /href="([^"]*)" rel="next"/.exec(first.text) ?? [];
    const second = await anna.get(next);
    expect([second.status, second.text]).toEqual([200, expect.stringMatching(/>(Newest|First page)</)]);
    expect(second.text).not.toContain(first.text.match(/<tbody>.*?<\/tr>/s)?.[0]);
  }
});

it('notes of a group are added and removed', { tags: 'slow' }, async () => {
  await stage.pull(odd('a'));
  const path = `/review/entries?group=${await groupOf()}`;
  const added = await anna.press(await anna.get(path), 'Add note', { text: 'ask Marta' });
  expect(added.text).toContain('ask Marta');
  expect((await anna.get('/review')).text).toContain('1 note');
  expect((await anna.press(added, 'Remove')).text).not.toContain('ask Marta');
  expect((await anna.post('/review/notes/1/remove', {})).status).toBe(404);
  expect((await anna.post('/review/notes', { text: 'to nothing' })).status).toBe(400);
});

describe('a viewer', () => {
  it('sees all pages without forms that act, and may not send one', async () => {
    await stage.pull(odd('a'));
    const group = await groupOf();
    await served.api('POST', `review/groups/${group}/notes`, { text: 'ask Marta' });
    await served.api('POST', 'review/rules', { action: 'retry', group });
    await served.api('POST', 'review/actions', { action: 'discard', filter: { group }, expected: 1 });
    const ben = await visitorOf(served, 'ben');
    for (const path of [
      '/review',
      `/review/entries?group=${group}`,
      `/review/confirm?action=discard&group=${group}`,
      '/review/actions',
      '/review/actions/1',
      '/review/rules',
    ]) {
      const { status, text } = await ben.get(path);
      expect(status, path).toBe(200);
      expect(text.match(/<form method="post"[^>]*>/g), path).toEqual([expect.stringContaining('/sign-out')]);
    }
    for (const [path, fields] of [
      ['/review/entries', { action: 'retry', group, 'expected-retry': '1' }],
      ['/review/confirm?action=discard', { group, expected: '1', mark: '0123456789' }],
      ['/review/actions/1/stop', {}],
      ['/review/actions/1/continue', {}],
      ['/review/rules/1/end', {}],
      ['/review/notes', { group, text: 'x' }],
      ['/review/notes/1/remove', {}],
    ] as const) {
      expect((await ben.post(path, fields)).status, path).toBe(403);
    }
    expect(await bulks()).toHaveLength(1);
  });
});

describe('malformed', () => {
  const expectReason = ({ status, text }: Answer, most = 400): void => {
    expect([status, text]).toEqual([most, expect.stringContaining('role="alert"')]);
  };
  it('addresses get the reason', { tags: 'slow' }, async () => {
    for (const path of [
      '/review?kind=none',
      '/review?older_than=long',
      '/review?older_than=1h&older_than=2h',
      '/review?discarded=perhaps',
      '/review/entries?group=x',
      '/review/entries?cursor=e30',
      '/review/confirm?action=edit',
      '/review/confirm?action=discard&entry=x',
      '/review/confirm?action=discard&entry=1.0123456789&entry=1.0123456780',
      '/review/actions/x',
      '/review/actions/0',
    ])
      expectReason(await anna.get(path));
    for (const path of ['/review?feed=Nobody!', '/review?feed=nobody', '/review?site=nobody', '/review/actions/999'])
      expectReason(await anna.get(path), 404);
  });

  it('forms get the reason, and change nothing', async () => {
    await stage.pull(odd('a'));
    const edit = { action: 'edit', 'expected-edit': '1', field: 'location-state' };
    const forms: readonly Fields[] = [
      {},
      { action: 'delete' },
      { action: 'retry' },
      { action: 'retry', 'expected-retry': '-1' },
      { action: 'retry', entry: 'x' },
      { action: 'retry', entry: ['1.0123456789', '1.0123456789'] },
      edit,
      { ...edit, field: '<x>', value: 'y' },
      { ...edit, field: '__proto__', value: 'y' },
      { ...edit, value: 'x', remove: 'true' },
      { ...edit, table: 'one column' },
      { ...edit, value: 'x', table: 'a,b' },
      { ...edit, value: ['x', 'y'] },
      { ...edit, value: 'a\0b' },
    ];
    for (const fields of forms) {
      const { status, text } = await anna.post('/review/entries', fields);
      expect([status, text], JSON.stringify(fields)).toEqual([400, expect.stringContaining('role="alert"')]);
    }
    expectReason(await anna.post('/review/confirm?action=discard', {}));
    expectReason(
      await anna.post('/review/confirm?action=discard', { seen: 'x', expected: '1', reason: 'x'.repeat(2_000) }),
    );
    expect(await bulks()).toEqual([]);
  });
});
