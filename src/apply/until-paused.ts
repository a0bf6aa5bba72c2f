// Ends what reads from a site soon after a person has paused it.
import { pause } from '../flow/pause.ts';
import { readPausesOf } from '../store/locks/pauses.ts';
import type { SiteContext } from './site-context.ts';

const CHECK_MS = 1_000;

/**
 * Does work that only reads, with a signal that aborts with the given one, or within about a second once a person has paused the site.
 * @returns `paused`: the work was ended for that, and is to be done again later. @throws what the work throws, unless it was ended
 */
export async function readUntilPaused<T>(
  { db, site, log }: Pick<SiteContext, 'db' | 'site' | 'log'>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<{ readonly kind: 'done'; readonly result: T } | { readonly kind: 'paused' }> {
  const paused = new AbortController();
  const done = new AbortController();
  async function watch(): Promise<void> {
    for (;;) {
      await pause(CHECK_MS, done.signal, { keepsAlive: false });
      if (done.signal.aborted) return;
      const pauses = await readPausesOf(db.prepared, { site }).catch((error: unknown) => {
        log.warn({ err: error, site }, 'pauses of people not read, will retry');
        return [];
      });
      if (pauses.length > 0) return paused.abort();
    }
  }
  void watch();
  try {
    const result = await work(AbortSignal.any([signal, paused.signal]));
    return paused.signal.aborted ? { kind: 'paused' } : { kind: 'done', result };
  } catch (error) {
    if (paused.signal.aborted && !signal.aborted) return { kind: 'paused' };
    throw error;
  } finally {
    done.abort();
  }
}
