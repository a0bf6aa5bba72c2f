import { expect, it } from 'vitest';
import { pullsBeforeDue } from '../../src/plan/policy.ts';
import { graceCases } from './grace-cases.ts';

it.each(graceCases)('to be missing %i times, missing %i times before: %s', (missingPulls, before, end) => {
  expect(before >= pullsBeforeDue(missingPulls) ? 'due' : 'in grace').toBe(end);
});
