// How often the holder of a lock shows that its process runs, and after which silence others take the lock from it.

export interface LockTiming {
  /** How often an otherwise idle holder sends a statement. */
  readonly keepAliveEveryMs: number;
  /** A holder that has sent no statement for this long is stale. */
  readonly staleAfterMs: number;
  /** How long a leader waits for the database; shorter than `staleAfterMs`, so that it stops leading before another starts. */
  readonly answerWithinMs: number;
}

export const LOCK_TIMING: LockTiming = { keepAliveEveryMs: 3_000, staleAfterMs: 15_000, answerWithinMs: 5_000 };
