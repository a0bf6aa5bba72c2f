// Asks a site to show one job: at once, or within the site's rate limit and with retries; gives an update or delete the
// time that it took.
import type { RateLimiter } from '../flow/rate-limiter.ts';
import { backoffMs, type RetryPolicy, retry } from '../flow/retry.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import { NotShownError, type SiteClient, type SiteJob, shownUnlessDeleted } from '../site/exchange.ts';
import { type Deadline, deadlineIn } from '../site/http/trouble.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { renewAttempt } from '../store/change/claim.ts';
import { type JobAsker, noteShownJobs } from '../store/mapping/visible-jobs.ts';
import { SEND_WITHIN_MS, type SiteContext } from './site-context.ts';

/** Does not wait for the rate limiter, because the attempt is under way: later requests wait longer instead. */
export async function showJob(
  siteContext: SiteContext,
  id: SiteJobId,
  signal: AbortSignal,
): Promise<SiteJob | undefined> {
  const { db, site, client, rateLimiter, log } = siteContext;
  rateLimiter.spend();
  const shown = await client.show(id, signal);
  // If this cannot be noted, the job counts as hidden for longer, which does no harm.
  if (shown !== undefined)
    await noteShownJobs(db, site, [id]).catch((error) => log.warn({ err: error, site }, 'shown job not noted'));
  return shown;
}

/** Logs that a job could not be shown; with the stack only if the fault may be ours. */
export function warnOfUnshownJob({ log, site }: SiteContext, siteJobId: SiteJobId, error: unknown): void {
  const why = error instanceof NotShownError ? { message: error.message } : { err: error };
  log.warn({ ...why, site, siteJobId }, 'site job could not be shown');
}

/** Asks whether the site shows jobs of ours, and not as deleted; unlike {@link showJob}, outside an attempt. */
export const rateLimitedJobAsker = ({ db, site, client, rateLimiter }: SiteContext): Omit<JobAsker, 'probe'> => ({
  db,
  site,
  async ask(id, signal) {
    await rateLimiter.take(signal);
    return shownUnlessDeleted(await client.show(id, signal));
  },
});

// Reads one job from a site, within the site's rate limit, and retries transient failures.

export interface AskedSite {
  readonly site: { readonly retry: RetryPolicy };
  readonly client: SiteClient;
  readonly rateLimiter: RateLimiter;
  readonly signal: AbortSignal;
  /** If the site asks to wait for longer than this, that failure is the last. */
  readonly longestWaitMs?: number;
}

/** `undefined`: the site says that the job does not exist. @throws the last failure if the site gave no clear answer. */
export async function askForJob(
  { site, client, rateLimiter, signal, longestWaitMs = Number.POSITIVE_INFINITY }: AskedSite,
  id: SiteJobId,
): Promise<SiteJob | undefined> {
  const show = async (): Promise<SiteJob | undefined> => {
    await rateLimiter.take(signal);
    signal.throwIfAborted();
    try {
      return await client.show(id, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  };
  return retry(show, site.retry, {
    signal,
    worthAgain: (error) => isTransient(error) && (error.retryAfterMs ?? 0) <= longestWaitMs,
    delayMs: (attempt, error) =>
      (error instanceof NotShownError ? error.retryAfterMs : undefined) ?? backoffMs(site.retry, attempt),
  });
}

const isTransient = (error: unknown): error is NotShownError =>
  error instanceof NotShownError && (error.status === 0 || error.status === 429 || error.status >= 500);

/**
 * Gives an update or delete more time if the site was slow to show its job: nothing was sent for it yet.
 * Returns until when the request may be sent; `undefined`: the attempt was given up or paused meanwhile, so nothing may be sent.
 * @param hasAsked whether the site was asked since the attempt was claimed: a person may have paused it in that time
 */
export async function extendDeadline(
  attempt: Attempt,
  { db }: SiteContext,
  notAfter: Deadline,
  hasAsked = false,
): Promise<Deadline | undefined> {
  if (attempt.request.kind === 'create' || !(hasAsked || notAfter.passed())) return notAfter;
  const renewed = deadlineIn(SEND_WITHIN_MS);
  return (await renewAttempt(db, attempt)) ? renewed : undefined;
}
