// Waits: for a time, for a promise with a time limit, or between the rounds of repeated work.

/** The longest time that a timer supports; about 24 days. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

interface PauseOptions {
  /** Whether a process that has nothing else to do waits as well, instead of ending. Default: it waits. */
  readonly keepsAlive?: boolean;
}

/** Resolves after the time, or at once when the signal aborts. Never rejects. */
export function pause(ms: number, signal?: AbortSignal, { keepsAlive = true }: PauseOptions = {}): Promise<void> {
  if (ms <= 0 || signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (!keepsAlive) timer.unref();
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** Whether the promise was fulfilled or rejected in time, and before the signal aborts. It is not cancelled otherwise. */
export function endsWithin(promise: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<boolean> {
  // Each chunk of a feed is waited for, so this makes no signal of its own.
  return new Promise((resolve) => {
    let listensNoMore = (): void => undefined;
    const end = (inTime: boolean): void => {
      clearTimeout(timer);
      listensNoMore();
      resolve(inTime);
    };
    const timer = setTimeout(end, Math.max(ms, 1), false);
    if (signal !== undefined) listensNoMore = onAbort(signal, () => end(false));
    promise.then(
      () => end(true),
      () => end(true),
    );
  });
}

// Repeats work in rounds, each some time after the end of the one before.
export interface RepeatedWork {
  /** Aborts the signal, and waits for a running round to end. */
  stop(): Promise<void>;
}

/** @param round must not reject. */
export function startRounds(
  round: (signal: AbortSignal) => Promise<void>,
  { firstAfterMs = 0, everyMs }: { readonly firstAfterMs?: number; readonly everyMs: number },
): RepeatedWork {
  const stopping = new AbortController();
  const { signal } = stopping;
  async function run(): Promise<void> {
    await pause(firstAfterMs, signal);
    while (!signal.aborted) {
      await round(signal);
      await pause(everyMs, signal);
    }
  }
  const ended = run();
  return {
    stop() {
      stopping.abort();
      return ended;
    },
  };
}

// Calls short-lived listeners when a signal aborts. With many requests in flight on one signal, its own listeners cost more than
// the requests: each one that is added or removed is compared with all others.

const listenersOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `listener`, which must not throw, once the signal aborts; at once if it has.
 * @returns the function that takes the listener back.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => undefined;
  }
  const listeners = listenersOf.get(signal) ?? listenTo(signal);
  // Not the listener itself, which may be added twice.
  const call = () => listener();
  listeners.add(call);
  return () => listeners.delete(call);
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const listeners = new Set<() => void>();
  listenersOf.set(signal, listeners);
  const callAll = () => {
    for (const call of listeners) call();
  };
  signal.addEventListener('abort', callAll, { once: true });
  return listeners;
}
