// Turns the limit of requests at the same time into places: who has none waits until one is given back.

/** The places of one site in one process, given in the order in which they were asked for. */
export interface Semaphore {
  /**
   * Resolves to what gives the place back, which does nothing when it is called again; or to `undefined` where no more
   * places are given.
   */
  take(): Promise<(() => void) | undefined>;
  /** Gives no more places, not even to those who wait. Those who have one keep it. */
  close(): void;
  readonly closed: boolean;
  /** How many are taken. */
  readonly taken: number;
}

/** @param count a whole number from 1. */
export function semaphoreFor(count: number): Semaphore {
  let free = count;
  let closed = false;
  const waiting: ((place: (() => void) | undefined) => void)[] = [];

  function giveBack(): void {
    const next = waiting.shift();
    if (next === undefined) free++;
    // Straight to the next one, so that nobody who comes just now is faster.
    else next(place());
  }

  function place(): () => void {
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
      return Promise.resolve(place());
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
