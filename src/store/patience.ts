// Asks the database again while it is away for a moment: restarted, full, or without a connection to spare.
import { isPassing } from './database.ts';

/** Longer than a restart takes, shorter than a person waits. */
const PATIENCE_MS = 2 * 60_000;
const AGAIN_MS = 1_000;

/** Does work that may be done twice; throws what does not pass by itself, and what has not passed in two minutes. */
export async function patiently<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isPassing(error) || performance.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}
