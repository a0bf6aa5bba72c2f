// Updates a site's health after a request: a pause, a wait, or reachable again.
import { type Message, messageOf, tell } from '../plan/message.ts';
import type { Exchange, Outcome } from '../site/exchange.ts';
import { countOutcomes } from '../store/backlog/open-counts.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { searchUnprovenAgain } from '../store/change/site-search.ts';
import { pullToWatch } from '../store/feed/feed-state.ts';
import { type ProbePace, refuseToken } from '../store/site/refused-token.ts';
import {
  noteMisconfigured,
  noteReachable,
  noteUnreachable,
  pauseSite,
  throttleSite,
} from '../store/site/site-state.ts';
import { noteAcceptedWrite } from './prove-token.ts';
import type { SiteContext } from './site-context.ts';

const UNREACHABLE_FIRST_MS = 1_000;
const UNREACHABLE_MAX_MS = 60_000;
/** Delay of the first probe of a paused site; it doubles with each probe, up to `PROBE_MAX_MS`. */
export const PROBE_FIRST_MS = 15_000;
export const PROBE_MAX_MS = 15 * 60_000;
export const TOKEN_PROBE_PACE: ProbePace = { firstMs: PROBE_FIRST_MS, maxMs: PROBE_MAX_MS };
/** The site is paused after this many misconfigured answers in a row. */
const MISCONFIGURED_LIMIT = 3;

/**
 * How long further successes are not recorded, to save a write for each. Short, because another process may have
 * recorded a problem.
 */
const WELL_MS = 1_000;

interface Well {
  /** Until when successes of the site need not be recorded. */
  until: number;
  /** A success is being recorded, which is enough for all that arrive meanwhile: they would only wait for each other's row. */
  isNoting: boolean;
}

/** Removed once it is recorded that something is wrong with the site: a success that follows is recorded at once. */
const wellOf = new WeakMap<SiteContext, Well>();

/** The parts of an exchange that affect the site's health. */
interface ExchangeDetails extends Pick<Exchange, 'durationMs' | 'response'> {
  /** When it was sent at the earliest, by `performance.now()`; absent: nothing was sent that needs the token. */
  readonly startedAt?: number;
}

/** @param attempt `undefined`: no posting was sent. */
export async function updateSiteHealth(
  outcome: Outcome,
  attempt: Attempt | undefined,
  siteContext: SiteContext,
  { durationMs, response, startedAt }: ExchangeDetails = { durationMs: 0 },
): Promise<void> {
  const { db, site } = siteContext;
  switch (outcome.kind) {
    case 'created':
    case 'accepted':
      if (startedAt !== undefined) await noteAcceptedWrite(siteContext, startedAt);
      return noteWell(siteContext);
    case 'gone':
      // A missing job proves nothing about the address.
      return noteReachable(db, site, undefined);
    case 'unauthorized':
      await pauseForToken(siteContext);
      if (siteContext.policy.canList) await searchUnprovenAgain(db, site, siteContext.tokenDigest);
      return;
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
      await noteUnreachable(db, site, outcome.message, UNREACHABLE_FIRST_MS, UNREACHABLE_MAX_MS);
      wellOf.delete(siteContext);
      return;
    case 'misconfigured':
      if ((await noteTrouble(siteContext, outcome.message)) >= MISCONFIGURED_LIMIT) {
        await pause(siteContext, outcome.message, PROBE_FIRST_MS);
      }
      return;
    case 'set_up':
      if (outcome.pause !== undefined) await pause(siteContext, outcome.pause, undefined);
      return;
    case 'unknown':
      if (outcome.setUp !== undefined) await noteSetUp(siteContext, outcome.setUp, outcome.message);
      return attempt === undefined ? undefined : watchCanary(attempt, siteContext);
    case 'rejected':
    case 'forbidden':
    case 'foreign':
    case 'unconfirmed':
      return attempt === undefined ? undefined : watchCanary(attempt, siteContext);
    default:
      return outcome satisfies never;
  }
}

async function noteWell(siteContext: SiteContext): Promise<void> {
  const well = wellOf.get(siteContext) ?? { until: Number.NEGATIVE_INFINITY, isNoting: false };
  wellOf.set(siteContext, well);
  if (well.isNoting || well.until > performance.now()) return;
  well.isNoting = true;
  try {
    await noteReachable(siteContext.db, siteContext.site, siteContext.address);
    well.until = performance.now() + WELL_MS;
  } finally {
    well.isNoting = false;
  }
}

/** Returns how many misconfigured answers there were in a row. */
async function noteTrouble(siteContext: SiteContext, message: Message): Promise<number> {
  const streak = await noteMisconfigured(siteContext.db, siteContext.site, message);
  wellOf.delete(siteContext);
  return streak;
}

/** Answering a probe proves nothing here: only a person can tell that the cause is gone. */
async function noteSetUp(siteContext: SiteContext, looksLike: Message, message: string): Promise<void> {
  if ((await noteTrouble(siteContext, message)) < MISCONFIGURED_LIMIT) return;
  await pause(siteContext, looksLike, undefined);
}

/** Pauses only this token: processes with another token continue, and none of them ends this pause. */
export async function pauseForToken({
  db,
  site,
  tokenDigest,
  log,
}: Pick<SiteContext, 'db' | 'site' | 'tokenDigest' | 'log'>): Promise<void> {
  const cause = 'the site does not accept the token (401): the token or the password was changed';
  if (await refuseToken(db, site, tokenDigest, cause, TOKEN_PROBE_PACE)) {
    log.error({ site, cause }, 'site paused for this token');
  }
}

async function pause(siteContext: SiteContext, cause: Message, probeAfterMs: number | undefined): Promise<void> {
  const { db, site, log, writeAction } = siteContext;
  if (await pauseSite(db, site, cause, probeAfterMs)) {
    log.error({ site, cause: tell(cause, writeAction) }, 'site paused');
  }
}

/**
 * Pauses the site if too many of a pull's first requests failed: better 20 failures than 20,000. Answering a probe
 * proves nothing here, so only a person resumes the site; pulls up to then are not judged again.
 */
async function watchCanary(attempt: Attempt, siteContext: SiteContext): Promise<void> {
  const { requests, percent, until } = siteContext.policy.canary;
  if (requests === 0) return;
  const pull = await pullToWatch(siteContext.db, attempt.feed);
  if (pull === undefined) return;
  const outcomeCounts = await countOutcomes(siteContext.db, pull);
  // Outcomes that say nothing about the postings, such as a request to wait, do not count as successes either.
  const sent = (outcomeCounts.requests ?? 0) - (outcomeCounts.unjudged ?? 0);
  const failed = outcomeCounts.refused ?? 0;
  if (sent < requests || sent > until || (failed / sent) * 100 <= percent) return;
  const text = `${failed} of the first ${sent} requests of pull ${pull} of feed ${attempt.feed} failed, above the limit of ${percent} %`;
  const cause = messageOf(text, [{ words: 'for the reasons run', action: { kind: 'list_entries' } }]);
  await pause(siteContext, cause, undefined);
}
