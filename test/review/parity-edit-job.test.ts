// A job that the site has accepted is edited in a page, through the API and in a terminal, with the same refusals; a real site gets it.
import { beforeEach, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { posting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { type FormVisitor, visitorOf } from '../web/form-visitor.ts';
import { type Answer, serve } from '../web/served.ts';
import { openStage } from './stage.ts';

const KEY = 'a/1';

let anna: FormVisitor;
const stage = openedForEach(() => openStage({ feed: { create_only_fields: '[category-name]' } }));
const served = openedForEach(() => serve(stage.mirror, { sends: true }));
beforeEach(async () => {
  await stage.mirror.syncOf([posting(KEY, { title: 'Nurse' }), posting('p2')]);
  anna = await visitorOf(served, 'anna');
});

const api = (action: string, body?: object, as: 'reviewer' | 'reader' = 'reviewer') =>
  served.api(body === undefined ? 'GET' : 'POST', `feeds/acme/postings/a%2F1${action}`, body, { as });
const page = () => anna.get('/posting?feed=acme&key=a%2F1');
const run = (...args: readonly string[]) => runProgram(stage.mirror, ...args);
const edit = (...args: readonly string[]) => run('review', 'edit', 'acme', KEY, '--as', 'tom', ...args);
const onSite = async () => (await stage.mirror.siteJobs()).get(KEY) ?? {};
const arrives = (fields: object) => expect.poll(onSite).toMatchObject(fields);

/** What the site or the feed does not allow, through each medium. */
async function refusals(version: string, shown: Answer): Promise<void> {
  const wrong = { fields: { 'location-state': 'Jalisco' } };
  const invalid = await api('/edit', wrong);
  expect([invalid.status, invalid.body]).toMatchObject([422, { problems: [{ field: 'location-state' }] }]);
  const again = await anna.press(shown, 'Save and send', { 'field.location-state': 'Jalisco' });
  expect([again.status, again.text]).toEqual([422, expect.stringContaining('value="Jalisco"')]);
  const refused = await edit('--set', 'location-state=Jalisco');
  expect([refused.status, refused.out, refused.errors]).toEqual([
    1,
    '',
    expect.stringContaining('posting a/1: nothing was saved, as the site would refuse it: '),
  ]);
  for (const [name, why] of [
    ['category-name', 'is set only on create'],
    ['colour', 'has no field colour'],
    ['number', 'its job is recognised by number'],
  ] as const) {
    const answer = await api('/edit', { fields: { [name]: 'x' } });
    expect([answer.status, answer.body.detail]).toEqual([409, expect.stringContaining(why)]);
    expect((await edit('--set', `${name}=x`)).errors).toContain(why);
    expect((await anna.press(shown, 'Save and send', { [`field.${name}`]: 'x' })).status).toBe(409);
  }
  const none = [
    await served.api('POST', 'feeds/acme/postings/none/edit', wrong),
    await run('review', 'edit', 'acme', 'none', '--set', 'title=x'),
  ];
  expect(none).toMatchObject([{ status: 404 }, { status: 1, errors: expect.stringContaining('no posting none') }]);
  expect((await api('/edit', { fields: {} })).status).toBe(400);
  expect((await api('/edit', wrong, 'reader')).status).toBe(403);
  expect((await run('review', 'edit', 'acme', '--set', 'title=x')).status).toBe(1);
  expect((await api('')).body).toMatchObject({ change: null, edits: [], version });
}

it('is refused by each medium for the same reasons, set by each, and each shows what the others have set', async () => {
  const [{ body: before }, outdated] = [await api(''), await page()];
  expect(before).toMatchObject({ state: 'live', not_editable: null, version: expect.stringMatching(/^job-/) });
  await refusals(before.version, outdated);
  const answer = await api('/edit', { fields: { title: 'Chef' }, version: before.version });
  expect([answer.status, answer.body]).toMatchObject([
    200,
    { action: 'edit', feed: 'acme', key: KEY, result: 'done', message: 'edited, ready to be sent' },
  ]);
  await arrives({ title: 'Chef' });
  await expect
    .poll(async () => (await api('')).body)
    .toMatchObject({ change: null, site_job: { fields: { title: 'Chef' } } });
  const late = await api('/edit', { fields: { title: 'Cook' }, version: before.version });
  expect([late.status, late.body]).toMatchObject([
    409,
    { yours: { version: before.version }, current: { site_job: { fields: { title: 'Chef' } } } },
  ]);
  const unseen = await edit('--set', 'title=Cook', '--if-version', before.version);
  expect([unseen.status, unseen.errors]).toEqual([1, expect.stringContaining('it has changed since you saw it')]);
  const stale = await anna.press(outdated, 'Save and send', { 'field.title': 'Cook' });
  expect([stale.status, stale.text]).toEqual([409, expect.stringContaining('It has changed since you saw it')]);
  expect(stale.text).toContain('value="Cook"');

  const told = await edit('--set', 'location-city=Salem');
  expect([told.status, told.errors]).toEqual([0, '']);
  expect(told.out).toMatch(/^\d+ acme a\/1: edited, ready to be sent\n\d+ acme a\/1: done: job /);
  await arrives({ title: 'Chef', 'location-city': 'Salem', 'category-name': 'Health' });

  const shown = await page();
  expect(shown.text).toContain('Edit its fields');
  expect(shown.text).not.toContain('name="field.category-name"');
  const after = await anna.press(shown, 'Save and send', { 'field.title': 'Cook' });
  expect([after.status, after.text]).toEqual([200, expect.stringContaining('Undo the edit of title')]);
  await arrives({ title: 'Cook', 'location-city': 'Salem' });
  expect((await api('')).body.edits).toEqual([
    { field: 'location-city', source_value: 'Boston', value: 'Salem' },
    { field: 'title', source_value: 'Nurse', value: 'Cook' },
  ]);
  const acts = await stage.app.db.query('select actor, action, key from audit order by id');
  expect(acts).toEqual(['token reviewer', 'tom', 'anna'].map((actor) => ({ actor, action: 'edit', key: KEY })));
  await stage.mirror.sync();
  expect(await onSite()).toMatchObject({ title: 'Cook', 'location-city': 'Salem' });
});
