// The undo of a pull is planned and done alike in the API and on its page, and only as it was shown.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForAll } from '../support/opened.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { type Served, serve } from '../web/served.ts';

const RIGHT = postings(6);
const WRONG = [posting('p1', { title: 'Wrong' }), ...RIGHT.slice(1, 5), posting('n1')];

let served: Served;
const mirror = openedForAll(() => openMirror());
beforeAll(async () => {
  for (const list of [RIGHT, WRONG]) {
    await mirror.syncOf(list);
  }
  served = await serve(mirror, { sends: true });
});
afterAll(() => served.close());

const titles = async () =>
  Object.fromEntries([...(await mirror.siteJobs())].map(([key, { title }]) => [key, title] as const));
const concluded = (pull: number) =>
  expect.poll(async () => (await served.api('GET', `pulls/${pull}`)).body.status).toBe('mirrored');

it('shows the same plan everywhere, and to reviewers only', async () => {
  const plan = (await served.api('GET', 'pulls/2/undo')).body;
  expect(plan).toMatchObject({
    restored: 2,
    created_again: 1,
    deleted: 1,
    withdrawn: 0,
    left_out: 0,
    more: 0,
    held: null,
  });
  const { errors, json } = await runProgram(mirror, 'undo', '2', '--json');
  expect(errors).toContain('1 to create again, 1 to revert, 1 to delete');
  expect(json()).toEqual(plan.lines);
  expect((await served.api('GET', 'pulls/2/undo', undefined, { as: 'reader' })).status).toBe(403);
  expect((await served.api('POST', 'pulls/2/undo', { seen: plan.seen }, { as: 'puller' })).status).toBe(403);
  expect((await (await visitorOf(served, 'ben')).get('/pulls/2/undo')).status).toBe(403);
  expect((await served.api('GET', 'pulls/99/undo')).status).toBe(404);
  const page = (await (await visitorOf(served, 'anna')).get('/pulls/2/undo')).text;
  for (const { key } of plan.lines) expect(page).toContain(`>${key}</a>`);
});

it('does nothing else than was shown, and nothing without that', async () => {
  const { seen } = (await served.api('GET', 'pulls/2/undo')).body;
  const before = await titles();
  // Somebody changes the posting, so that the undo would leave it out.
  const edited = await served.api('POST', 'feeds/acme/postings/p1/edit', { fields: { title: 'Edited' } });
  expect(edited.status).toBe(200);
  await expect.poll(async () => (await titles()).p1).toBe('Edited');
  const refused = await served.api('POST', 'pulls/2/undo', { seen });
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    expect.stringContaining('has changed since it was shown'),
  ]);
  expect((await served.api('POST', 'pulls/2/undo', {})).status).toBe(400);
  expect(await titles()).toEqual({ ...before, p1: 'Edited' });
  const { items } = (await served.api('GET', 'pulls?feed=acme')).body;
  expect(items.map(({ pull }: { pull: number }) => pull)).toEqual([2, 1]);
});

it('undoes a pull from its page, which then leads back', async () => {
  const anna = await visitorOf(served, 'anna');
  const pull = await anna.get('/pulls/2');
  expect(pull.text).toContain('/pulls/2/undo');
  const done = await anna.press(await anna.get('/pulls/2/undo'), /^Undo pull 2$/);
  expect(done.status).toBe(200);
  const undo = (await served.api('GET', 'pulls?feed=acme')).body.items[0];
  expect(undo).toMatchObject({ undoes: 2 });
  expect(done.text).toContain('This is the undo of');
  await concluded(undo.pull);
  expect(await titles()).toEqual({
    ...Object.fromEntries(RIGHT.map(({ key }) => [key, `Nurse ${key}`])),
    p1: 'Edited',
  });
  const [audited] = (await served.api('GET', 'activity?feed=acme&actor=anna')).body.items;
  expect(audited).toMatchObject({ action: 'undo pull', detail: { pull: 2, by: undo.pull } });
  expect((await anna.get('/pulls/2')).text).toContain('It was undone by');
  const again = await served.api('GET', 'pulls/2/undo');
  expect([again.status, again.body.detail]).toEqual([
    409,
    expect.stringContaining(`was undone by ${undo.pull} already`),
  ]);

  const back = (await served.api('GET', `pulls/${undo.pull}/undo`)).body;
  const answer = await served.api('POST', `pulls/${undo.pull}/undo`, { seen: back.seen });
  expect([answer.status, answer.headers.get('location')]).toEqual([202, `/api/v1/pulls/${answer.body.pull}`]);
  await concluded(answer.body.pull);
  expect(await titles()).toMatchObject({ n1: 'Nurse n1', p1: 'Edited' });
  // Only the last of them can be undone now; the others lead to it.
  const last = answer.body.pull;
  const button = 'Undo this pull';
  const second = (await anna.get('/pulls/2')).text;
  expect(second).toContain(`That was undone, too. To undo it again, undo <a href="/pulls/${last}">`);
  expect(second).not.toContain(button);
  expect((await anna.get(`/pulls/${undo.pull}`)).text).toContain(`To take that back, undo <a href="/pulls/${last}">`);
  expect((await anna.get(`/pulls/${last}`)).text).toContain(button);
  // An undo reads no feed.
  expect((await anna.get('/pulls/2')).text).toContain('What was gone');
  expect((await anna.get(`/pulls/${undo.pull}`)).text).not.toContain('What was gone');
  const [running] = await served.app.db.query<{ id: number }>(
    `insert into pull (feed, site, undoable, status) values ('acme', 'board', true, 'running') returning id`,
  );
  expect((await anna.get(`/pulls/${running?.id}`)).text).toMatch(
    /id="pull" data-live="true".*id="undo" data-live="true"/s,
  );
  const [failed] = await served.app.db.query<{ id: number }>(
    `insert into pull (feed, site, undoable, status, finished_at) values ('acme', 'board', true, 'failed', now()) returning id`,
  );
  const { text } = await anna.get(`/pulls/${failed?.id}`);
  expect(text).toContain('It has changed nothing, so there is nothing to undo.');
  expect(text).not.toContain(button);
});
