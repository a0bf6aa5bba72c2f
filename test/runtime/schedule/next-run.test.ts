// When schedules run next, when they were last due, and when a complete pull is overdue.
import { describe, expect, it } from 'vitest';
import { latestCompleteDeadline } from '../../../src/runtime/read-health.ts';
import { isOverdue, latestDueTime, nextRun } from '../../../src/runtime/schedule/next-run.ts';

const NIGHTLY = { pattern: '0 3 * * *', timeZone: 'America/New_York' };
const time = (text: string): Date => new Date(text);

it.each([
  ['2026-03-20T12:00:00Z', 1, '2026-03-20T07:00:00Z'],
  ['2026-03-20T12:00:00Z', 3, '2026-03-18T07:00:00Z'],
  // The clock went forward on 8 March.
  ['2026-03-08T12:00:00Z', 2, '2026-03-07T08:00:00Z'],
])('before %s, the %i. last run was due at %s', (now, n, due) => {
  expect(latestDueTime(NIGHTLY, time(now), n)).toEqual(time(due));
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
  expect(() => latestDueTime(unknown, new Date())).toThrow('the schedule "@later" (UTC) can\'t be read');
  expect(() => nextRun(unknown, new Date())).toThrow('the schedule "@later" (UTC) can\'t be read');
});

describe('a complete pull is missed', () => {
  const now = time('2026-03-20T12:00:00Z');
  const missedBefore = (feed: Partial<Parameters<typeof latestCompleteDeadline>[0]>) =>
    latestCompleteDeadline({ timeZone: 'UTC', ...feed }, undefined, undefined, now);
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

describe('clocks that are shifted', () => {
  const LORD_HOWE = 'Australia/Lord_Howe';
  const NEW_YORK = 'America/New_York';
  // Lord Howe: by half an hour, at 2:00 on 5 April (to 1:30) and on 4 October (to 2:30); New York: by an hour, on 8 March and 1 November.
  it.each([
    ['15 2 * * *', LORD_HOWE, '2026-10-02T20:00:00Z', '2026-10-03T15:45:00Z 2026-10-04T15:15:00Z 2026-10-05T15:15:00Z'],
    ['0 2 * * *', LORD_HOWE, '2026-10-02T20:00:00Z', '2026-10-03T15:30:00Z 2026-10-04T15:00:00Z'],
    [
      '20,40 2 * * *',
      LORD_HOWE,
      '2026-10-03T12:00:00Z',
      '2026-10-03T15:40:00Z 2026-10-03T15:50:00Z 2026-10-04T15:20:00Z',
    ],
    ['45 1 * * *', LORD_HOWE, '2026-04-03T20:00:00Z', '2026-04-04T14:45:00Z 2026-04-05T15:15:00Z'],
    [
      '*/15 * * * *',
      LORD_HOWE,
      '2026-04-04T14:20:00Z',
      '2026-04-04T14:30:00Z 2026-04-04T14:45:00Z 2026-04-04T15:00:00Z 2026-04-04T15:15:00Z 2026-04-04T15:30:00Z',
    ],
    ['30 2 * * *', NEW_YORK, '2026-03-07T12:00:00Z', '2026-03-08T07:30:00Z 2026-03-09T06:30:00Z'],
    ['15 2,3 * * *', NEW_YORK, '2026-03-07T12:00:00Z', '2026-03-08T07:15:00Z 2026-03-09T06:15:00Z'],
    ['30 * * * *', NEW_YORK, '2026-03-08T05:45:00Z', '2026-03-08T06:30:00Z 2026-03-08T07:30:00Z'],
    ['30 1 * * *', NEW_YORK, '2026-10-31T12:00:00Z', '2026-11-01T05:30:00Z 2026-11-02T06:30:00Z'],
    ['30 * * * *', NEW_YORK, '2026-11-01T04:45:00Z', '2026-11-01T05:30:00Z 2026-11-01T06:30:00Z 2026-11-01T07:30:00Z'],
    ['0 0 29 2 *', 'UTC', '2026-11-01T04:45:00Z', '2028-02-29T00:00:00Z'],
    ['*/20 * * * * *', LORD_HOWE, '2026-04-04T14:59:41Z', '2026-04-04T15:00:00Z 2026-04-04T15:00:20Z'],
  ])('%s in %s after %s', (pattern, timeZone, after, expected) => {
    const schedule = { pattern, timeZone };
    const runs = expected.split(' ').map(time);
    let from = time(after);
    for (const run of runs) {
      expect(nextRun(schedule, from)).toEqual(run);
      from = run;
    }
    // What was due is what would have been next: each run counts as missed afterwards, and no other.
    const later = new Date(from.getTime() + 1);
    for (const [at, run] of runs.reverse().entries()) expect(latestDueTime(schedule, later, at + 1)).toEqual(run);
  });

  it('skip no day, and repeat none, in a zone of half an hour and one of an hour', () => {
    for (const timeZone of [LORD_HOWE, NEW_YORK]) {
      const schedule = { pattern: '15 2 * * *', timeZone };
      let run = time('2026-01-01T00:00:00Z');
      const end = time('2027-01-01T00:00:00Z');
      let runs = 0;
      for (run = nextRun(schedule, run); run < end; run = nextRun(schedule, run)) runs++;
      expect(runs).toBe(365);
    }
  });
});
