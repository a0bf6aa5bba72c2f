// When an open alert is told again, case by case.
import { expect, it } from 'vitest';
import { type AlertCount, isToldAgain, type ToldCount } from '../../src/review/alert-growth.ts';
import type { AlertKind } from '../../src/telemetry/alerts/alert-message.ts';

const HOUR = 3_600;
const CASES: readonly (readonly [string, AlertKind, ToldCount, AlertCount, boolean])[] = [
  ['the same', 'held', { count: 10, agoSeconds: HOUR }, { count: 10, oldestSeconds: 2 * HOUR }, false],
  ['fewer', 'held', { count: 10, agoSeconds: HOUR }, { count: 2, oldestSeconds: 2 * HOUR }, false],
  ['some more', 'held', { count: 10, agoSeconds: HOUR }, { count: 19, oldestSeconds: 2 * HOUR }, false],
  ['twice as many', 'held', { count: 10, agoSeconds: HOUR }, { count: 20, oldestSeconds: 2 * HOUR }, true],
  ['as many, all new', 'held', { count: 10, agoSeconds: HOUR }, { count: 10, oldestSeconds: HOUR - 1 }, true],
  ['one more a day later', 'held', { count: 10, agoSeconds: 24 * HOUR }, { count: 11, oldestSeconds: 25 * HOUR }, true],
  [
    'the same a day later',
    'held',
    { count: 10, agoSeconds: 24 * HOUR },
    { count: 10, oldestSeconds: 25 * HOUR },
    false,
  ],
  ['more doubts a day later', 'in_doubt', { count: 10, agoSeconds: 24 * HOUR }, { count: 11 }, true],
  ['twice as many doubts', 'in_doubt', { count: 1, agoSeconds: 1 }, { count: 2 }, true],
  ['more rejected a day later', 'rejected_share', { count: 100, agoSeconds: 48 * HOUR }, { count: 199 }, false],
  ['another new group', 'new_group', { count: 2, agoSeconds: HOUR - 1 }, { count: 3 }, false],
  ['another new group an hour later', 'new_group', { count: 2, agoSeconds: HOUR }, { count: 3 }, true],
  ['as many new groups an hour later', 'new_group', { count: 2, agoSeconds: HOUR }, { count: 2 }, false],
  ['twice as many rejected', 'rejected_share', { count: 100, agoSeconds: 1 }, { count: 200 }, true],
];

it.each(CASES)('%s', (_name, kind, told, now, expected) => {
  expect(isToldAgain(kind, told, now)).toBe(expected);
});
