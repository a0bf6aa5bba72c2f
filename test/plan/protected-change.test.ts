import { expect, it } from 'vitest';
import { protectedChange } from '../../src/plan/match-unreadable.ts';
import { protectedCases } from './protected-cases.ts';

it.each(protectedCases)('%j: %s', (change, becomes) => {
  expect(protectedChange(change)).toBe(becomes);
});
