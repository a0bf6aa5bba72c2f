// `jobmirror review` on groups: from a rejected group to all of it sent in two commands, tables of values, discard, stop, continue.
// @module-tag slow
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { startBulk } from '../../src/review/bulk/start-bulk.ts';
import { posting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

// Each command runs in a process of its own.

const run = (...args: readonly string[]): Promise<ProgramResult> => runProgram(mirror, ...args);
const STATES = ['Jalisco', 'Sonora', 'Ontario'];

const mirror = openedForEach(() => openMirror());
beforeEach(async () => {
  const odd = Array.from({ length: 6 }, (_, at) => posting(`odd${at}`, { state: STATES[at % 3] }));
  await mirror.syncOf([...odd, posting('fine')]);
  await mirror.stopEngine();
});

const groupOf = async (...args: readonly string[]): Promise<string> =>
  (await run('review', 'groups', '--json', ...args)).json<{ group: string }>()[0]?.group ?? '';
const statesOnSite = async () => [...(await mirror.siteJobs()).values()].map((job) => job['location-state']).sort();

it('a rejected group is live after two commands', async () => {
  const group = await groupOf();
  const edited = await run('review', 'edit', '--group', group, '--set', 'location-state=Texas', '--as', 'ann');
  expect(edited.errors).toBe('');
  expect(edited.out).toBe('acme: 6 edited\nacme: 6 done\n');
  expect(edited.status).toBe(0);
  expect(await statesOnSite()).toEqual(['Massachusetts', ...Array(6).fill('Texas')].sort());
  expect((await run('review', 'groups')).out).toBe('Nothing that matches needs a person.\n');
  expect((await run('review', 'actions')).out).toMatch(/ACTION +KIND +STATE .*\n +1 +edit +done +ann .* 6 +6 +0\n/);
});

it('a table of values edits what it knows, and says what it left alone', async () => {
  const group = await groupOf();
  const file = join(mirror.folder, 'states.csv');
  await writeFile(file, 'old,new\nJalisco,Texas\nSonora,Arizona\n');
  const edited = await run('review', 'edit', '--group', group, '--set-map', `location-state=${file}`, '--json');
  expect(edited.json()).toEqual([
    { action: 'edit', feed: 'acme', done: 4, message: '4 edited', now: { done: 4 } },
    {
      bulk: 1,
      action: 'edit',
      actor: expect.any(String),
      state: 'done',
      started_at: expect.stringMatching(/Z$/),
      touched_at: expect.stringMatching(/Z$/),
      total: 6,
      done: 4,
      still_rejected: 0,
      left_alone: 2,
      to_do: 0,
      reasons: [{ message: 'the table has no line for location-state "Ontario"', count: 2 }],
      waits_for: null,
      edit: { map: { field: 'location-state', values: { Jalisco: 'Texas', Sonora: 'Arizona' } } },
      reason: null,
      unattended: false,
      rule: null,
    },
  ]);
  expect(edited.status).toBe(2);
  expect(await statesOnSite()).toEqual(['Arizona', 'Arizona', 'Massachusetts', 'Texas', 'Texas']);
});

it('a group is shown, discarded with a reason, and reopened', async () => {
  const group = await groupOf();
  const shown = await run('review', 'show', '--group', group);
  expect(shown.out).toContain(`group ${group}: 6 rejected (new)`);
  expect(shown.out).toContain('  2  "Jalisco"\n');
  expect(shown.out).toContain(`review edit --set location-state=VALUE --group ${group}`);
  const refused = await run('review', 'discard', '--group', group);
  expect(refused.errors).toContain('This discards 6 entries: 6 rejected.');
  expect(refused.status).toBe(1);
  const wrong = await run('review', 'discard', '--group', group, '--count', '5');
  expect(wrong.errors).toContain('(6 entries now, not 5); look at it again. Nothing was done');
  const done = await run('review', 'discard', '--group', group, '--text', 'jalisco', '--yes', '--reason', 'closed');
  expect(done.out).toBe('acme: 2 discarded\n');
  expect((await run('why', 'acme', 'odd0')).out).toMatch(/discard by .*: closed\n/);
  const json = (await run('review', 'show', '--group', group, '--json')).json();
  expect(json).toMatchObject([{ count: 4, discarded: 2, value_count: 2 }]);
  expect(await groupOf('--discarded')).toBe(group);
  const reopened = await run('review', 'reopen', 'acme', '--group', group);
  expect(reopened.out).toBe('acme: 2 reopened, waiting for review again\n');
  expect((await run('review', 'list', '--group', group, '--json')).json()).toHaveLength(6);
});

it('an interrupted action is listed, stopped and continued', async () => {
  const app = await mirror.app();
  const detail = { query: {}, edit: { set: { 'location-state': 'Texas' } } };
  await startBulk(app.db, app.config, { action: 'edit', actor: 'ann', detail });
  expect((await run('review', 'actions')).out).toContain('review continue 1');
  expect((await run('review', 'stop', '1')).out).toBe('Stopped: 0 of 6 entries are done.\n');
  // As the pages and the API begin one.
  await startBulk(app.db, app.config, { action: 'edit', actor: 'ann', detail: { ...detail, unattended: true } });
  expect((await run('review', 'actions')).out).toMatch(
    /^A running start continues action 2 by itself; to continue it here: .* review continue 2\b/m,
  );
  await run('review', 'stop', '2');
  expect((await run('review', 'actions')).out).toMatch(/^To continue: .* review continue 2\b/m);
  expect((await run('review', 'continue', '1', '--no-send')).out).toBe('acme: 6 edited\n');
  const again = await run('review', 'continue', '1');
  expect(again.errors).toContain('bulk action 1 is done');
  expect((await run('review', 'stop', '7')).errors).toContain('there is no bulk action 7');
});

it('a wrong command says what is missing', async () => {
  const group = await groupOf();
  const errors = async (...args: readonly string[]) => {
    const result = await run('review', ...args);
    expect(result.status).toBe(1);
    return result.errors;
  };
  expect(await errors('edit', '--group', group)).toContain('--set FIELD=VALUE, or --set-map FIELD=FILE');
  expect(await errors('edit', '--set', 'title=X')).toContain('--group GROUP');
  // An empty variable of a script selects nothing, rather than everything.
  for (const text of ['', ' '])
    expect(await errors('discard', '--text', text, '--yes')).toContain('--text must name a word');
  expect(await errors('edit', '1', '--set-map', 'title=x.csv')).toContain(
    '--set-map, --count and --also-new need a selection',
  );
  expect(await errors('edit', '--group', group, '--set-map', 'title=no.csv')).toContain("no.csv can't be read");
  expect(await errors('retry')).toContain('name entries or feeds, or select a group');
  expect(await errors('retry', 'acme', '--count', '1')).toContain('--count needs a selection');
  expect(await errors('retry', '12', '--group', group)).toContain('name at most one feed, and no entries');
  expect(await errors('show')).toContain('name one entry by its number, or one group');
  expect(await errors('show', '--group', 'g0000000000')).toContain('there is no entry in group g0000000000');
});
