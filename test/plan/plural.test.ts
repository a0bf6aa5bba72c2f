import { expect, it } from 'vitest';
import { plural } from '../../src/plan/message.ts';

it('uses the singular for one, and the plural for none and for several', () => {
  expect([0, 1, 2].map((count) => plural(count, 'job'))).toEqual(['0 jobs', '1 job', '2 jobs']);
  expect([1, 2].map((count) => plural(count, 'entry', 'entries'))).toEqual(['1 entry', '2 entries']);
});
