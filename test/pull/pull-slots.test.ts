// Which feeds wait for which others in a process.
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { inDetailedFeedSlot, inStreamingFeedSlot } from '../../src/pull/pull-slots.ts';

it('feeds that request details leave slots to the others, and take turns among themselves', async () => {
  const { signal } = new AbortController();
  const sixth = new AbortController();
  const answer = new AbortController();
  const answered = once(answer.signal, 'abort');
  let started = 0;
  const slow = Array.from({ length: 12 }, () =>
    inDetailedFeedSlot(signal, async () => {
      started++;
      if (started === 6) sixth.abort();
      await answered;
    }),
  );
  await once(sixth.signal, 'abort');
  const others = Array.from({ length: 6 }, (_, at) => inStreamingFeedSlot(signal, async () => at));
  expect(await Promise.all(others)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(started).toBe(6);
  answer.abort();
  await Promise.all(slow);
  expect(started).toBe(12);
});
