// Resolves creates in doubt: reads the site's list once for all of them, and decides each by the jobs that may be its own.
import { checkDelays } from '../../plan/check-delay.ts';
import type { SiteJob } from '../../site/exchange.ts';
import { CreateMatching } from '../../store/change/create-matching.ts';
import { dueDoubts, explainDoubts } from '../../store/change/doubt.ts';
import { expectedJobs } from '../../store/mapping/visible-jobs.ts';
import { isSiteElsewhere } from '../../store/site/known-address.ts';
import { crossStep } from '../../telemetry/steps.ts';
import { rateLimitedJobAsker } from '../show-job.ts';
import type { SiteContext } from '../site-context.ts';
import { hidesNewJobs, showsReferences } from '../watch-site.ts';
import { CandidateSearch, keepUnowned, maxListAgeMs, type OpenDoubt, openDoubt } from './candidate-search.ts';
import { decideDoubts } from './decide-doubts.ts';
import { foundJobs } from './found-jobs.ts';

/** Doubts resolved with one reading of the list. */
const DOUBTS_AT_ONCE = 2_000;

/**
 * Resolves the doubts of a site that are old enough. Returns how many were resolved. Does nothing without a list
 * action.
 */
export async function resolveDoubts(siteContext: SiteContext, signal: AbortSignal): Promise<number> {
  const { db, site, policy, client } = siteContext;
  if (!policy.canList) return 0;
  const due = await dueDoubts(db, site, checkDelays(policy.doubts.resolveAfterMs), DOUBTS_AT_ONCE);
  if (due.length === 0) return 0;
  const doubts = due.map((doubt) => openDoubt(doubt, policy.doubts.resolveAfterMs));
  const { referenceField, places } = policy;
  const rules = { referenceField, showsReferences: await showsReferences(siteContext), ...places };
  const matching = await CreateMatching.open(db, site, rules, due);
  const candidates = new CandidateSearch(siteContext, doubts, matching);
  // Use the limit of the oldest doubt; whether the list is recent enough for the others is checked afterwards.
  const maxAgeMs = Math.max(...due.map((doubt) => maxListAgeMs(doubt, policy.doubts.resolveAfterMs)));
  // The list also shows jobs that this database does not know; later creates are compared with them before sending.
  const found =
    policy.referenceField === undefined ? undefined : await foundJobs(siteContext, { isSearch: false, maxAgeMs });
  const expected = await expectedJobs(rateLimitedJobAsker(siteContext));
  const take = (siteJob: SiteJob): void | Promise<void> => {
    expected.take(siteJob);
    found?.take(siteJob);
    return candidates.take(siteJob);
  };
  const beforePage = async (stop?: AbortSignal): Promise<void> => {
    await found?.keep();
    await candidates.keep();
    await expected.keep();
    await siteContext.rateLimiter.take(stop);
  };
  const listing = await client.list(take, signal, beforePage, maxAgeMs);
  // Reading the list may take minutes. If the site has moved meanwhile, its former list says nothing about creates sent to the new address.
  if (await isSiteElsewhere(db, site, siteContext.address)) return 0;
  await found?.keep();
  await candidates.keep();
  // A cancelled listing proves nothing.
  if (signal.aborted) return 0;
  // A cached copy may lack jobs accepted since.
  const isCopy = listing.kind === 'listed' && (listing.ageMs ?? 0) > 0;
  const leftOut = isCopy || listing.kind === 'unreadable' ? undefined : await expected.tellLeftOut(signal);
  if (signal.aborted) return 0;
  const flaw = listing.kind === 'unreadable' ? listing.message : leftOut;
  if (flaw !== undefined || listing.kind === 'unreadable') {
    siteContext.log.warn({ site, doubts: due.length, message: flaw }, 'list not readable, doubts remain');
    await explainDoubts(db, due, flaw ?? '', policy.doubts.resolveAfterMs);
    return 0;
  }
  crossStep('doubt-listed');
  const decidable = await leaveTooYoung(siteContext, doubts, listing.ageMs ?? 0);
  await keepUnowned(siteContext, decidable, matching);
  await candidates.tellShared(decidable);
  const hides = () => hidesNewJobs(siteContext, signal);
  return decideDoubts(siteContext, decidable, candidates, signal, {
    whyUnproven: listing.whyUnproven,
    hides,
  });
}

/** Postpones the doubts for which the list is too old. Returns the others. */
async function leaveTooYoung({ db, policy }: SiteContext, doubts: OpenDoubt[], ageMs: number): Promise<OpenDoubt[]> {
  if (ageMs === 0) return doubts;
  const { resolveAfterMs } = policy.doubts;
  const isTooYoung = ({ doubt }: OpenDoubt): boolean => maxListAgeMs(doubt, resolveAfterMs) < ageMs;
  const left = doubts.filter(isTooYoung).map(({ doubt }) => doubt);
  if (left.length > 0) {
    const age = `${Math.ceil(ageMs / 1000)} s`;
    const message = `the list comes from a cache and is up to ${age} old, too old to show the job of this create; exclude the list from caching`;
    await explainDoubts(db, left, message, resolveAfterMs);
  }
  return doubts.filter((open) => !isTooYoung(open));
}
