// Turns "so long from now" into a moment that setting a clock does not put off.

/** A moment after which something must not begin any more. */
export interface Deadline {
  passed(): boolean;
}

/** The moment `ms` from now; `Infinity`: never. */
export function deadlineIn(ms: number): Deadline {
  // Nobody can set the steady clock, but it may stand still while the machine sleeps; the other one goes on then.
  const steady = performance.now() + ms;
  const clock = Date.now() + ms;
  return { passed: () => performance.now() > steady || Date.now() > clock };
}
