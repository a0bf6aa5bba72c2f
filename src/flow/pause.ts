// Waits, unless the wait is no longer needed.

export interface PauseOptions {
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
