// Before an update of a site that clears what an update omits, reads the fields that are left to the site, to send them along.
import type { CreateOnlyFields } from '../plan/create-only-fields.ts';
import { fieldOf } from '../plan/same-value.ts';
import { compareShown } from '../plan/verify/compare-shown.ts';
import type { Fields } from '../posting/posting.ts';
import { type Exchange, type Outcome, type SiteJob, type SiteRequest, toCompare } from '../site/exchange.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { learntRewrites } from '../store/site/value-rewrites.ts';
import { notShown, tellForeign } from './confirm-own.ts';
import { showJob } from './show-job.ts';
import type { SiteContext } from './site-context.ts';

export type KeptRequest =
  | { readonly kind: 'request'; readonly request: SiteRequest }
  /** Nothing may be sent: without the values, the update would clear them; or the job is another posting's. */
  | { readonly kind: 'not_sent'; readonly exchange: Exchange };

/**
 * Returns the request to send. One more GET for each update, only for such a site and a feed with `create_only_fields`. A change
 * that somebody makes on the site between the two requests is lost. A job that shows another posting's reference is left alone.
 *
 * | of a field that is left to the site, the job shows | sent                                 |
 * | -------------------------------------------------- | ------------------------------------ |
 * | what was last sent, or a rewriting of it           | what was last sent                   |
 * | another value                                      | that value                           |
 * | nothing                                            | what was last sent; nothing if never |
 */
export async function keepSiteValues(
  attempt: Attempt,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<KeptRequest> {
  const { request, before, createOnly } = attempt;
  if (request.kind !== 'update' || createOnly === undefined || siteContext.policy.omittedFields !== 'clear') {
    return { kind: 'request', request };
  }
  const startedAt = performance.now();
  const notSent = (outcome: Outcome): KeptRequest => ({
    kind: 'not_sent',
    exchange: { outcome, request: { method: 'GET', url: '' }, durationMs: performance.now() - startedAt },
  });
  let siteJob: SiteJob | undefined;
  try {
    siteJob = await showJob(siteContext, request.siteJobId, signal);
  } catch (error) {
    siteContext.log.warn(
      { err: error, site: siteContext.site, siteJobId: request.siteJobId },
      'site job could not be shown',
    );
    return notSent(notShown(error, (why) => unread(createOnly, why)));
  }
  if (siteJob === undefined) return notSent({ kind: 'gone' });
  const foreign = await tellForeign(siteJob, attempt, siteContext);
  if (foreign !== undefined) return notSent({ kind: 'foreign', message: foreign });
  const shown = toCompare(siteJob).fields;
  const kept = keptValues(createOnly, before ?? {}, shown, await learntRewrites(siteContext.db, siteContext.site));
  return { kind: 'request', request: { ...request, fields: { ...request.fields, ...kept } } };
}

function keptValues(
  createOnly: NonNullable<CreateOnlyFields>,
  before: Fields,
  shown: Fields,
  learnt: Awaited<ReturnType<typeof learntRewrites>>,
): Fields {
  const sent = Object.fromEntries(Object.entries(before).filter(([name]) => createOnly.has(name)));
  const rules = { learnt, stateField: '', stateOf: () => undefined, only: undefined };
  const changed = new Set(compareShown(sent, shown, rules).changed);
  return Object.fromEntries(
    [...createOnly].flatMap((name) => {
      const own = Object.hasOwn(sent, name) && !changed.has(name) ? sent[name] : fieldOf(shown, name);
      return own === undefined ? [] : [[name, own]];
    }),
  );
}

const unread = (createOnly: NonNullable<CreateOnlyFields>, why: string): string =>
  `not sent: the site clears what an update omits, and what it shows in ${[...createOnly].join(', ')} could not be read: ${why}`;
