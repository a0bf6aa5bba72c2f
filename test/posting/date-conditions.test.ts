// Conditions on dates: each test at its boundary, in zones and without one, texts that are no dates, and when the outcome changes.
import { describe, expect, it, test } from 'vitest';
import { type Condition, compileConditions, type WithoutText } from '../../src/posting/conditions.ts';
import { RecordDates } from '../../src/posting/dates.ts';
import type { RecordTree } from '../../src/posting/posting.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NEVER = Number.POSITIVE_INFINITY;

type Tests = Omit<Condition, 'path'>;

function judge(groups: readonly (readonly Condition[])[], record: RecordTree, now: string | number) {
  const dates = new RecordDates({ now: typeof now === 'number' ? now : Date.parse(now) });
  const holds = compileConditions(groups, 'nothing holds')(record, dates);
  return { holds, since: dates.since, until: dates.until };
}

const holdsAt = (tests: Tests, text: string | readonly string[], now: string | number): boolean =>
  judge([[{ path: 'd', ...tests }]], { d: text }, now).holds;

/** When the outcome of a test changes, for each way to write a date. */
const dates: [text: string, tests: Tests, changes: string][] = [
  ['2026-11-01T10:00:00Z', {}, '2026-11-01T10:00:00Z'],
  ['2026-11-01T10:00:00+02:00', {}, '2026-11-01T08:00:00Z'],
  ['Sun, 01 Nov 2026 10:00:00 -0500', {}, '2026-11-01T15:00:00Z'],
  ['20261101T100000Z', {}, '2026-11-01T10:00:00Z'],
  ['1793527200', {}, '2026-11-01T10:00:00Z'],
  ['1793527200.5', {}, '2026-11-01T10:00:00.500Z'],
  ['1793527200000', {}, '2026-11-01T10:00:00Z'],
  [' 2026-11-01 ', {}, '2026-11-02T12:00:00Z'],
  ['1 Nov 2026', {}, '2026-11-02T12:00:00Z'],
  ['2026-11-01 10:00', {}, '2026-11-01T22:00:00Z'],
  ['2026-11-01', { zone: 'UTC' }, '2026-11-02T00:00:00Z'],
  // The clock is set back on that day, which has 25 hours.
  ['2026-11-01', { zone: 'America/New_York' }, '2026-11-02T05:00:00Z'],
  ['2026-10-31', { zone: 'America/New_York' }, '2026-11-01T04:00:00Z'],
  ['2026-11-01 10:00', { zone: 'Europe/Berlin' }, '2026-11-01T09:00:00Z'],
  ['11/1/2026', { zone: 'UTC', order: 'month first' }, '2026-11-02T00:00:00Z'],
  ['1.11.2026', { zone: 'UTC', order: 'day first' }, '2026-11-02T00:00:00Z'],
];

test.each(dates)('"%s" with %j has passed from %s on', (text, settings, changes) => {
  const at = Date.parse(changes);
  expect(holdsAt({ ...settings, past: true }, text, at - 1)).toBe(false);
  expect(holdsAt({ ...settings, past: true }, text, at)).toBe(true);
  expect(holdsAt({ ...settings, past: false }, text, at - 1)).toBe(true);
  expect(holdsAt({ ...settings, past: false }, text, at)).toBe(false);
});

test.each([
  ['minutes', 90 * MINUTE],
  ['hours', 12 * HOUR],
  ['days', 30 * DAY],
  ['weeks', 14 * DAY],
])('ages in %s count from the end of the date', (_unit, age) => {
  for (const [text, end] of [
    ['2026-03-01T00:00:00Z', Date.UTC(2026, 2, 1)],
    ['2026-03-01', Date.UTC(2026, 2, 2)],
  ] as const) {
    const zone = 'UTC';
    expect(holdsAt({ newerThan: age, zone }, text, end + age - 1)).toBe(true);
    expect(holdsAt({ newerThan: age, zone }, text, end + age)).toBe(false);
    expect(holdsAt({ olderThan: age, zone }, text, end + age - 1)).toBe(false);
    expect(holdsAt({ olderThan: age, zone }, text, end + age)).toBe(true);
    // A date that is still to come is newer.
    expect(holdsAt({ newerThan: age, zone }, text, end - DAY * 100)).toBe(true);
  }
});

test('a posting of 1 October is older than 30 days on 1 November, when it is 31 days old', () => {
  const tests = { olderThan: 30 * DAY, zone: 'America/Chicago' };
  expect(holdsAt(tests, '2026-10-01', '2026-11-01T04:59:59Z')).toBe(false);
  expect(holdsAt(tests, '2026-10-01', '2026-11-01T05:00:00Z')).toBe(true);
});

test('a day is to come until it begins, and has passed once it has ended', () => {
  const zone = 'America/New_York';
  const at = (now: string) => [
    holdsAt({ future: true, zone }, '2026-12-01', now),
    holdsAt({ past: true, zone }, '2026-12-01', now),
  ];
  expect(at('2026-12-01T04:59:59Z')).toEqual([true, false]);
  expect(at('2026-12-01T05:00:00Z')).toEqual([false, false]);
  expect(at('2026-12-02T04:59:59Z')).toEqual([false, false]);
  expect(at('2026-12-02T05:00:00Z')).toEqual([false, true]);
  expect(holdsAt({ future: false, past: false, zone }, '2026-12-01', '2026-12-01T20:00:00Z')).toBe(true);
  // Without a zone it begins everywhere 12 hours later than in UTC.
  expect(holdsAt({ future: true }, '2026-12-01', '2026-12-01T11:59:59Z')).toBe(true);
  expect(holdsAt({ future: true }, '2026-12-01', '2026-12-01T12:00:00Z')).toBe(false);
});

describe('texts that are no dates', () => {
  const all: Tests[] = [
    { newerThan: DAY },
    { olderThan: DAY },
    { past: true },
    { past: false },
    { future: true },
    { future: false },
  ];
  const now = '2026-11-01T00:00:00Z';

  it.each([
    'soon',
    '4/8/2012',
    '2026-02-30',
    '',
    ' ',
    '0',
    '0001-01-01T00:00:00Z',
    '/Date(-62135596800000)/',
    '1970-01-01',
    '1999-12-31',
    '2026-11-01T10:00 CET',
    'x'.repeat(100_000),
  ])('"%s": no condition holds, and nothing changes', (text) => {
    for (const tests of all)
      for (const withoutText of ['nothing holds', 'a denial holds'] as const satisfies WithoutText[]) {
        const dates = new RecordDates({ now: Date.parse(now) });
        expect(compileConditions([[{ path: 'd', ...tests }]], withoutText)({ d: text }, dates)).toBe(false);
        expect(dates.until).toBe(NEVER);
      }
  });

  it('beside dates: those count, but not all dates are known', () => {
    const texts = ['soon', '2026-10-01'];
    expect(holdsAt({ past: true }, texts, now)).toBe(true);
    expect(holdsAt({ future: false }, texts, now)).toBe(false);
    expect(holdsAt({ future: false }, '2026-10-01', now)).toBe(true);
  });

  it('without a time: no condition holds', () => {
    for (const tests of all)
      expect(compileConditions([[{ path: 'd', ...tests }]], 'nothing holds')({ d: '2026-01-01' })).toBe(false);
  });
});

test('of several dates, one is enough for what is said of one', () => {
  const texts = ['2026-10-01T00:00:00Z', '2026-12-01T00:00:00Z'];
  const now = '2026-11-01T00:00:00Z';
  expect(holdsAt({ past: true }, texts, now)).toBe(true);
  expect(holdsAt({ future: true }, texts, now)).toBe(true);
  expect(holdsAt({ past: false }, texts, now)).toBe(false);
  expect(holdsAt({ future: false }, texts, now)).toBe(false);
});

describe('the span of an outcome', () => {
  const now = '2026-11-01T00:00:00Z';
  const at = (days: number) => Date.parse(now) + days * DAY;
  const iso = (days: number) => new Date(at(days)).toISOString();
  const past = (path: string): Condition => ({ path, past: true });

  it('ends with the first change that matters', () => {
    const record = { a: iso(-2), b: iso(-1), c: iso(1), d: iso(2), s: 'x' };
    expect(judge([[past('a'), past('b')]], record, now)).toEqual({ holds: true, since: at(-1), until: NEVER });
    // One that does not hold keeps its group from holding.
    expect(judge([[past('d'), past('c')]], record, now)).toMatchObject({ holds: false, until: at(2) });
    expect(judge([[{ path: 's', is: ['y'] }, past('c')]], record, now)).toMatchObject({ holds: false, until: NEVER });
    // Any group may hold first.
    expect(judge([[past('d')], [past('c')]], record, now)).toMatchObject({ holds: false, until: at(1) });
    expect(judge([[past('a')], [past('c')]], record, now)).toEqual({ holds: true, since: at(-2), until: NEVER });
    const both: Condition = { path: 'a', olderThan: DAY, newerThan: 5 * DAY };
    expect(judge([[both]], record, now)).toEqual({ holds: true, since: at(-1), until: at(3) });
  });

  it('is right: the outcome stays until it ends, and is another one then, or has a later end', () => {
    const record = { a: iso(-2), b: iso(3), c: [iso(-9), iso(8)], s: 'x' };
    const rules: Condition[][][] = [
      [[{ path: 'a', olderThan: 5 * DAY }], [{ path: 'c', past: false }]],
      [
        [
          { path: 'b', future: true },
          { path: 'a', newerThan: 9 * DAY },
        ],
        [{ path: 'c', newerThan: 2 * DAY }],
      ],
      [[{ path: 'b', past: true, newerThan: DAY }], [{ path: 's', not: ['x'] }]],
    ];
    for (const rule of rules) {
      let { holds, until } = judge(rule, record, now);
      for (let hour = 1; hour < 24 * 20; hour++) {
        const time = Date.parse(now) + hour * HOUR;
        const outcome = judge(rule, record, time);
        if (time < until) expect(outcome.holds).toBe(holds);
        else ({ holds, until } = outcome);
        expect(outcome.until).toBeGreaterThan(time);
      }
    }
  });
});
