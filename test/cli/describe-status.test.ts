// The status of sites and feeds as text for people.
import { describe, expect, it } from 'vitest';
import { describeFeeds, describeSite, pullStatus } from '../../src/cli/output/describe-status.ts';
import { siteName } from '../../src/posting/identifiers.ts';

const write = (words: readonly string[]): string => `jobmirror ${words.join(' ')} --config c.yaml`;

const STATE = {
  site: siteName('board'),
  pausedSince: undefined,
  pauseCause: undefined,
  waitsMs: 0,
  unreachableStreak: 0,
  lastMessage: undefined,
  probeInMs: undefined,
  probes: 0,
} as const;
const linesOf = (state: object, orphans = 0): string[] =>
  describeSite({ state: { ...STATE, ...state }, orphans } as Parameters<typeof describeSite>[0], write);

describe('a site', () => {
  it.each([
    [{ unreachableStreak: 1 }, 'site board: out of reach, 1 time in a row; the next try is now'],
    [{ unreachableStreak: 2, waitsMs: 4_000 }, 'site board: out of reach, 2 times in a row; the next try is in 4 s'],
    [{ pausedSince: new Date(), probeInMs: 0, probes: 1 }, '  asked again now, by a running worker; 1 probe so far'],
    [{ pausedSince: new Date(), probeInMs: 9_000 }, '  asked again in 9 s, by a running worker; 0 probes so far'],
  ])('%o', (state, line) => {
    expect(linesOf(state)).toContain(line);
  });

  it('shows one orphan site job, and several', () => {
    expect(linesOf({}, 1)).toContain('  still to be deleted: 1 orphan site job');
    expect(linesOf({}, 2)).toContain('  still to be deleted: 2 orphan site jobs');
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

describe('a schedule that nobody runs', () => {
  const schedule = { feed: 'acme', pattern: '* * * * *', lateMs: 60_000, nextAt: new Date(), processes: 0 };
  const counts = { live: 3, ready: 0, sending: 0, in_doubt: 0, held: 0, rejected: 0, failed: 0, unreadable: 0 };
  const feed = {
    ...counts,
    duplicates: 0,
    discarded: 0,
    warnings: [],
    feed: 'acme',
    site: 'board',
    schedule,
    served: false,
  };
  it.each([
    ['of a configured feed is late', { configured: true, retired: false }, true],
    ['of a removed feed is not', { configured: false, retired: false }, false],
    ['of a retired feed is not', { configured: false, retired: true }, false],
  ])('%s', (_what, marks, isLate) => {
    const lines = describeFeeds([{ ...feed, ...marks }] as unknown as Parameters<typeof describeFeeds>[0], write);
    expect(lines.some((line) => line.startsWith('LATE: feed acme: its run is '))).toBe(isLate);
  });
});
