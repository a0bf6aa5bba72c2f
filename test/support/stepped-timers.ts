// Timers whose time passes only while the test process runs, for tests of limits of some hundred milliseconds. By the clock, such a
// limit is over when a process goes on that was stopped meanwhile, or waited for a processor, before it has seen what arrived.
import { createRequire } from 'node:module';
import { vi } from 'vitest';

// undici keeps the first timer that it makes for all later requests of the process: it has to be a real one.
const { setFastTimeout, clearFastTimeout } = createRequire(import.meta.url)('undici/lib/util/timers.js') as {
  setFastTimeout(callback: () => void, ms: number): unknown;
  clearFastTimeout(timer: unknown): void;
};
clearFastTimeout(setFastTimeout(() => undefined, 2_000));

/**
 * Replaces timeouts and the steady clock until the returned function is called, as a hook before each test has it. Their time passes
 * by at most a millisecond in each round of the event loop, and in between what has arrived is taken.
 */
export function stepTimers(): () => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const steps = setInterval(() => vi.advanceTimersByTime(1), 1);
  return () => {
    clearInterval(steps);
    vi.useRealTimers();
  };
}
