// Divides long work into slices of a few milliseconds, between which the event loop does whatever else there is to do.
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Whatever else the process has to do is not kept waiting for much longer. */
const SLICE_MS = 6;

/** Awaited between two small parts of a piece of work; the event loop gets its turn once a slice is over. */
export type Pause = () => Promise<void>;

export function timeSlices(): Pause {
  let workedFrom = performance.now();
  return async () => {
    if (performance.now() - workedFrom < SLICE_MS) return;
    await nextTurn();
    workedFrom = performance.now();
  };
}
