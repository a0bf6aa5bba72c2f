// Decides when the site's list is checked for the job of a create in doubt.

/** The delays of list checks. */
export interface CheckDelays {
  /** From the start of the attempt to the first check, in milliseconds. */
  readonly firstMs: number;
  /** From each check to the next one. */
  readonly furtherMs: number;
}

/** @param resolveAfterMs how long a request may take to become visible in the list. */
export const checkDelays = (resolveAfterMs: number): CheckDelays => ({
  firstMs: resolveAfterMs,
  furtherMs: resolveAfterMs / 2,
});

/** The age of an attempt at which the next check is due, in milliseconds. The database applies the same sum. */
export const checkDueMs = ({ firstMs, furtherMs }: CheckDelays, checks: number): number => firstMs + checks * furtherMs;
