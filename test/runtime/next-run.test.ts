// When schedules run next, when they were last due, and when a complete pull is overdue.
import { describe, expect, it } from 'vitest';
import { isOverdue, lastDue, nextRun } from '../../src/runtime/next-run.ts';
import { staleBefore } from '../../src/runtime/read-health.ts';
import { itInAll } from '../support/in-all.ts';

const NIGHTLY = { pattern: '0 3 * * *', timeZone: 'America/New_York' };
const time = (text: string): Date => new Date(text);

it.each([
  ['2026-03-20T12:00:00Z', 1, '2026-03-20T07:00:00Z'],
  ['2026-03-20T12:00:00Z', 3, '2026-03-18T07:00:00Z'],
  // The clock went forward on 8 March.
  ['2026-03-08T12:00:00Z', 2, '2026-03-07T08:00:00Z'],
])('before %s, the %i. last run was due at %s', (now, n, due) => {
  expect(lastDue(NIGHTLY, time(now), n)).toEqual(time(due));
});

describe('a run is overdue', () => {
  it.each([
    ['2026-03-20T06:59:59Z', true],
    ['2026-03-20T07:00:00Z', false],
    ['2026-03-20T07:00:01Z', false],
  ])('after a last run at %s: %s', (last, overdue) => {
    expect(isOverdue(NIGHTLY, time(last), time('2026-03-20T12:00:00Z'))).toBe(overdue);
  });

  it('if there was none', () => {
    expect(isOverdue(NIGHTLY, undefined, time('2026-03-20T12:00:00Z'))).toBe(true);
  });
});

it('an unreadable schedule of another version is named in the error', () => {
  const unknown = { pattern: '@later', timeZone: 'UTC' };
  expect(() => lastDue(unknown, new Date())).toThrow('the schedule "@later" (UTC) can\'t be read');
  expect(() => nextRun(unknown, new Date())).toThrow('the schedule "@later" (UTC) can\'t be read');
});

describe('a complete pull is missed', () => {
  const now = time('2026-03-20T12:00:00Z');
  const missedBefore = (feed: Partial<Parameters<typeof staleBefore>[0]>) =>
    staleBefore({ timeZone: 'UTC', ...feed }, undefined, undefined, now);
  it.each([
    ['after three runs of the schedule', { schedule: '*/15 * * * *' }, '2026-03-20T11:15:00Z'],
    ['after at least a minute', { schedule: '*/5 * * * * *' }, '2026-03-20T11:59:00Z'],
    ['after the configured time', { schedule: '*/15 * * * *', staleAfterMs: 7_200_000 }, '2026-03-20T10:00:00Z'],
    ['after the configured time, without a schedule', { staleAfterMs: 60_000 }, '2026-03-20T11:59:00Z'],
  ])('%s', (_name, feed, due) => {
    expect(missedBefore(feed)).toEqual(time(due));
  });

  it('never without either', () => {
    expect(missedBefore({})).toBeUndefined();
  });
});

itInAll('runs again after a clock change of half an hour', () => {
  const schedule = { pattern: '15 2 * * *', timeZone: 'Australia/Lord_Howe' };
  const next = nextRun(schedule, new Date('2026-04-03T15:15:00Z'));
  expect(next.toLocaleTimeString('en-GB', { timeZone: schedule.timeZone })).toBe('02:15:00');
  expect(next.getTime()).toBeLessThan(Date.UTC(2026, 3, 7));
  const due = lastDue(schedule, new Date('2026-10-04T15:10:00Z'), 2);
  expect(due.getTime()).toBeLessThan(Date.UTC(2026, 9, 4));
});
