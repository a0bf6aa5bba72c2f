// How fast a dead worker of a queue is noticed. Apart from the worker: commands that only read need no queue.

export interface QueueTiming {
  /** How long a queue job stays locked after its worker last renewed the lock. */
  readonly lockMs: number;
  /** How often workers look for queue jobs whose lock has expired. */
  readonly stalledCheckMs: number;
}

/** A killed worker is noticed after its lock expires, at the second check at the latest: 14 s. */
export const QUEUE_TIMING: QueueTiming = { lockMs: 10_000, stalledCheckMs: 2_000 };
