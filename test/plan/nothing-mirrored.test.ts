import { expect, it } from 'vitest';
import { describeNothingMirrored, type MirroredCounts, mirroredNothing } from '../../src/plan/set-up-suspicion.ts';

const NONE: MirroredCounts = {
  seen: 0,
  unchanged: 0,
  created: 0,
  updated: 0,
  pending: 0,
  in_doubt: 0,
  rejected: 0,
  failed: 0,
  duplicates: 0,
  unreadable: 0,
  skipped: 0,
};

it.each([
  ['an empty feed', {}, false],
  ['all rejected', { rejected: 3 }, true],
  ['all failed', { failed: 3 }, true],
  ['all skipped', { skipped: 3 }, true],
  ['one skipped beside an unchanged one', { skipped: 3, unchanged: 1 }, false],
  ['all unreadable', { unreadable: 3, duplicates: 1 }, true],
  ['one unchanged', { rejected: 3, unchanged: 1 }, false],
  ['one created', { rejected: 3, created: 1 }, false],
  ['one updated', { rejected: 3, updated: 1 }, false],
  ['one still to be sent', { rejected: 3, pending: 1 }, false],
  ['one in doubt', { rejected: 3, in_doubt: 1 }, false],
])('%s', (_name, counts, nothing) => {
  expect(mirroredNothing({ ...NONE, ...counts })).toBe(nothing);
});

const WHY = { message: 'title is missing.', count: 2 };

it.each([
  [{ rejected: 3 }, WHY, 0, 'nothing was mirrored: all 3 postings were rejected: title is missing (2 of 3)'],
  [{ skipped: 3 }, undefined, 0, "nothing was mirrored: all 3 postings were skipped by the feed's rule"],
  [{ skipped: 3, expired: 3 }, undefined, 0, 'nothing was mirrored: all 3 postings expired'],
  [
    { skipped: 3, expired: 1 },
    undefined,
    0,
    "nothing was mirrored: of 3 postings 2 were skipped by the feed's rule, 1 expired",
  ],
  [
    { rejected: 2, skipped: 1 },
    WHY,
    0,
    "nothing was mirrored: of 3 postings 2 were rejected, 1 was skipped by the feed's rule: title is missing (2 of 3)",
  ],
  [{ unreadable: 1 }, undefined, 0, 'nothing was mirrored: the only posting was unreadable'],
  [
    { rejected: 2, failed: 1, unreadable: 1 },
    WHY,
    0,
    'nothing was mirrored: of 4 postings 2 were rejected, 1 was failed, 1 was unreadable: title is missing (2 of 4)',
  ],
  [{ failed: 2, deleted: 1 }, undefined, 0, 'no posting was mirrored: all 2 postings failed'],
  [{ failed: 1 }, undefined, 0, 'nothing was mirrored: the only posting failed'],
  [
    { rejected: 2 },
    undefined,
    1,
    'nothing was mirrored: all 2 postings were rejected; 1 job of earlier pulls stays as it is',
  ],
  [
    { rejected: 2 },
    undefined,
    4,
    'nothing was mirrored: all 2 postings were rejected; 4 jobs of earlier pulls stay as they are',
  ],
])('%o', (counts, common, live, sentence) => {
  expect(describeNothingMirrored({ ...NONE, ...counts }, common, live)).toBe(
    sentence.replace('1 was failed', '1 failed'),
  );
});

it('uses the conditional for a plan', () => {
  expect(describeNothingMirrored({ ...NONE, rejected: 2, failed: 1 }, WHY, 0, 'would be')).toBe(
    'nothing would be mirrored: of 3 postings 2 would be rejected, 1 has failed: title is missing (2 of 3)',
  );
});
