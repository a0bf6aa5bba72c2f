// Records what an attempt came to for as long as the process lives: the site has answered, and nobody else knows.

import type { AttemptOutcome, Recorded } from '../store/change/attempt-outcome.ts';
import { isOfStatement, isPassing } from '../store/postgres/transient-error.ts';
import { pause } from '../store/postgres/with-retry.ts';
import type { SiteContext } from './site-context.ts';

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 2_000;
/** What is under way when the process is told to end has this long: then the log has to hear of it. */
const LAST_WORD_MS = 400;

/**
 * Records the outcome; rejects only where the process ends, or the statement itself is refused twice. Then the log has the
 * job ID, which stands nowhere else: whoever resolves the doubt by hand looks for it there.
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
        // What the database can't take may be in what was sent and received; the outcome counts more than its record.
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

/** Does work that must not be left out after an answer, such as a pause, for as long as the process lives. */
export const insist = <Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> =>
  keepTrying(work, signal, isPassing);

/** @param goesOn whether there is another try after this failure. */
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

/** A connection that hangs does not hold up what is to be said before the process ends. */
async function untilTheEnd<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const cutOff = new Promise<never>((_, reject) => {
    const onAbort = (): void => {
      timer = setTimeout(() => reject(new Error('the process ends before the database answers')), LAST_WORD_MS);
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
