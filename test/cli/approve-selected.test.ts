// `jobmirror review approve` for a selection: a person approves exactly the deletes that they saw, and none of another feed.
// @module-tag slow
import { beforeEach, expect, it } from 'vitest';
import { acme, openStage } from '../review/stage.ts';
import { holdAlso } from '../support/hold-also.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { runAsked, runProgram } from './run-program.ts';

const stage = openedForEach(() => openStage());
beforeEach(async () => {
  await stage.pull(postings(8));
  await stage.acceptAll();
  await stage.pull(postings(1), { percent: 10, count: 1 });
});

const run = (...args: readonly string[]) => runProgram(stage.mirror, 'review', ...args);
const approved = async () =>
  (
    await stage.app.db.query<{ feed: string; n: number }>(
      `select feed, count(*) as n from change where approved group by 1 order by 1`,
    )
  ).map(({ feed, n }) => [feed, n]);
const groupOf = async (feed: string) => (await run('groups', feed, '--json')).json<{ group: string }>()[0]?.group ?? '';

it('the printed command approves what it was printed for, whatever is held in other feeds since', async () => {
  const group = await groupOf('acme');
  const shown = (await run('show', '--group', group)).out;
  const [, printed = ''] = /review (approve .*) --config/.exec(shown) ?? [];
  const [, mark] = / --mark (\w+)$/.exec(printed) ?? [];
  expect(printed).toBe(`approve acme --group ${group} --count 7 --mark ${mark}`);
  expect(shown).toContain(`review discard acme --group ${group} --count 7 `);
  await holdAlso(stage.app.db, 'beta', 40);
  expect(await groupOf('beta')).not.toBe(group);
  expect((await run('show', '--group', group, '--json')).json()).toMatchObject([
    { count: 7, feeds: [{ feed: 'acme', count: 7 }], mark },
  ]);
  expect((await run(...printed.split(' '), '--no-send')).out).toBe('acme: 7 approved, ready to be deleted\n');
  expect(await approved()).toEqual([['acme', 7]]);
});

it('the printed command approves nothing after others took the place of some that it was printed for', async () => {
  const group = await groupOf('acme');
  const [shown] = (await run('show', '--group', group, '--json')).json<{ mark: string }>();
  await stage.pull(postings(2), { percent: 10, count: 1 });
  await holdAlso(stage.app.db, acme, 1);
  const mark = ['--mark', shown?.mark ?? ''];
  for (const bound of [['--count', '7', ...mark], mark]) {
    const refused = await run('approve', 'acme', '--group', group, ...bound);
    expect(refused.errors).toMatch(/changed since you saw it.*Nothing was done\.\n {2}acme: 7 held\n/);
    expect(refused.status).toBe(1);
  }
  expect((await run('approve', 'acme', ...mark)).errors).toContain('has changed since you saw it');
  expect(await approved()).toEqual([]);
});

it('without a terminal and without --count, nothing is approved', async () => {
  await holdAlso(stage.app.db, 'beta', 40);
  for (const selection of [
    ['--text', 'limit'],
    ['--site', 'board'],
    ['--newer-than', '1d'],
  ]) {
    const refused = await run('approve', ...selection, '--no-send');
    expect(refused.errors).toContain('This deletes 47 jobs whose deletes are held.\n  acme: 7 held\n  beta: 40 held\n');
    expect(refused.errors).toContain(
      'Nothing was approved. To approve exactly so many without being asked: --count 47',
    );
    expect(refused.status).toBe(1);
  }
  const refused = await run('approve', '--group', await groupOf('acme'));
  expect(refused.errors).toContain('This deletes 7 jobs whose deletes are held.\n  acme: 7 held\n');
  const none = await run('approve', '--text', 'nothing');
  expect(none.errors).toContain('no entry matches: nothing was done.');
  expect(await approved()).toEqual([]);
});

it('another number than the person saw is refused, with the numbers of each feed', async () => {
  await holdAlso(stage.app.db, 'beta', 40);
  const refused = await run('approve', '--text', 'limit', '--count', '7');
  expect(refused.errors).toContain(
    '(47 entries now, not 7); look at it again. Nothing was done.\n  acme: 7 held\n  beta: 40 held\n',
  );
  expect(await approved()).toEqual([]);
  const done = await run('approve', 'acme', '--text', 'limit', '--count', '7', '--no-send');
  expect(done.out).toBe('acme: 7 approved, ready to be deleted\n');
  expect(await approved()).toEqual([['acme', 7]]);
});

it('other entries with a matching text do not count as deletes', async () => {
  await stage.pull([...postings(1), posting('new', { state: 'Jalisco' })], { percent: 10, count: 1 });
  expect((await run('list', '--site', 'board', '--json')).json()).toHaveLength(8);
  const done = await run('approve', '--site', 'board', '--count', '7', '--no-send');
  expect(done).toMatchObject({ out: 'acme: 7 approved, ready to be deleted\n', status: 0 });
});

/** Approves a selection on a terminal, and answers yes after `meanwhile`. */
const approveOnTerminal = (meanwhile: () => Promise<void>, selection = ['--site', 'board']) =>
  runAsked(stage.mirror, ['review', 'approve', ...selection, '--no-send'], async () => {
    await meanwhile();
    return 'y\n';
  });

it('a yes approves only what was shown: not after the selection has grown, nor after as many others took its place', async () => {
  const grown = await approveOnTerminal(() => holdAlso(stage.app.db, 'beta', 40));
  expect(grown.shown).toContain('This deletes 7 jobs whose deletes are held.\n  acme: 7 held');
  expect(grown.shown).toMatch(/changed since you saw it.*Nothing was done\.\s+acme: 7 held\s+beta: 40 held/);
  expect(grown.status).toBe(1);
  await stage.app.db.query(`delete from change where feed = 'beta'`);
  const replaced = await approveOnTerminal(async () => {
    await stage.pull(postings(2), { percent: 10, count: 1 });
    await holdAlso(stage.app.db, acme, 1);
  });
  expect(replaced.shown).toMatch(/changed since you saw it.*Nothing was done\.\s+acme: 7 held/);
  expect(await approved()).toEqual([]);
  const done = await approveOnTerminal(async () => undefined);
  expect(done.shown).toContain('acme: 7 approved, ready to be deleted');
  expect(await approved()).toEqual([['acme', 7]]);
});

it('a terminal shows and asks for a whole feed as well, and approves only what it showed', async () => {
  const replaced = await approveOnTerminal(async () => {
    await stage.pull(postings(2), { percent: 10, count: 1 });
    await holdAlso(stage.app.db, acme, 1);
  }, ['acme']);
  expect(replaced.shown).toMatch(
    /This deletes 7 jobs of feed acme whose deletes are held:\n.*limit.*\n {4}p2 {2}Nurse p2\n/,
  );
  expect(replaced.shown).toContain('the selection has changed since you saw it');
  expect(replaced.status).toBe(1);
  expect(await approved()).toEqual([]);
  expect((await approveOnTerminal(async () => undefined, ['acme'])).status).toBe(0);
  expect(await approved()).toEqual([['acme', 7]]);
});

it('a terminal shows the deletes of named entries, and approves only those', async () => {
  const ids = [await stage.entry('p2'), await stage.entry('p3')];
  const altered = await approveOnTerminal(async () => {
    await stage.pull(postings(8));
    await stage.pull(postings(2), { percent: 10, count: 1 });
  }, ids.map(String));
  expect(altered.shown).toMatch(/This deletes 2 jobs:\n {4}p2 {2}Nurse p2 {2}\(entry \d+\)\n {4}p3 /);
  expect(altered.shown).toContain('has changed since you saw it');
  expect([altered.status, await approved()]).toEqual([1, []]);
  expect((await approveOnTerminal(async () => undefined, [String(await stage.entry('p3'))])).status).toBe(0);
  expect(await approved()).toEqual([['acme', 1]]);
});

it('where nobody can be asked, a feed is approved as it is, with the command that binds it', async () => {
  const { status, errors } = await run('approve', 'acme', '--no-send');
  expect(errors).toMatch(
    /^warning: this approves whatever is held for feed acme now\..* review approve acme --count 7 --config .*\n$/,
  );
  expect([status, await approved()]).toEqual([0, [['acme', 7]]]);
});

it('a feed whose number of held deletes is named is not asked about', async () => {
  expect(await run('approve', 'acme', '--count', '7', '--no-send')).toMatchObject({ status: 0, errors: '' });
  expect(await approved()).toEqual([['acme', 7]]);
});
