// Throttled checks for progress output.
import { expect, it } from 'vitest';
import { throttled } from '../../src/telemetry/print.ts';

it('a slow check is skipped until it has taken no more than a twentieth of the time', async () => {
  let clock = 0;
  let listChecks = 0;
  const check = throttled(
    async () => {
      listChecks++;
      clock += 200;
    },
    () => clock,
  );
  for (; clock < 21_000; clock += 100) await check();
  // A check of 200 ms, then 4 s without one.
  expect(listChecks).toBe(5);
});
