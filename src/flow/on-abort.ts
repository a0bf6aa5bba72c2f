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
