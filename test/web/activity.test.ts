// The page of activity: an edit with the value before and after, from wherever it was made, and what undoing it brought back.
import { expect, it } from 'vitest';
import { startBulkRunner } from '../../src/runtime/bulk-runner.ts';
import { pageAddress } from '../../src/web/pages/parts/addresses.ts';
import { runProgram } from '../cli/run-program.ts';
import { acme, openStage } from '../review/stage.ts';
import { posting } from '../support/indeed-feed.ts';
import { openedForAll } from '../support/opened.ts';
import { visitorOf } from './form-visitor.ts';
import { serve } from './served.ts';

const stage = openedForAll(() => openStage());
const served = openedForAll(() => serve(stage.mirror));

const shown = async (): Promise<string> =>
  (await (await visitorOf(served, 'anna')).get(pageAddress.activity())).text
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

it('shows the former and the new value of edits of one and of many postings, and of edits that were undone', async () => {
  await stage.pull([posting('one', { state: 'Jalisco' }), posting('many', { state: 'Sonora' })]);
  const anna = await visitorOf(served, 'anna');
  const page = await anna.get(pageAddress.posting(acme, 'one'));
  const edited = await anna.press(page, /^Save/, { 'field.location-state': 'Texas', 'field.title': 'Nurse <b>' });
  expect([edited.status, await stage.change('one')]).toMatchObject([200, { state: 'ready' }]);
  const before = await shown();
  expect(before).toContain('location-state Jalisco → Texas');
  expect(before).toMatch(/title \S.* → Nurse &lt;b&gt;/);

  const bulk = await served.api('POST', 'review/actions', {
    action: 'edit',
    filter: { feed: 'acme', kinds: ['rejected'] },
    expected: 1,
    edit: { set: { 'location-state': 'Ohio' } },
  });
  const runner = startBulkRunner(served.app, () => undefined);
  runner.begin(bulk.body.bulk);
  await expect.poll(async () => (await stage.change('many'))?.state).toBe('ready');
  await runner.stop(5_000);
  expect(await shown()).toContain('location-state Sonora → Ohio');

  await served.api('POST', 'feeds/acme/postings/many/undo-edit');
  expect(await shown()).toContain('location-state Ohio → Sonora');
});

it('shows what earlier versions have recorded', async () => {
  await stage.app.db.query(
    `insert into audit (actor, action, feed, key, detail) values ('old', 'edit', 'acme', 'one', '{"edits":{"title":"New"}}')`,
  );
  expect(await shown()).toContain('title New');
});

it('names what an action on several postings reached, and what else is recorded, in words', async () => {
  await stage.app.db.query(
    `insert into audit (actor, action, feed, key, detail) values ('old', 'approve', 'acme', 'one', '{}'), ('old', 'approve', 'acme', 'two', '{}'),
       ('old', 'undo pull', 'acme', null, '{"leftOut": 5}')`,
  );
  expect(await shown()).toMatch(/left out 5 .*2 postings of acme/);
  // Each leads to a page, also if the posting has left: what was done about it is still known.
  const page = await (await visitorOf(served, 'anna')).get(pageAddress.posting(acme, 'two'));
  expect([page.status, page.text]).toEqual([200, expect.stringMatching(/no job for posting two[\s\S]*approve by old/)]);
});

it('says what was stopped, and until when, on the page and in a terminal', async () => {
  for (const subject of [{ site: 'board' }, { all: true, until: '2999-12-24T18:00:00Z' }])
    expect((await served.api('POST', 'pause', subject)).status).toBe(200);
  const { out } = await runProgram(stage.mirror, 'activity');
  for (const text of [await shown(), out.replace(/\s+/g, ' ')]) {
    expect(text).toMatch(/pause (?:- )?everything .*until:? 2999-12-24.*pause (?:- )?site board/);
    expect(text).not.toMatch(/all:? true/);
  }
});
