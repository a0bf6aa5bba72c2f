// Divides long work into slices of a few milliseconds and yields to the event loop between them.
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Other work of the process waits about this long at most. */
const SLICE_MS = 6;

/** Await between small parts of a piece of work; yields to the event loop once a slice is over. */
export type Pause = () => Promise<void>;

export function timeSlices(): Pause {
  let workedFrom = performance.now();
  return async () => {
    if (performance.now() - workedFrom < SLICE_MS) return;
    await nextTurn();
    workedFrom = performance.now();
  };
}
