// Turns the outcome of one request into what the whole site has to heed: a pause, a wait, or that all is well again.
import type { Exchange, Outcome } from '../site/exchange.ts';
import { countOutcomes } from '../store/backlog/open-counts.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { pullToWatch } from '../store/feed/feed-state.ts';
import { type ProbePace, refuseToken } from '../store/site/refused-token.ts';
import { throttleSite } from '../store/site/site-rate.ts';
import { noteMisconfigured, noteReachable, noteUnreachable, pauseSite } from '../store/site/site-state.ts';
import type { SiteContext } from './site-context.ts';

const UNREACHABLE_FIRST_MS = 1_000;
const UNREACHABLE_MAX_MS = 60_000;
/** First probe of a paused site; each later one waits twice as long, up to `PROBE_MAX_MS`. */
export const PROBE_FIRST_MS = 15_000;
export const PROBE_MAX_MS = 15 * 60_000;
export const TOKEN_PACE: ProbePace = { firstMs: PROBE_FIRST_MS, maxMs: PROBE_MAX_MS };
/** Answers in a row that no request can get past, before the site is paused. */
const MISCONFIGURED_LIMIT = 3;

/** For this long a success is not noted again: spares a write for each. Another process may have met trouble meanwhile. */
const WELL_MS = 1_000;

/** Until when a site needs no note that it answers as it should. */
const wellUntil = new WeakMap<SiteContext, number>();

/** What of the exchange tells how the site is to be treated. */
type Course = Pick<Exchange, 'durationMs' | 'response'>;

/** @param attempt `undefined`: no posting was sent. */
export async function updateSiteHealth(
  outcome: Outcome,
  attempt: Attempt | undefined,
  siteContext: SiteContext,
  { durationMs, response }: Course = { durationMs: 0 },
): Promise<void> {
  const { db, site } = siteContext;
  switch (outcome.kind) {
    case 'created':
    case 'accepted':
      if ((wellUntil.get(siteContext) ?? 0) > performance.now()) return;
      await noteReachable(db, site, siteContext.address);
      wellUntil.set(siteContext, performance.now() + WELL_MS);
      return;
    case 'gone':
      // That a job is not there proves nothing of the address.
      return noteReachable(db, site, undefined);
    case 'unauthorized':
      return pauseForToken(siteContext);
    case 'throttled':
      await throttleSite(db, site, {
        status: response?.status === 503 ? 503 : 429,
        waitMs: outcome.retryAfterMs ?? siteContext.policy.retry.firstDelayMs,
        sentMsAgo: durationMs,
        requestsPerSecond: siteContext.policy.requestsPerSecond,
      });
      siteContext.rateLimiter.slowDown?.();
      return;
    case 'unreachable':
      wellUntil.delete(siteContext);
      await noteUnreachable(db, site, outcome.message, UNREACHABLE_FIRST_MS, UNREACHABLE_MAX_MS);
      return;
    case 'misconfigured':
      wellUntil.delete(siteContext);
      if ((await noteMisconfigured(db, site, outcome.message)) >= MISCONFIGURED_LIMIT) {
        await pause(siteContext, outcome.message, PROBE_FIRST_MS);
      }
      return;
    case 'rejected':
    case 'forbidden':
    case 'unknown':
    case 'foreign':
      return attempt === undefined ? undefined : watchCanary(attempt, siteContext);
    default:
      return outcome satisfies never;
  }
}

/** Processes that hold another token go on, and none of them ends this pause. */
async function pauseForToken({ db, site, tokenDigest, log }: SiteContext): Promise<void> {
  const cause = 'the site does not accept the token (401): it was changed, or the password was';
  if (await refuseToken(db, site, tokenDigest, cause, TOKEN_PACE)) {
    log.error({ site, cause }, 'site paused for this token');
  }
}

async function pause(siteContext: SiteContext, cause: string, probeAfterMs: number | undefined): Promise<void> {
  if (await pauseSite(siteContext.db, siteContext.site, cause, probeAfterMs)) {
    siteContext.log.error({ site: siteContext.site, cause }, 'site paused');
  }
}

/**
 * Pauses the site where too many of a pull's first requests failed: better 20 failures than 20,000. A site that answers
 * proves nothing then, so only a person resumes it; after that the pulls there were are not judged again.
 */
async function watchCanary(attempt: Attempt, siteContext: SiteContext): Promise<void> {
  const { requests, percent, until } = siteContext.policy.canary;
  if (requests === 0) return;
  const pull = await pullToWatch(siteContext.db, attempt.feed);
  if (pull === undefined) return;
  const outcomeCounts = await countOutcomes(siteContext.db, pull);
  // What says nothing of the postings, such as a request to wait, is no success either.
  const sent = (outcomeCounts.requests ?? 0) - (outcomeCounts.unjudged ?? 0);
  const failed = outcomeCounts.refused ?? 0;
  if (sent < requests || sent > until || (failed / sent) * 100 <= percent) return;
  await pause(
    siteContext,
    `${failed} of the first ${sent} requests of pull ${pull} of feed ${attempt.feed} failed, ` +
      `above the limit of ${percent} %; see what is wrong with: jobmirror review list`,
    undefined,
  );
}
