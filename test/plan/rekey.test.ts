// When the keys of a feed seem to have changed, and which creates wait for a posting that a pull did not show: case by case.
import { describe, expect, it } from 'vitest';
import { textOf } from '../../src/plan/message.ts';
import {
  describeTwins,
  endsTwinJob,
  pairsOfWindow,
  seemsRekeyed,
  TWIN_DELETES,
  type TwinDelete,
  waitsForTwinDelete,
} from '../../src/plan/rekey.ts';
import { feedName } from '../../src/posting/identifiers.ts';

const guard = { percent: 10, count: 5 };
const load = (equal: number, recent: number, live: number) => ({ equal, recent, live, alike: equal, settable: 0 });

it.each([
  ['as many as the limit allows', load(5, 0, 20), false],
  ['more', load(6, 0, 20), true],
  ['more, but a small share', load(6, 0, 60), false],
  ['a few, after a few others', load(4, 4, 20), true],
  ['a few, after a few others, of many', load(4, 4, 100), false],
  ['none, after many', load(0, 9, 20), false],
  ['one, after two', load(1, 2, 20), false],
])('pairs of a pull and of the days before: %s', (_, found, suspected) => {
  expect(seemsRekeyed(guard, found)).toBe(suspected);
  expect(seemsRekeyed({ percent: 100, count: 0 }, found)).toBe(false);
});

it.each([
  ['nothing', [], 0],
  ['one or two of each day before', [0, 2, 1, 2, 2], 0],
  ['those of the last 24 hours, however few', [1, 2], 1],
  ['three and more of a day before', [0, 4, 2, 3], 7],
])('of the window count: %s', (_, perDay, count) => {
  expect(pairsOfWindow(perDay)).toBe(count);
});

describe('the create of a new posting with the content of one that was not shown', () => {
  const waiting = (complete: boolean, deletes: boolean, percent = 10): TwinDelete[] =>
    TWIN_DELETES.filter((twin) => waitsForTwinDelete(twin, { percent, complete, deletes }));

  it.each([
    ['incomplete', 'mirror', waiting(false, true), ['none', 'held']],
    ['incomplete', 'one that deletes nothing', waiting(false, false), ['none', 'held']],
    ['complete', 'mirror', waiting(true, true), ['none', 'held']],
    ['complete', 'one that deletes nothing', waiting(true, false), ['held']],
    ['complete', 'mirror, and no guard', waiting(true, true, 100), []],
    ['incomplete', 'mirror, and no guard', waiting(false, true, 100), []],
  ])('%s pull, policy %s', (_, __, found, expected) => {
    expect(found).toEqual(expected);
  });

  it('takes the place of one whose job ends', () => {
    expect(TWIN_DELETES.filter(endsTwinJob)).toEqual(['ready', 'sending', 'in_doubt', 'rejected', 'failed']);
  });
});

it('says for what creates wait', () => {
  const acme = feedName('acme');
  expect(textOf(describeTwins(acme, 1, true))).toBe(
    '1 new posting of feed acme has the content, or the title and place, of postings that an incomplete pull did not show: it is not created until a pull has read the whole feed',
  );
  expect(textOf(describeTwins(acme, 2, false))).toBe(
    '2 new postings of feed acme have the content, or the title and place, of postings that are gone, and whose jobs have not ended: they are not created until the jobs of the others have ended, or these are back',
  );
});
