// Retries: how long each wait is, when there is no further try, and which error is thrown in the end.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backoffMs, type RetryOptions, type RetryPolicy, retry } from '../../src/flow/retry.ts';

const POLICY = { firstDelayMs: 1_000, maxDelayMs: 10_000 };

describe('the delay', () => {
  it('doubles up to the cap, with a jitter of half the delay', () => {
    const at = (number: number, random: number) => backoffMs(POLICY, number, random);
    expect([1, 2, 3, 4, 5, 60].map((number) => at(number, 0))).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    expect(at(2, 0.999)).toBeCloseTo(1_999);
  });

  it('has no jitter without a random number, and grows by the factor', () => {
    const policy = { ...POLICY, maxDelayMs: 3_000, factor: 1.5 };
    expect([1, 2, 3, 4, 1e9].map((number) => backoffMs(policy, number))).toEqual([1_000, 1_500, 2_250, 3_000, 3_000]);
  });
});

describe('work', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  /** Runs work that always fails, each try with its own error; returns when each try began, in milliseconds. */
  async function tryInVain(policy: RetryPolicy, options: Partial<RetryOptions> = {}) {
    const began: number[] = [];
    const from = performance.now();
    const work = async (): Promise<never> => {
      began.push(performance.now() - from);
      throw new Error(`try ${began.length}`);
    };
    const ended = retry(work, policy, { worthAgain: () => true, ...options }).catch(({ message }: Error) => message);
    await vi.advanceTimersByTimeAsync(600_000);
    return { began, message: await ended };
  }

  it('is tried as often as the policy says', async () => {
    expect(await tryInVain({ ...POLICY, attempts: 3 })).toEqual({ began: [0, 1_000, 3_000], message: 'try 3' });
  });

  it('is tried for as long as the policy says, counted from the first failure', async () => {
    const { began, message } = await tryInVain({ ...POLICY, forMs: 15_000 });
    expect({ began, message }).toEqual({ began: [0, 1_000, 3_000, 7_000, 15_000, 25_000], message: 'try 6' });
  });

  it('is not tried again after an error that another try cannot help', async () => {
    const worthAgain = (error: unknown): boolean => (error as Error).message === 'try 1';
    const onRetry = vi.fn();
    expect(await tryInVain(POLICY, { worthAgain, onRetry })).toEqual({ began: [0, 1_000], message: 'try 2' });
    expect(onRetry.mock.calls).toEqual([[new Error('try 1')]]);
  });

  it('waits as long as the error says', async () => {
    const delayMs = (attempt: number, error: unknown): number =>
      (error as Error).message === `try ${attempt}` ? 7 : 0;
    expect((await tryInVain({ ...POLICY, attempts: 3 }, { delayMs })).began).toEqual([0, 7, 14]);
  });

  it('is tried once more when the signal aborts during a wait, and not again after that', async () => {
    const stopping = new AbortController();
    setTimeout(() => stopping.abort(), 100);
    expect(await tryInVain(POLICY, { signal: stopping.signal })).toEqual({ began: [0, 100], message: 'try 2' });
    expect(await tryInVain(POLICY, { signal: stopping.signal })).toEqual({ began: [0], message: 'try 1' });
  });

  it('returns what it returned', async () => {
    expect(await retry(async () => 7, POLICY, { worthAgain: () => true })).toBe(7);
  });
});
