// Double-checks a site that says "no such job": at a wrong address it would say so of every job. Reads the job of a write that was
// answered with a redirect.
import { compareShown, readForms, showsOwnForm } from '../plan/compare-shown.ts';
import { type Message, messageOf, plural, textOf } from '../plan/message.ts';
import { compareValues, fieldOf, meansTheSame, referenceForm, typeOf } from '../plan/same-meaning.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import { isReworded } from '../site/contradiction.ts';
import { type Outcome, type SiteJob, statesDeletion, withRevealedFields } from '../site/exchange.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { type AddressProof, explainHidden } from '../store/mapping/visible-jobs.ts';
import { learntRewrites } from '../store/site/kept-values.ts';
import { explainForeignReference, isCertainlyForeign } from './confirm-own.ts';
import { checkOtherJobs, isProven, noteProven } from './prove-token.ts';
import { showJob } from './show-job.ts';
import type { SiteContext } from './site-context.ts';

/**
 * Returns the outcome unchanged; or `unknown` if the site still shows the job, and not as deleted, or may only hide it; or `misconfigured` if
 * none of our jobs can be found. Believing it would remove all mappings of the site, and create every job a second time once the address
 * is right again. A site that expires jobs still has younger ones.
 */
export async function confirmGone(
  claimed: Outcome,
  attempt: Attempt,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<Outcome> {
  const outcome = await readRedirected(claimed, attempt, siteContext, signal);
  if (outcome.kind === 'accepted' && attempt.request.kind === 'update') noteProven(siteContext);
  if (outcome.kind !== 'gone' || attempt.request.kind === 'create') return outcome;
  const { siteJobId } = attempt.request;
  try {
    // A live job taken for gone would be created a second time, or never be deleted (law 1).
    const shown = await showJob(siteContext, siteJobId, signal);
    if (shown !== undefined && !statesDeletion(shown)) {
      const foreign = await explainForeignReference(shown, attempt, siteContext);
      if (foreign !== undefined && (await isCertainlyForeign(attempt, siteContext)))
        return { kind: 'foreign', message: foreign };
      return { kind: 'unknown', message: `the site says that job ${siteJobId} is gone, but still shows it` };
    }
    const hidden = shown === undefined ? await explainHidden(siteContext, siteJobId) : undefined;
    if (hidden !== undefined) return { kind: 'unknown', message: hidden };
  } catch (error) {
    return {
      kind: 'unknown',
      message: `the job seems to be gone, but checking it failed: ${(error as Error).message}`,
    };
  }
  if (isProven(siteContext)) return outcome;
  const verdict = await checkOtherJobs(siteContext, siteJobId, signal);
  switch (verdict.kind) {
    case 'proven':
      return outcome;
    case 'unknown':
      return verdict;
    case 'unproven':
      return { kind: 'misconfigured', message: describeUnproven(siteJobId, verdict, siteContext) };
    default:
      return verdict satisfies never;
  }
}

/**
 * The outcome that the job shows of a write that was answered with a redirect, which may also be a refusal. A job that is not shown proves
 * nothing: it may be hidden from whoever changed it, or from a token that is no longer valid. If it was deleted, the next try is answered
 * so.
 */
async function readRedirected(
  outcome: Outcome,
  attempt: Attempt,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<Outcome> {
  const { request } = attempt;
  const mayTell = outcome.kind === 'unknown' || outcome.kind === 'misconfigured';
  if (!mayTell || outcome.perhapsDone !== true || request.kind === 'create') return outcome;
  const unknown = (what: string): Outcome => ({
    kind: 'unknown',
    message: `${textOf(outcome.message)}, ${what}`,
  });
  let shown: SiteJob | undefined;
  let mayBeDone = outcome.kind === 'unknown' || request.kind === 'delete';
  try {
    shown = await showJob(siteContext, request.siteJobId, signal);
  } catch {
    if (outcome.kind === 'unknown') return outcome;
    // Some sites redirect every request for a job that they no longer have.
    mayBeDone = false;
  }
  if (shown === undefined) {
    // Where no other job is shown either, the address may be wrong.
    const others = mayBeDone ? undefined : await checkOtherJobs(siteContext, request.siteJobId, signal);
    return others === undefined || (others.kind === 'proven' && others.isShown)
      ? unknown(`and does not show job ${request.siteJobId}: it may be deleted or hidden`)
      : outcome;
  }
  // Moderators remove jobs, too, and show them again.
  if (statesDeletion(shown) && request.kind === 'delete') return { kind: 'gone' };
  if (await showsUpdate(shown, attempt, siteContext, outcome.kind === 'unknown'))
    return { kind: 'accepted', isRead: true };
  return outcome.kind === 'misconfigured'
    ? outcome
    : unknown(`but job ${request.siteJobId} does not show that it was done`);
}

/**
 * Whether the job has what the update set: each field shows it, as the site may have rewritten it, and not what it showed before.
 * @param isOfJob the redirect leads to the job: then it may leave out fields if another one has visibly changed, and show a value that only
 *   resembles what was sent.
 */
async function showsUpdate(
  shown: SiteJob,
  { request, before, forms }: Attempt,
  { db, site, policy: { places, referenceField } }: SiteContext,
  isOfJob: boolean,
): Promise<boolean> {
  if (request.kind !== 'update') return false;
  const { fields, types } = withRevealedFields(shown);
  const rules = { ...places, learnt: await learntRewrites(db, site), referenceField, only: undefined };
  const job = { fields, types, isWhole: true };
  const { changed, hidden } = compareShown({ fields: request.fields, forms: undefined }, job, rules);
  const formerOf = (name: string): string => fieldOf(before ?? {}, name) ?? '';
  const saysOf = (name: string): string => fieldOf(fields, name) ?? '';
  const shows = (name: string, value: string): boolean => meansTheSame(value, saysOf(name), typeOf(types, name));
  const showsForm = (name: string): boolean => showsOwnForm(forms, name, saysOf(name));
  const mayShow = (name: string, value: string): boolean =>
    shows(name, value) || showsForm(name) || compareValues(value, saysOf(name)) !== undefined;
  const isFormer = (name: string): boolean => before === undefined || mayShow(name, formerOf(name));
  // That a job does not have a field which was emptied proves nothing, unless it had the field.
  const formOf = readForms(forms);
  const isHidden = (name: string, value: string): boolean =>
    hidden.includes(name) ||
    (value === '' && fieldOf(fields, name) === undefined && !['as_sent', 'rewritten'].includes(formOf(name).kind));
  const seen = Object.entries(request.fields).filter(([name, value]) => !isHidden(name, value));
  const isSet = ([name, value]: readonly [string, string]): boolean =>
    shows(name, value) ||
    (meansTheSame(value, formerOf(name)) && mayShow(name, value)) ||
    (isFormer(name)
      ? isOfJob && referenceForm(value) === referenceForm(saysOf(name))
      : !changed.includes(name) || (isOfJob && isReworded(value, saysOf(name))));
  const isWhole = seen.length === Object.keys(request.fields).length;
  return seen.every(isSet) && (isWhole || (isOfJob && seen.some(([name]) => !isFormer(name))));
}

/** Whether a job that no posting has is really gone: at a wrong address it would stay on the site for good, and nobody would know. */
export async function isOrphanGone(siteContext: SiteContext, id: SiteJobId, signal: AbortSignal): Promise<boolean> {
  try {
    const shown = await showJob(siteContext, id, signal);
    if (shown !== undefined && !statesDeletion(shown)) return false;
  } catch {
    return false;
  }
  return isProven(siteContext) || (await checkOtherJobs(siteContext, id, signal)).kind === 'proven';
}

function describeUnproven(
  claimed: SiteJobId,
  { asked, seen }: Extract<AddressProof, { kind: 'unproven' }>,
  { site }: SiteContext,
): Message {
  const others = asked === 0 ? '' : ` nor any of ${plural(asked, 'other job')} of ours`;
  const what = `${asked === 0 ? 'job' : 'neither job'} ${claimed}${others} is ${asked === 0 ? 'not ' : ''}on the site`;
  const proof = seen === undefined ? '' : `, and nothing else proves that the XML interface is there (${seen})`;
  return messageOf(`${what}${proof}: check base_url and the token`, [
    { words: 'if the site was really emptied, run', action: { kind: 'resume_site', site, because: 'emptied' } },
  ]);
}
