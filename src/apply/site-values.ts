// The values of a job that are the site's own: before an update of a site that clears what an update omits, reads them
// to send them along; after a write that the site accepted, notes its form of our values.
import {
  type AcceptedFields,
  type AcceptedWrite,
  compareShown,
  formsAfter,
  readForms,
  type ShownForms,
} from '../plan/compare-shown.ts';
import type { CreateOnlyFields } from '../plan/desired-change.ts';
import { isEverShown, type LearntRewrites } from '../plan/observe-values.ts';
import { fieldOf } from '../plan/same-meaning.ts';
import type { Fields } from '../posting/posting.ts';
import { type Exchange, type Outcome, type SiteJob, type SiteRequest, withRevealedFields } from '../site/exchange.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { noteForms } from '../store/change/complete.ts';
import { learntRewrites } from '../store/site/kept-values.ts';
import { explainForeignReference, mayBeOthers, outcomeOfUnshownJob } from './confirm-own.ts';
import { showJob, warnOfUnshownJob } from './show-job.ts';
import type { SiteContext } from './site-context.ts';

type KeptRequest =
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
  if (request.kind !== 'update' || createOnly === undefined || !asksForValues(attempt, siteContext)) {
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
    warnOfUnshownJob(siteContext, request.siteJobId, error);
    return notSent(outcomeOfUnshownJob(error, (why) => unread(createOnly, why)));
  }
  if (siteJob === undefined) return notSent({ kind: 'gone' });
  const foreign = await explainForeignReference(siteJob, attempt, siteContext);
  if (foreign !== undefined) return notSent({ kind: 'foreign', message: foreign });
  const learnt = await learntRewrites(siteContext.db, siteContext.site);
  const kept = keptValues(
    createOnly,
    { fields: before ?? {}, forms: attempt.forms },
    withRevealedFields(siteJob),
    learnt,
  );
  return { kind: 'request', request: { ...request, fields: { ...request.fields, ...kept } } };
}

const asksForValues = ({ request, createOnly }: Attempt, { policy }: SiteContext): boolean =>
  request.kind === 'update' && createOnly !== undefined && policy.omittedFields === 'clear';

/** Whether the site is asked for the job before the change is sent: whose it is, or what it shows. */
export const asksFirst = (attempt: Attempt, siteContext: SiteContext): boolean =>
  asksForValues(attempt, siteContext) || mayBeOthers(attempt);

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

// Notes what a site shows of a job after a write of ours that it accepted: the site's form of our values.

/** What is known once the answer is recorded. A create is answered with the complete job (site-interface.md, section 4). */
export function formsAfterAnswer(attempt: Attempt, { outcome, siteJob }: Exchange): ShownForms {
  const { request, accepted, before, forms } = attempt;
  if (accepted === undefined || request.kind === 'delete') return undefined;
  const write = { accepted: accepted.fields, sent: new Set(Object.keys(request.fields)) };
  if (request.kind === 'update') {
    return formsAfter({ ...write, known: forms, former: before }, siteJob && answered(siteJob, false));
  }
  if (outcome.kind !== 'created') return undefined;
  const answer = answered(outcome.siteJob, true);
  const isShown = Object.entries(accepted.fields).some(
    ([name, value]) => value !== '' && fieldOf(answer.fields, name) !== undefined,
  );
  return formsAfter({ ...write, known: undefined }, isShown ? answer : undefined);
}

/**
 * Reads the job once after an accepted update, if what the site makes of its values is not known otherwise: later, it could not be told
 * from what a person makes of them. If the site does not show the job, or a newer version is sent meanwhile, nothing is noted.
 * @param asked the job, if it was asked for since
 */
export async function noteAfterUpdate(
  attempt: Attempt,
  known: ShownForms,
  siteContext: SiteContext,
  signal: AbortSignal,
  asked?: SiteJob,
): Promise<void> {
  const { request, accepted, forms } = attempt;
  if (request.kind !== 'update' || accepted === undefined) return;
  try {
    if (!(await mustRead(attempt, request.fields, known, siteContext))) return;
    const siteJob = asked ?? (await showJob(siteContext, request.siteJobId, signal));
    if (siteJob === undefined) return;
    const write: AcceptedWrite = {
      accepted: accepted.fields,
      sent: new Set(Object.keys(request.fields)),
      known: forms,
    };
    await noteForms(siteContext.db, attempt, formsAfter(write, answered(siteJob, true)));
  } catch (error) {
    siteContext.log.warn(
      { err: error, site: siteContext.site, siteJobId: request.siteJobId },
      'what the site shows after an update not noted',
    );
  }
}

/** Always after a repair, as a site may answer with what it was sent; otherwise if it rewrites what was sent and did not show it. */
async function mustRead(
  attempt: Attempt,
  sent: Fields,
  known: ShownForms,
  { rewrites }: SiteContext,
): Promise<boolean> {
  if (attempt.isRepair === true) return true;
  const [before, now] = [readForms(attempt.forms), readForms(known)];
  for (const [name, value] of Object.entries(sent)) {
    if (value === '' || now(name).kind !== 'unknown') continue;
    if (before(name).kind === 'rewritten' || (await rewrites.isRewritten(name))) return true;
  }
  return false;
}

const answered = (siteJob: SiteJob, isWhole: boolean) => ({
  fields: withRevealedFields(siteJob).fields,
  kept: siteJob.fields,
  types: siteJob.types,
  isWhole,
});
