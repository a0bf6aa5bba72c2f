// Limits concurrent work: a caller without a slot waits until one is released. Not p-limit or async-mutex: neither can be
// closed so that waiting callers leave without an error while the holders of slots finish.

/** Slots of one process, granted in the order of the calls. */
export interface Semaphore {
  /**
   * Resolves to the function that releases the slot, which does nothing when called again; or to `undefined` once the
   * semaphore is closed.
   */
  take(): Promise<(() => void) | undefined>;
  /** Grants no more slots, not even to waiting callers. Slots already granted stay valid. */
  close(): void;
  readonly closed: boolean;
  /** How many slots are taken. */
  readonly taken: number;
}

/** @param count a whole number from 1. */
export function semaphoreFor(count: number): Semaphore {
  let free = count;
  let closed = false;
  const waiting: ((release: (() => void) | undefined) => void)[] = [];

  function giveBack(): void {
    const next = waiting.shift();
    if (next === undefined) free++;
    // Hand the slot straight to the next waiter, so a new caller cannot overtake it.
    else next(grant());
  }

  function grant(): () => void {
    let held = true;
    return () => {
      if (held) giveBack();
      held = false;
    };
  }

  return {
    take() {
      if (closed) return Promise.resolve(undefined);
      if (free === 0) return new Promise((resolve) => waiting.push(resolve));
      free--;
      return Promise.resolve(grant());
    },
    close() {
      closed = true;
      for (const leave of waiting.splice(0)) leave(undefined);
    },
    get closed() {
      return closed;
    },
    get taken() {
      return count - free;
    },
  };
}
