// When an open alert is told again, case by case.
import { expect, it } from 'vitest';
import { type AlertCount, isToldAgain, type LastAlertCount } from '../../src/review/health/alert-conditions.ts';
import type { AlertKind } from '../../src/telemetry/alert-message.ts';

const HOUR = 3_600;
const NOW = 1_800_000_000;
/** What was told so many seconds ago. */
const told = (count: number, agoSeconds: number): LastAlertCount => ({ count, at: NOW - agoSeconds, agoSeconds });
const CASES: readonly (readonly [string, AlertKind, LastAlertCount, AlertCount, boolean])[] = [
  ['the same', 'held', told(10, HOUR), { count: 10, oldestAt: NOW - 2 * HOUR }, false],
  ['fewer', 'held', told(10, HOUR), { count: 2, oldestAt: NOW - 2 * HOUR }, false],
  ['some more', 'held', told(10, HOUR), { count: 19, oldestAt: NOW - 2 * HOUR }, false],
  ['twice as many', 'held', told(10, HOUR), { count: 20, oldestAt: NOW - 2 * HOUR }, true],
  ['as many, all new', 'held', told(10, HOUR), { count: 10, oldestAt: NOW - HOUR + 1 }, true],
  ['one more a day later', 'held', told(10, 24 * HOUR), { count: 11, oldestAt: NOW - 25 * HOUR }, true],
  ['the same a day later', 'held', told(10, 24 * HOUR), { count: 10, oldestAt: NOW - 25 * HOUR }, false],
  ['more doubts a day later', 'in_doubt', told(10, 24 * HOUR), { count: 11 }, true],
  ['twice as many doubts', 'in_doubt', told(1, 1), { count: 2 }, true],
  ['more rejected a day later', 'rejected_share', told(100, 48 * HOUR), { count: 199 }, false],
  ['another new group', 'new_group', told(2, HOUR - 1), { count: 3 }, false],
  ['another new group an hour later', 'new_group', told(2, HOUR), { count: 3 }, true],
  ['as many new groups an hour later', 'new_group', told(2, HOUR), { count: 2 }, false],
  ['twice as many rejected', 'rejected_share', told(100, 1), { count: 200 }, true],
];

it.each(CASES)('%s', (_name, kind, last, now, expected) => {
  expect(isToldAgain(kind, last, now)).toBe(expected);
});
