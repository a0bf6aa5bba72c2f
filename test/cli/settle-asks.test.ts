// `jobmirror review settle ID --missing` on a terminal shows the create in doubt, asks, and decides only about that one; it waits for no
// other.
import { beforeEach, expect, it } from 'vitest';
import { openStage } from '../review/stage.ts';
import { ageDoubts } from '../support/age-doubts.ts';
import { posting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { runAsked, runProgram } from './run-program.ts';

const stage = openedForEach(() => openStage({ site: { doubts: '{ resolve_after_seconds: 600 }' } }));
const P1 = posting('p1', { title: 'Night nurse' });
beforeEach(async () => {
  // Longer than a test takes on a busy machine.
  await stage.pull([P1]);
  await stage.fail('p1', 'in_doubt', 'time-out');
});

const missing = async (answer: () => string | Promise<string>) =>
  runAsked(stage.mirror, ['review', 'settle', String(await stage.entry('p1')), '--missing', '--no-send'], answer);
const state = async () => (await stage.change('p1'))?.state;

it('asks, and sends again only after a yes, and only what it has shown', async () => {
  const young = await missing(() => 'y\n');
  expect(young.shown).not.toContain('[y/N]');
  expect(young.shown).toContain('its request may still arrive: decide it later, in ');
  await ageDoubts(stage.app.db);
  const no = await missing(() => 'n\n');
  expect(no.shown).toContain(`posting p1 of feed acme, "Night nurse", site board`);
  expect(no.shown).toMatch(/sent at \d{4}-[\s\S]*reason: time-out/);
  expect([no.status, await state()]).toEqual([1, 'in_doubt']);
  expect(no.shown).toContain('Nothing was sent again.');
  const late = await missing(async () => {
    await stage.app.db.query(`update change set state = 'ready', attempt_token = null where key = 'p1'`);
    await stage.fail('p1', 'in_doubt');
    await ageDoubts(stage.app.db);
    return 'y\n';
  });
  expect(late.shown).toContain('it has changed since you saw it');
  expect([late.status, await state()]).toEqual([1, 'in_doubt']);
  expect((await missing(() => 'y\n')).status).toBe(0);
  expect(await state()).toBe('ready');
});

it('sends it, and leaves other doubts to the next run', async () => {
  await stage.pull([P1, posting('p2')]);
  await stage.fail('p2', 'in_doubt');
  await ageDoubts(stage.app.db);
  const settled = await runProgram(stage.mirror, 'review', 'settle', String(await stage.entry('p1')), '--missing');
  expect(settled).toMatchObject({ status: 0, out: expect.stringContaining('acme p1: done') });
  expect((await stage.change('p2'))?.state).toBe('in_doubt');
});
