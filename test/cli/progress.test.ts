import { expect, it } from 'vitest';
import { seldom } from '../../src/cli/progress.ts';

it('a look that takes long is skipped until it has taken no more than a twentieth of the time', async () => {
  let clock = 0;
  let looks = 0;
  const look = seldom(
    async () => {
      looks++;
      clock += 200;
    },
    () => clock,
  );
  for (; clock < 21_000; clock += 100) await look();
  // One of 200 ms, then 4 s without one.
  expect(looks).toBe(5);
});
