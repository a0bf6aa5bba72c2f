// `--if-version` of the commands that act on one entry: a decision about another version than the one that was shown is refused.
import { expect, it } from 'vitest';
import { openStage } from '../review/stage.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { runProgram } from './run-program.ts';

const stage = openedForEach(() => openStage());

const run = (...args: readonly string[]) => runProgram(stage.mirror, 'review', ...args);
const show = async (id: number) => {
  const [shown] = (await run('show', String(id), '--json')).json<{ version: string; commands: string[] }>();
  return shown ?? { version: '', commands: [] };
};
const STALE = { status: 1, errors: expect.stringContaining('it has changed since you saw it') };
const state = async (key: string) => (await stage.change(key))?.state;

it('the printed command approves the delete that it was printed for, and no later one of that entry', async () => {
  await stage.pull(postings(8));
  await stage.acceptAll();
  const hold = () => stage.pull(postings(1), { percent: 10, count: 1 });
  await hold();
  const id = await stage.entry('p5');
  const { version, commands } = await show(id);
  expect(commands).toContainEqual(expect.stringContaining(`review approve ${id} --if-version ${version} `));
  const approve = (seen: string) => run('approve', String(id), '--if-version', seen, '--no-send');
  await stage.pull(postings(8));
  await hold();
  expect(await stage.entry('p5')).toBe(id);
  expect(await approve(version)).toMatchObject(STALE);
  expect(await state('p5')).toBe('held');
  const now = (await show(id)).version;
  expect(await approve(now)).toMatchObject({ status: 0, errors: '' });
  expect(await state('p5')).toBe('ready');
  const unbound = await run('approve', String(await stage.entry('p6')), '--no-send');
  expect(unbound.errors).toMatch(/^warning: this approves the delete of entry \d+ as it is now\..* --if-version \S+ /);
  expect([unbound.status, await state('p6')]).toEqual([0, 'ready']);
});

it('so do the other actions', async () => {
  await stage.pull([posting('p1'), posting('p2', { state: 'Jalisco' })]);
  await stage.fail('p1', 'failed');
  const [p1, p2] = [await stage.entry('p1'), await stage.entry('p2')];
  const seen = [(await show(p1)).version, (await show(p2)).version];
  await stage.pull([posting('p1', { title: 'Newer' }), posting('p2', { state: 'Jalisco', title: 'Newer' })]);
  await stage.fail('p1', 'failed');
  const bound = (id: number) => [String(id), '--if-version', seen[id === p1 ? 0 : 1] ?? ''];
  expect(await run('retry', ...bound(p1), '--no-send')).toMatchObject(STALE);
  expect(await run('discard', ...bound(p1))).toMatchObject(STALE);
  expect(await run('edit', ...bound(p2), '--set', 'location-state=Texas', '--no-send')).toMatchObject(STALE);
  expect([await state('p1'), await state('p2')]).toEqual(['failed', 'rejected']);
  const version = (await show(p1)).version;
  expect((await run('discard', String(p1), '--if-version', version)).status).toBe(0);
  expect(await run('reopen', String(p1), '--if-version', version)).toMatchObject(STALE);
  expect(await state('p1')).toBe('discarded');
});

it('refuses to bind what is not one entry', async () => {
  await stage.pull([posting('p1', { state: 'Jalisco' }), posting('p2', { state: 'Jalisco' })]);
  for (const args of [
    ['retry', '1', '2'],
    ['approve', 'acme'],
    ['discard', '--site', 'board'],
    ['edit', '--site', 'board', '--set', 'title=x'],
  ]) {
    const { status, errors } = await run(...args, '--if-version', 'x');
    expect([args, status, errors]).toEqual([args, 1, expect.stringContaining('--if-version is for one entry')]);
  }
});
