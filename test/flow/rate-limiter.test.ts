// Rate limiter: how many slots it grants in any period, in which order, and who need not wait.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { rateLimiterFor } from '../../src/flow/rate-limiter.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Requests slots all at once, and returns when each was granted, in milliseconds. */
async function takeAll(
  rateLimiter: ReturnType<typeof rateLimiterFor>,
  count: number,
  signal?: AbortSignal,
): Promise<number[]> {
  const from = performance.now();
  const came: number[] = [];
  const all = Array.from({ length: count }, () =>
    rateLimiter.take(signal).then(() => came.push(Math.round(performance.now() - from))),
  );
  await vi.advanceTimersByTimeAsync(60_000);
  await Promise.all(all);
  return came;
}

describe('slots', () => {
  it.each([
    [1, [0, 1000, 2000, 3000]],
    [10, [0, 100, 200, 300]],
    [20, [0, 0, 50, 100]],
    [1000, [0, 0, 0, 0]],
    [Number.POSITIVE_INFINITY, [0, 0, 0, 0]],
  ])('at %d per second are granted at %j', async (rate, times) => {
    expect(await takeAll(rateLimiterFor(rate), 4)).toEqual(times);
  });

  it('are never granted faster than the rate for long, whenever they are requested', async () => {
    const rateLimiter = rateLimiterFor(1000);
    expect(await takeAll(rateLimiter, 400)).toEqual(Array.from({ length: 400 }, (_, at) => Math.max(0, at - 99)));
  });

  it('spent without waiting delay those that follow', async () => {
    const rateLimiter = rateLimiterFor(10);
    rateLimiter.spend();
    rateLimiter.spend();
    expect(await takeAll(rateLimiter, 2)).toEqual([200, 300]);
  });

  it('are no longer waited for after an abort', async () => {
    const rateLimiter = rateLimiterFor(0.5);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 10);
    expect(await takeAll(rateLimiter, 3, stop.signal)).toEqual([0, 10, 10]);
    expect(await takeAll(rateLimiter, 1, AbortSignal.abort())).toEqual([0]);
  });
});
