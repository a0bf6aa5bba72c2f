// Records an attempt's outcome, retrying as long as the process lives: only this process knows the site's answer.
import { onAbort } from '../flow/on-abort.ts';
import { type RetryPolicy, retry } from '../flow/retry.ts';
import type { AttemptOutcome, Recorded, Result } from '../store/change/attempt.ts';
import { isOfStatement, isPassing } from '../store/postgres/transient-error.ts';
import { announceAttempt } from '../telemetry/events.ts';
import type { SiteContext } from './site-context.ts';

/** As long as the process lives. */
const INSIST: RetryPolicy = { firstDelayMs: 50, maxDelayMs: 2_000 };
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
    const recorded = await keepTrying(
      () => siteContext.writeOutcome(trying),
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
    announceOutcome(outcome, recorded);
    return recorded;
  } catch (error) {
    siteContext.log.error({ err: error, ...fields }, 'outcome not recorded');
    throw error;
  }
}

function announceOutcome({ attempt, result, record }: AttemptOutcome, recorded: Recorded): void {
  announceAttempt({
    site: attempt.site,
    feed: attempt.feed,
    operation: attempt.request.kind,
    outcome: outcomeName(result, recorded),
    request: record === undefined ? undefined : { status: record.status ?? 0, durationMs: record.durationMs },
  });
}

/** A disputed outcome is recorded, and announced, once more. */
function outcomeName(result: Result, recorded: Recorded): string | undefined {
  if (recorded !== 'recorded') return recorded === 'disputed' ? undefined : recorded;
  if (result.kind !== 'returned') return result.kind;
  return result.back.to === 'ready' ? 'retried' : result.back.to;
}

/** Retries work that must follow an answer, such as pausing the site, as long as the process lives. */
export const retryUntilDone = <Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> =>
  keepTrying(work, signal, isPassing);

/** @param worthAgain whether to try again after this failure. */
const keepTrying = <Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
  worthAgain: (error: unknown) => boolean,
): Promise<Result> => retry(() => untilTheEnd(work(), signal), INSIST, { signal, worthAgain });

/** A hanging connection must not delay what has to be logged before the process ends. */
function untilTheEnd<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const forget = onAbort(signal, () => {
      timer = setTimeout(() => reject(new Error('the process ended before the database answered')), LAST_WORD_MS);
    });
    const end = (): void => {
      forget();
      clearTimeout(timer);
    };
    work.finally(end).then(resolve, reject);
  });
}
