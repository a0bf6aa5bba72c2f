// Repeats work in rounds, each some time after the end of the one before.
import { pause } from './pause.ts';

export interface Rounds {
  /** Aborts the signal, and waits for a running round to end. */
  stop(): Promise<void>;
}

/** @param round must not reject. */
export function startRounds(
  round: (signal: AbortSignal) => Promise<void>,
  { firstAfterMs = 0, everyMs }: { readonly firstAfterMs?: number; readonly everyMs: number },
): Rounds {
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
