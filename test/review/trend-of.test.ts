// Whether a group of entries grows, from what was counted a day ago.
import { expect, it } from 'vitest';
import { type GroupTrend, trendOf } from '../../src/review/list-groups.ts';
import type { GroupHistory } from '../../src/store/review/review-groups.ts';

const DAY = 86_400_000;

it.each<[GroupTrend, GroupHistory]>([
  ['new', { ageMs: DAY - 1, now: 3, dayAgo: undefined, backForMs: undefined }],
  ['growing', { ageMs: 2 * DAY, now: 4, dayAgo: 3, backForMs: undefined }],
  ['shrinking', { ageMs: 2 * DAY, now: 2, dayAgo: 3, backForMs: undefined }],
  ['steady', { ageMs: 2 * DAY, now: 3, dayAgo: 3, backForMs: undefined }],
  ['steady', { ageMs: 2 * DAY, now: 3, dayAgo: undefined, backForMs: undefined }],
  ['back', { ageMs: 9 * DAY, now: 3, dayAgo: 0, backForMs: 1 }],
  ['back', { ageMs: DAY / 2, now: 3, dayAgo: undefined, backForMs: DAY - 1 }],
  ['growing', { ageMs: 9 * DAY, now: 3, dayAgo: 2, backForMs: 2 * DAY }],
])('a group is %s', (trend, history) => {
  expect(trendOf(history)).toBe(trend);
});
