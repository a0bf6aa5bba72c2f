import { describe, expect, it } from 'vitest';
import {
  type DeleteLoad,
  deletesWithin,
  holdReason,
  judgeDeletes,
  unreadableHold,
} from '../../src/plan/delete-guard.ts';
import { messageOfReason } from '../../src/plan/desired-change.ts';
import { merge, tell } from '../../src/plan/message.ts';

const guard = { percent: 20, count: 5, missingPulls: 1 };
it('holds the deletes of a feed whose records are all skipped, however few they are', () => {
  const verdict = judgeDeletes(guard, load({ added: 2, live: 2, emptied: true, skipped: 7 }));
  const reason = "the feed's rule skips all of its records: all 2 of its live jobs would be deleted";
  expect(verdict).toEqual({ kind: 'hold', reason });
});

const load = (changes: Partial<DeleteLoad>): DeleteLoad => ({
  added: 0,
  recent: 0,
  live: 100,
  done: 0,
  emptied: false,
  skipped: 0,
  ...changes,
});

it.each([
  [20, 5, 344, 68],
  [20, 5, 10, 5],
  [20, 5, 3, 3],
  [0, 0, 100, 0],
  [100, 0, 7, 7],
  [33.3, 2, 1000, 332],
  [12.5, 0, 80, 10],
])('within %d %% and %d of %d jobs, %d deletes are done, and one more is held', (percent, count, live, most) => {
  const asked = { percent, count, missingPulls: 1 };
  expect(deletesWithin(asked, live)).toBe(most);
  expect(judgeDeletes(asked, load({ added: most, live })).kind).toBe('within');
  if (most < live) expect(judgeDeletes(asked, load({ added: most + 1, live })).kind).toBe('hold');
});

describe('judgeDeletes', () => {
  it.each([
    ['nothing to delete', load({}), 'within'],
    ['nothing to delete from an empty feed', load({ live: 0, emptied: true }), 'within'],
    ['few of many', load({ added: 20 }), 'within'],
    ['one more than the share', load({ added: 21 }), 'hold'],
    ['a large share of a few jobs, but not above the count', load({ added: 5, live: 6 }), 'within'],
    ['one more than the count, above the share', load({ added: 6, live: 7 }), 'hold'],
    ['above the count, at the share', load({ added: 6, live: 30 }), 'within'],
    ['few now, many in the last day', load({ added: 6, recent: 15, done: 15, live: 85 }), 'hold'],
    ['shrinking feed: there were more jobs a day ago', load({ added: 5, recent: 15, done: 15, live: 85 }), 'within'],
    ['few now, many already held', load({ added: 1, recent: 50 }), 'hold'],
    ['more than the count, with no job counted as live', load({ added: 6, live: 0 }), 'hold'],
    ['fewer than expired, of which none was pushed out', load({ added: 2, expired: 2, newest: 10 }), 'within'],
    ['few that newer ones may have pushed out', load({ added: 1, newest: 10 }), 'hold'],
    ['an empty feed, however small', load({ added: 1, live: 1, emptied: true }), 'hold'],
  ] as const)('%s', (_name, given, kind) => {
    expect(judgeDeletes(guard, given).kind).toBe(kind);
  });

  it.each([
    [1, 'the feed is empty: its only live job would be deleted'],
    [4, 'the feed is empty: all 4 of its live jobs would be deleted'],
  ])('gives the reason for an empty feed with live jobs: %i', (added, reason) => {
    expect(judgeDeletes(guard, load({ added, live: added, emptied: true }))).toEqual({ kind: 'hold', reason });
  });

  it('gives the counts and the limit', () => {
    const verdict = judgeDeletes(guard, load({ added: 30, recent: 10, done: 10, live: 90 }));
    expect(verdict).toEqual({
      kind: 'hold',
      reason:
        '40 of 100 live jobs would be deleted (30 now, 10 in the last 24 hours or pending): 40.0 %, above the limit of 5 and 20 %',
    });
  });

  it.each([
    [30, 'all'],
    [12, '12'],
  ])('says how many postings have expired: %i', (expired, words) => {
    const verdict = judgeDeletes(guard, load({ added: 30, live: 100, expired }));
    const reason = expect.stringMatching(`%; ${words} of the new deletes are of postings that have expired$`);
    expect(verdict).toEqual({ kind: 'hold', reason });
    expect(judgeDeletes(guard, load({ added: 5, expired: 5 })).kind).toBe('within');
  });

  it('says that what exceeds the limit may have been pushed out', () => {
    const verdict = judgeDeletes(guard, load({ added: 1, recent: 9, live: 20, newest: 10 }));
    expect(verdict).toEqual({
      kind: 'hold',
      reason: expect.stringMatching(/ %; the feed, .* exactly 10 records.*upsert_only$/),
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
  [2, true, '2 records could not be read, and the keys of this feed have changed: each may be one of the postings '],
])('explains why %i unreadable records hold deletes (rekeyed: %s)', (records, rekeyed, opening) => {
  expect(tell(unreadableHold(records, rekeyed), String).startsWith(opening)).toBe(true);
});

describe('holdReason', () => {
  const hold = { kind: 'hold', reason: 'too many' } as const;
  const pushedOut = { ...hold, own: 'newest' } as const;

  it.each([
    ['nothing against the deletes', { kind: 'within' }, 0, undefined, undefined],
    ['too many', hold, 0, 'guard', 'too many'],
    ['any may be an unreadable posting', { kind: 'within' }, 1, 'unreadable', unreadableHold(1)],
    ['both', hold, 2, 'guard', merge(['too many', unreadableHold(2)])],
    ['they may be pushed out', pushedOut, 0, 'newest', 'too many'],
    ['they may be pushed out, or unreadable', pushedOut, 2, 'unreadable', merge(['too many', unreadableHold(2)])],
  ] as const)('%s', (_name, verdict, withoutKey, kind, message) => {
    const reason = holdReason(verdict, { withoutKey, rekeyed: false });
    expect([reason?.kind, reason && messageOfReason(reason)]).toEqual([kind, message]);
  });
});
