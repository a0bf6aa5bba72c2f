// Deadlines that changing the system clock cannot extend.

/** A moment after which something must no longer start. */
export interface Deadline {
  passed(): boolean;
}

/** The moment `ms` from now; `Infinity`: never. */
export function deadlineIn(ms: number): Deadline {
  // The steady clock cannot be set, but may stop while the machine sleeps; the system clock continues then.
  const steady = performance.now() + ms;
  const clock = Date.now() + ms;
  return { passed: () => performance.now() > steady || Date.now() > clock };
}
