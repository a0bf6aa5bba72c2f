// How fast a process notices that work is due, and that another process has died or hangs.
import { QUEUE_TIMING, type QueueTiming } from '../queue/queue-timing.ts';
import { LOCK_TIMING, type LockTiming } from '../store/postgres/database.ts';

/** No law depends on these: shorter times only make a slow process lose its work to others more often. */
export interface Timing {
  /** Pause between two rounds of backlog maintenance. */
  readonly maintainEveryMs: number;
  readonly queue: QueueTiming;
  readonly locks: LockTiming;
}

export const TIMING: Timing = { maintainEveryMs: 2_000, queue: QUEUE_TIMING, locks: LOCK_TIMING };

let ofProcess = TIMING;

/** The timing of this process, unless an app is opened with another one. */
export const processTiming = (): Timing => ofProcess;

/** Replaces the timing of this process; called before the program starts, if at all. */
export function setProcessTiming(timing: Timing): void {
  ofProcess = timing;
}
