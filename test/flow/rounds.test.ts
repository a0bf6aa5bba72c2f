// Rounds: when each begins, and what a stop waits for.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startRounds } from '../../src/flow/pause.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

it('begin some time after the start, and after the end of the one before', async () => {
  const began: number[] = [];
  const from = performance.now();
  const rounds = startRounds(
    async () => {
      began.push(performance.now() - from);
      await after(30);
    },
    { firstAfterMs: 5, everyMs: 100 },
  );
  await vi.advanceTimersByTimeAsync(300);
  expect(began).toEqual([5, 135, 265]);
  await rounds.stop();
});

it('no longer begin after a stop, which waits for the running one and aborts its signal', async () => {
  const seen: unknown[] = [];
  const rounds = startRounds(
    async (signal) => {
      seen.push('begins');
      await after(30);
      seen.push(signal.aborted);
    },
    { everyMs: 100 },
  );
  await vi.advanceTimersByTimeAsync(10);
  const stopped = rounds.stop().then(() => seen.push('stopped'));
  await vi.advanceTimersByTimeAsync(500);
  await stopped;
  expect(seen).toEqual(['begins', true, 'stopped']);
});

it('never begin if the stop comes first', async () => {
  const round = vi.fn(async () => undefined);
  await startRounds(round, { firstAfterMs: 1_000, everyMs: 1 }).stop();
  expect(round).not.toHaveBeenCalled();
});
