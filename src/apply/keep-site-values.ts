// Before an update of a site that clears what an update omits, reads the fields that are left to the site, to send them along.

import { type AcceptedFields, compareShown } from '../plan/compare-shown.ts';
import type { CreateOnlyFields } from '../plan/create-only-fields.ts';
import { isEverShown, type LearntRewrites } from '../plan/observe-values.ts';
import { fieldOf } from '../plan/same-value.ts';
import { readForms } from '../plan/shown-forms.ts';
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
 * | of a field that is left to the site, the job shows           | sent                                 |
 * | ------------------------------------------------------------ | ------------------------------------ |
 * | what was last sent, or what the site makes of it             | what was last sent                   |
 * | another value                                                | that value                           |
 * | nothing, but it has shown a value, or the site shows others' | nothing: a person has emptied it     |
 * | nothing, and the site is not known to show the field         | what was last sent; nothing if never |
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
  const learnt = await learntRewrites(siteContext.db, siteContext.site);
  const kept = keptValues(createOnly, { fields: before ?? {}, forms: attempt.forms }, toCompare(siteJob), learnt);
  return { kind: 'request', request: { ...request, fields: { ...request.fields, ...kept } } };
}

function keptValues(
  createOnly: NonNullable<CreateOnlyFields>,
  { fields: before, forms }: AcceptedFields,
  job: Pick<SiteJob, 'fields' | 'types'>,
  learnt: LearntRewrites,
): Fields {
  const sent = Object.fromEntries(Object.entries(before).filter(([name]) => createOnly.has(name)));
  const rules = { learnt, referenceField: undefined, stateField: '', stateOf: () => undefined, only: undefined };
  const changed = new Set(compareShown({ fields: sent, forms }, { ...job, isWhole: true }, rules).changed);
  const formOf = readForms(forms);
  const isEmptied = (name: string): boolean =>
    fieldOf(job.fields, name) === undefined && formOf(name).kind === 'unknown' && isEverShown(learnt, name);
  return Object.fromEntries(
    [...createOnly].flatMap((name) => {
      const isOurs = Object.hasOwn(sent, name) && !changed.has(name) && !isEmptied(name);
      const own = isOurs ? sent[name] : fieldOf(job.fields, name);
      return own === undefined ? [] : [[name, own]];
    }),
  );
}

const unread = (createOnly: NonNullable<CreateOnlyFields>, why: string): string =>
  `not sent: the site clears what an update omits, and what it shows in ${[...createOnly].join(', ')} could not be read: ${why}`;
