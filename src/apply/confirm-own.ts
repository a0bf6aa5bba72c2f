// Checks that a job is still its posting's before it is changed or deleted, where the site may have used its ID again.
import type { SiteJobId } from '../posting/identifiers.ts';
import { tellOtherReference } from '../site/contradiction.ts';
import { type Exchange, type SiteJob, toCompare } from '../site/exchange.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { learntRewrites } from '../store/site/value-rewrites.ts';
import type { SiteContext } from './site-context.ts';

/**
 * Gives the exchange that says so where the site shows another posting's job under the ID; `undefined`: the request may be
 * sent. A job that expired leaves its ID to the next create, whose answer may be lost: then only the site knows of it. A
 * site that can't show the job says nothing against the request.
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

/** Says that a job is another posting's, by the reference that the site shows; `undefined`: nothing speaks for that. */
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
  return tellOtherReference(shown, expected) ?? 'the job shows another reference than that of the posting';
}

/** The attempt is under way and must not wait: the turn is paid for by what is sent next. */
export function showJob(siteContext: SiteContext, id: SiteJobId, signal: AbortSignal): Promise<SiteJob | undefined> {
  siteContext.rateLimiter.spend();
  return siteContext.client.show(id, signal);
}
