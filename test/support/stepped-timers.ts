// Timers whose time passes only while the test process runs, for tests of limits of some hundred milliseconds. By the clock, such a
// limit is over when a process goes on that was stopped meanwhile, or waited for a processor, before it has seen what arrived.
import { vi } from 'vitest';

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
