import { describe, expect, it } from 'vitest';
import { type DeleteLoad, judgeDeletes, unreadableHold } from '../../src/plan/delete-guard.ts';

const guard = { percent: 20, count: 5, missingPulls: 1 };
const load = (changes: Partial<DeleteLoad>): DeleteLoad => ({
  added: 0,
  recent: 0,
  live: 100,
  done: 0,
  emptied: false,
  ...changes,
});

describe('judgeDeletes', () => {
  it.each([
    ['nothing to delete', load({}), 'within'],
    ['nothing to delete of an emptied feed', load({ live: 0, emptied: true }), 'within'],
    ['few of many', load({ added: 20 }), 'within'],
    ['one more than the share', load({ added: 21 }), 'hold'],
    ['a large share of few jobs, but not above the count', load({ added: 5, live: 6 }), 'within'],
    ['one more than the count, above the share', load({ added: 6, live: 7 }), 'hold'],
    ['above the count, at the share', load({ added: 6, live: 30 }), 'within'],
    ['few now, many in the last day', load({ added: 6, recent: 15, done: 15, live: 85 }), 'hold'],
    ['eroding: a day ago there were more', load({ added: 5, recent: 15, done: 15, live: 85 }), 'within'],
    ['few now, many held already', load({ added: 1, recent: 50 }), 'hold'],
    ['more than the count, of jobs none of which counts as live', load({ added: 6, live: 0 }), 'hold'],
    ['an emptied feed, however small', load({ added: 1, live: 1, emptied: true }), 'hold'],
  ] as const)('%s', (_name, given, kind) => {
    expect(judgeDeletes(guard, given).kind).toBe(kind);
  });

  it.each([
    [1, 'the feed is empty: its only live job would be deleted'],
    [4, 'the feed is empty: all 4 live jobs of it would be deleted'],
  ])('says of an emptied feed with jobs: %i', (added, reason) => {
    expect(judgeDeletes(guard, load({ added, live: added, emptied: true }))).toEqual({ kind: 'hold', reason });
  });

  it('says the counts and the limit', () => {
    const verdict = judgeDeletes(guard, load({ added: 30, recent: 10, done: 10, live: 90 }));
    expect(verdict).toEqual({
      kind: 'hold',
      reason:
        '40 of 100 live jobs would be deleted (30 now, 10 in the last 24 hours or waiting): 40.0 %, above the limit of 5 and 20 %',
    });
  });
});

it.each([
  [
    1,
    false,
    '1 record could not be read, and its key is not known: it may be one of the postings that seem to be gone; ',
  ],
  [
    3,
    false,
    '3 records could not be read, and their keys are not known: each may be one of the postings that seem to be gone; ',
  ],
  [
    2,
    true,
    '2 records could not be read since the keys of this feed are read in another way: each may be one of the postings ',
  ],
])('says why %i unreadable records hold deletes (other keys: %s)', (records, rekeyed, opening) => {
  expect(unreadableHold(records, rekeyed).startsWith(opening)).toBe(true);
});
