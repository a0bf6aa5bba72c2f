// Records an attempt's outcome, retrying as long as the process lives: only this process knows the site's answer.

import type { AttemptOutcome, Recorded } from '../store/change/attempt-outcome.ts';
import { isOfStatement, isPassing } from '../store/postgres/transient-error.ts';
import { pause } from '../store/postgres/with-retry.ts';
import type { SiteContext } from './site-context.ts';

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 2_000;
/** Time that pending work has after the process is asked to end; then the outcome goes to the log. */
const LAST_WORD_MS = 400;

/**
 * Records the outcome. Rejects only if the process ends, or the database refuses the statement itself twice. The log
 * then holds the job ID, recorded nowhere else, for whoever resolves the doubt by hand.
 */
export async function recordOutcome(
  siteContext: SiteContext,
  outcome: AttemptOutcome,
  signal: AbortSignal,
): Promise<Recorded> {
  const { attempt, result } = outcome;
  const fields = {
    site: siteContext.site,
    feed: attempt.feed,
    key: attempt.key,
    operation: attempt.request.kind,
    ...(result.kind === 'created' ? { siteJobId: result.siteJobId } : {}),
  };
  let trying = outcome;
  try {
    return await keepTrying(
      () => siteContext.recordOutcome(trying),
      signal,
      (error) => {
        siteContext.log.warn({ err: error, ...fields }, 'outcome not recorded yet');
        if (!isOfStatement(error)) return true;
        // The exchange record may hold what the database cannot store; the outcome matters more than its record.
        const last = trying.record === undefined;
        trying = { ...outcome, record: undefined };
        return !last;
      },
    );
  } catch (error) {
    siteContext.log.error({ err: error, ...fields }, 'outcome not recorded');
    throw error;
  }
}

/** Retries work that must follow an answer, such as pausing the site, as long as the process lives. */
export const insist = <Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> =>
  keepTrying(work, signal, isPassing);

/** @param goesOn whether to try again after this failure. */
async function keepTrying<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
  goesOn: (error: unknown) => boolean,
): Promise<Result> {
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(LONGEST_DELAY_MS, delayMs * 2)) {
    try {
      return await untilTheEnd(work(), signal);
    } catch (error) {
      if (signal.aborted || !goesOn(error)) throw error;
      await pause(delayMs, signal);
    }
  }
}

/** A hanging connection must not delay what has to be logged before the process ends. */
async function untilTheEnd<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const cutOff = new Promise<never>((_, reject) => {
    const onAbort = (): void => {
      timer = setTimeout(() => reject(new Error('the process ended before the database answered')), LAST_WORD_MS);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([work, cutOff]);
  } finally {
    over.abort();
    clearTimeout(timer);
  }
}
