// Before a change or delete, checks that the job is still its posting's, if the site may have reused the job ID.
import type { SiteJobId } from '../posting/identifiers.ts';
import { tellOtherReference } from '../site/contradiction.ts';
import { type Exchange, type SiteJob, toCompare } from '../site/exchange.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { learntRewrites } from '../store/site/value-rewrites.ts';
import type { SiteContext } from './site-context.ts';

/**
 * Returns a `foreign` exchange if the site shows another posting's job under this ID; `undefined`: the request may be
 * sent. After a job expires, the site may give its ID to the next create, whose answer may be lost: then only the site
 * knows. A site that cannot show the job does not block the request.
 */
export async function confirmOwn(
  attempt: Attempt,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<Exchange | undefined> {
  const { request } = attempt;
  if (request.kind === 'create' || attempt.idMayBeReused !== true) return undefined;
  const startedAt = performance.now();
  const shown = await showJob(siteContext, request.siteJobId, signal).catch((error) => {
    siteContext.log.warn(
      { err: error, site: siteContext.site, siteJobId: request.siteJobId },
      'site job could not be shown',
    );
    return undefined;
  });
  const message = shown === undefined ? undefined : await tellForeign(shown, attempt, siteContext);
  if (message === undefined) return undefined;
  const durationMs = performance.now() - startedAt;
  return { outcome: { kind: 'foreign', message }, request: { method: 'GET', url: '' }, durationMs };
}

/** Explains that the shown reference makes the job another posting's; `undefined`: nothing suggests that. */
export async function tellForeign(
  shown: SiteJob,
  attempt: Attempt,
  siteContext: SiteContext,
): Promise<string | undefined> {
  const { referenceField } = siteContext.policy;
  const expected = { fields: attempt.result?.fields, before: attempt.before, referenceField };
  const compared = toCompare(shown);
  if (tellOtherReference(compared, expected) === undefined) return undefined;
  const learnt = await learntRewrites(siteContext.db, siteContext.site);
  if (tellOtherReference(compared, { ...expected, learnt }) === undefined) return undefined;
  return tellOtherReference(shown, expected) ?? "the job does not show the posting's reference";
}

/** Does not wait for the rate limiter, because the attempt is under way: later requests wait longer instead. */
export function showJob(siteContext: SiteContext, id: SiteJobId, signal: AbortSignal): Promise<SiteJob | undefined> {
  siteContext.rateLimiter.spend();
  return siteContext.client.show(id, signal);
}
