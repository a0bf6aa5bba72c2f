// The status of a site as text for people, and how a pull ended.
import { describe, expect, it } from 'vitest';
import { describeSite, pullStatus } from '../../src/cli/output/describe-status.ts';
import { siteName } from '../../src/posting/identifiers.ts';

const write = (words: readonly string[]): string => `jobmirror ${words.join(' ')} --config c.yaml`;

const SITE = {
  site: siteName('board'),
  state: 'sending',
  paused_since: null,
  pause_cause: null,
  next_probe: null,
  probes: 0,
  waits_until: null,
  learnt_requests_per_second: null,
  unreachable_streak: 0,
  last_message: null,
  moved: null,
  orphans: 0,
  references_note: null,
  other_refused_tokens: [],
};
const linesOf = (members: object): string[] =>
  describeSite({ ...SITE, ...members } as unknown as Parameters<typeof describeSite>[0], write);
const PAUSED = { state: 'paused', paused_since: new Date() };
/** Times are given in milliseconds from now. */
const timed = (members: object): object =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      /until|next/.test(name) ? new Date(Date.now() + Number(value)) : value,
    ]),
  );

describe('a site', () => {
  it.each([
    [
      { state: 'out_of_reach', unreachable_streak: 1 },
      'site board: out of reach, 1 time in a row; the next try is now',
    ],
    [
      { state: 'out_of_reach', unreachable_streak: 2, waits_until: 4_000 },
      'site board: out of reach, 2 times in a row; the next try is in 4 s',
    ],
    [{ ...PAUSED, next_probe: 0, probes: 1 }, '  asked again now, by a running worker; 1 probe so far'],
    [{ ...PAUSED, next_probe: 9_000 }, '  asked again in 9 s, by a running worker; 0 probes so far'],
  ])('%o', (state, line) => {
    expect(linesOf(timed(state))).toContain(line);
  });

  it('shows one orphan site job, and several', () => {
    expect(linesOf({ orphans: 1 })).toContain('  still to be deleted: 1 orphan site job');
    expect(linesOf({ orphans: 2 })).toContain('  still to be deleted: 2 orphan site jobs');
  });
});

it.each([
  [{ discarded: 0, skipped: 0, expired: 0 }, 'not modified'],
  [{ discarded: 0, skipped: 12, expired: 0 }, 'not modified, 12 skipped'],
  [{ discarded: 3, skipped: 12, expired: 2 }, 'not modified, 3 discarded, 10 skipped, 2 expired'],
  [{ discarded: 0, skipped: 2, expired: 2 }, 'not modified, 2 expired'],
])('a pull with %o', (counts, words) => {
  expect(pullStatus({ status: 'not_modified', ...counts })).toBe(words);
});
