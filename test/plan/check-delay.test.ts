import { expect, it } from 'vitest';
import { checkDelays, checkDueMs } from '../../src/plan/policy.ts';

it.each([
  [0, 60],
  [1, 90],
  [2, 120],
  [4, 180],
])('after %i checks, the next is due %i seconds after the attempt', (checks, seconds) => {
  expect(checkDueMs(checkDelays(60_000), checks)).toBe(seconds * 1000);
});
