// How often each client may ask.
import { expect, it } from 'vitest';
import { limiter } from '../../src/web/access/limits.ts';

it('what is allowed refills evenly, and what is refused does not count', () => {
  let now = 0;
  const three = limiter(3, 60_000, () => now);
  expect([1, 2, 3, 4, 5].map(() => three.take('a'))).toEqual([0, 0, 0, 20, 20]);
  expect(three.take('b')).toBe(0);
  now += 20_000;
  expect([three.take('a'), three.take('a')]).toEqual([0, 20]);
  three.giveBack('a');
  expect(three.take('a')).toBe(0);
});
