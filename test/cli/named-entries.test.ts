// Entries that a person names one by one: if something cannot be done about one of them, the person is told.
import { beforeEach, expect, it } from 'vitest';
import { openStage } from '../review/stage.ts';
import { postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { runProgram } from './run-program.ts';

const stage = openedForEach(() => openStage());
beforeEach(async () => {
  await stage.pull(postings(2));
  await stage.fail('p1', 'rejected');
  await stage.fail('p2', 'in_doubt');
});

const review = (...words: readonly string[]) => runProgram(stage.mirror, 'review', ...words, '--no-send');
const entries = async () => [await stage.entry('p1'), await stage.entry('p2')].map(String) as [string, string];

it('edits none if one of them is resolved', async () => {
  const [rejected] = await entries();
  const refused = await review('edit', rejected, '999999', '--set', 'title=Chef');
  expect([refused.status, refused.errors]).toEqual([
    1,
    expect.stringContaining('there is no open review entry 999999. Nothing was done.'),
  ]);
  expect(await stage.change('p1')).toMatchObject({ state: 'rejected' });
});

it('has the list read for none if one of them is resolved, or is not in doubt', async () => {
  const [rejected, doubt] = await entries();
  const resolved = await review('settle', doubt, '999999', '--check');
  expect([resolved.status, resolved.errors]).toEqual([
    1,
    expect.stringContaining('there is no open review entry 999999. Nothing was done.'),
  ]);
  for (const verdict of ['--check', '--missing']) {
    const other = await review('settle', doubt, rejected, verdict);
    expect([other.status, other.errors]).toEqual([
      1,
      expect.stringContaining(`entry ${rejected} is not in doubt, but rejected. Nothing was done.`),
    ]);
  }
  expect(await stage.app.db.query('select from bulk_action')).toEqual([]);
});
