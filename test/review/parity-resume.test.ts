// A site and a feed are resumed from the pause and the undo that a person saw: on the pages, in the API and in a terminal.
import { beforeAll, expect, it } from 'vitest';
import { messageOf } from '../../src/plan/message.ts';
import { siteName } from '../../src/posting/identifiers.ts';
import { pauseSite, readSiteState, resumeSite } from '../../src/store/site/site-state.ts';
import { runProgram } from '../cli/run-program.ts';
import { postings } from '../support/indeed-feed.ts';
import { openedForAll } from '../support/opened.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { serve } from '../web/served.ts';
import { openStage } from './stage.ts';

const stage = openedForAll(() => openStage());
const served = openedForAll(() => serve(stage.mirror));
beforeAll(async () => {
  await stage.pull(postings(1));
});

const board = siteName('board');
const pausedSince = async () => (await readSiteState(stage.app.db, board)).pausedSince?.toISOString();

it('a site that was paused again is not resumed, nor believed to be emptied', async () => {
  const { db } = stage.app;
  const pause = () => pauseSite(db, board, messageOf('its jobs are gone'), undefined);
  const anna = await visitorOf(served, 'anna');
  const media: readonly (readonly [string, (since: string) => Promise<string>])[] = [
    ['page', async (since) => (await anna.post('/sites/board/resume', { paused_since: since, emptied: 'true' })).text],
    [
      'API',
      async (since) => (await served.api('POST', 'sites/board/resume', { paused_since: since, emptied: true })).text,
    ],
    [
      'terminal',
      async (since) => {
        const { out, errors } = await runProgram(stage.mirror, 'resume', 'board', '--emptied', '--paused-since', since);
        return out + errors;
      },
    ],
  ];
  for (const [medium, resume] of media) {
    await pause();
    const seen = (await served.api('GET', 'sites')).body.items[0].paused_since;
    await resumeSite(db, board);
    expect(await resume(seen), medium).toContain('is not paused any more; nothing was changed');
    await pause();
    expect(await resume(seen), medium).toContain('was paused again at');
    expect(await pausedSince(), medium).toBeDefined();
    const trusted = () => db.query('select from site_state where trust_gone_until is not null');
    expect(await trusted(), medium).toEqual([]);
    await resume((await pausedSince()) ?? '');
    expect(await pausedSince(), medium).toBeUndefined();
    expect(await trusted(), medium).toHaveLength(1);
    await db.query('update site_state set trust_gone_until = null');
  }
});

it('a feed that another undo has stopped is not resumed', async () => {
  const { db } = stage.app;
  const stop = (undo: number) => db.query('update feed_state set stopped_at = now(), stopped_by = $1', [undo]);
  const stopped = async () =>
    (await db.query<{ stopped_by: number | null }>('select stopped_by from feed_state'))[0]?.stopped_by;
  const { pull } = await stage.pull(postings(2));
  const anna = await visitorOf(served, 'anna');
  await stop(pull - 1);
  const page = await anna.get('/feed?feed=acme');
  await stop(pull);
  const late = await anna.press(page, 'Resume acme');
  expect([late.status, late.text]).toEqual([
    409,
    expect.stringContaining(`feed acme is not stopped by undo ${pull - 1}; undo ${pull} has stopped it`),
  ]);
  const undo = (by: number) => runProgram(stage.mirror, 'feeds', 'resume', 'acme', '--undo', String(by));
  const refused = `nothing was done: feed acme is not stopped by undo ${pull - 1}; undo ${pull} has stopped it`;
  expect(await undo(pull - 1)).toMatchObject({ status: 1, out: '', errors: expect.stringContaining(refused) });
  expect(await stopped()).toBe(pull);
  expect((await undo(pull)).out).toContain('is pulled again');
  expect(await stopped()).toBeNull();
  expect(await undo(999)).toMatchObject({ status: 1, errors: expect.stringContaining('no undo has stopped it') });
  await stop(pull);
  expect((await anna.press(await anna.get('/feed?feed=acme'), 'Resume acme')).status).toBe(200);
  expect(await stopped()).toBeNull();
});
