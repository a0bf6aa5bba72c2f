// Announces what counters count: without a listener, which only a process that serves metrics has, nothing is counted.

/** One attempt to send a change, once its outcome is known. */
export interface AttemptEnded {
  readonly site: string;
  readonly feed: string;
  readonly operation: 'create' | 'update' | 'delete';
  /** What becomes of the posting; `undefined` if a later event says it. */
  readonly outcome: string | undefined;
  /** The request; `undefined` if none was sent. `status` is 0 if no answer came. */
  readonly request: { readonly status: number; readonly durationMs: number } | undefined;
}

/** One pull that ended, with its counts. */
export interface PullEnded {
  readonly feed: string;
  readonly status: string;
  readonly seen: number;
  readonly bytes: number;
  readonly durationMs: number;
}

interface Listener {
  readonly onAttempt: (ended: AttemptEnded) => void;
  readonly onPull: (ended: PullEnded) => void;
}

const listeners = new Set<Listener>();

export function announceAttempt(ended: AttemptEnded): void {
  for (const { onAttempt } of listeners) onAttempt(ended);
}

export function announcePull(ended: PullEnded): void {
  for (const { onPull } of listeners) onPull(ended);
}

/** Calls the functions from now on; they must not throw. Returns a function that ends this. */
export function onEnded(onAttempt: Listener['onAttempt'], onPull: Listener['onPull']): () => void {
  const listener = { onAttempt, onPull };
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
