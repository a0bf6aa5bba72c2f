// Turns the limit of requests at the same time into places: who has none waits until one is given back.

/** The places of one site in one process, given in the order in which they were asked for. */
export interface Places {
  /**
   * Resolves to what gives the place back; called again, it does nothing. Rejects with the reason of `signal` where it
   * aborts first: then no place was taken.
   */
  take(signal?: AbortSignal): Promise<() => void>;
}

/** @param count a whole number from 1. */
export function placesFor(count: number): Places {
  let free = count;
  const waiting = new Set<() => void>();

  function giveBack(): void {
    const [next] = waiting;
    if (next === undefined) free++;
    // Straight to the next one, so that nobody who comes just now is faster.
    else next();
  }

  function place(): () => void {
    let held = true;
    return () => {
      if (held) giveBack();
      held = false;
    };
  }

  return {
    async take(signal) {
      signal?.throwIfAborted();
      if (free > 0) free--;
      else await turnOf(waiting, signal);
      return place();
    },
  };
}

/** Resolves when what it leaves in `waiting` is called. */
function turnOf(waiting: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    function leave(): void {
      waiting.delete(begin);
      signal?.removeEventListener('abort', giveUp);
    }
    function begin(): void {
      leave();
      resolve();
    }
    function giveUp(): void {
      leave();
      reject(signal?.reason);
    }
    waiting.add(begin);
    signal?.addEventListener('abort', giveUp, { once: true });
  });
}
