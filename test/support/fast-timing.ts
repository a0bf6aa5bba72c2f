// A process's timing for tests of what happens after another process died or hangs, so that they need not wait for long.
import type { Timing } from '../../src/runtime/timing.ts';

export const FAST_TIMING: Timing = {
  // More rounds of maintenance would take a twentieth of the processor time of the tests.
  maintainEveryMs: 1_000,
  queue: { lockMs: 3_000, stalledCheckMs: 500 },
  locks: { keepAliveEveryMs: 500, staleAfterMs: 4_000, answerWithinMs: 2_000 },
};
