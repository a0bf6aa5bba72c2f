// `jobmirror review undo-edit`: the next sync brings back what the source has.
// @module-tag slow
import { beforeEach, expect, it } from 'vitest';
import { posting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

// Each command runs in a process of its own.

const run = (...args: readonly string[]): Promise<ProgramResult> => runProgram(mirror, ...args);
const KEY = 'a b/..<script>';

const mirror = openedForEach(() => openMirror());
beforeEach(async () => {
  await mirror.syncOf([posting(KEY, { state: 'Jalisco' }), posting('fine')]);
  await mirror.stopEngine();
});

it('an edit that the site has accepted is undone by the next sync', async () => {
  const [entry] = (await run('review', 'list', '--json')).json<{ id: number }>();
  const edited = await run('review', 'edit', String(entry?.id), '--set', 'location-state=Texas', '--set', 'title=Chef');
  expect(edited.status).toBe(0);
  const none = await run('review', 'undo-edit', 'acme', KEY, 'category-name');
  expect(none.errors).toContain('there is no edit of category-name');
  const undone = await run('review', 'undo-edit', 'acme', KEY, 'title', '--as', 'ann', '--json');
  const message = 'the next pull brings back what the source has';
  expect(undone.json()).toEqual([{ feed: 'acme', key: KEY, undone: ['title'], message }]);
  await run('sync', 'acme');
  const [why] = (await run('why', 'acme', KEY, '--json')).json<{ edits: object[]; site_job: { fields: object } }>();
  expect(why?.edits).toEqual([{ field: 'location-state', source_value: 'Jalisco', value: 'Texas' }]);
  expect(why?.site_job.fields).toMatchObject({ title: `Nurse ${KEY}`, 'location-state': 'Texas' });
  const rest = await run('review', 'undo-edit', 'acme', KEY);
  expect(rest.out).toBe(`acme: ${KEY}: undone: location-state; the next pull brings back what the source has\n`);
  expect((await run('review', 'undo-edit', 'acme', KEY)).errors).toContain('has no edits');
  const history = (await run('why', 'acme', KEY)).out;
  expect(history).toContain('undo edit by ann: title');
});
