// Double-checks a site that says "no such job": at a wrong address it would say so of every job.
import { type Message, messageOf, plural } from '../plan/message.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import { type Outcome, statesDeletion } from '../site/exchange.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { type AddressProof, tellHidden } from '../store/mapping/visible-jobs.ts';
import { explainForeignReference } from './confirm-own.ts';
import { checkOtherJobs, isProven, noteProven } from './prove-token.ts';
import { showJob } from './show-job.ts';
import type { SiteContext } from './site-context.ts';

/**
 * Returns the outcome unchanged; or `unknown` if the site still shows the job, and not as deleted, or may only hide it; or `misconfigured` if
 * none of our jobs can be found. Believing it would remove all mappings of the site, and create every job a second time once the address
 * is right again. A site that expires jobs still has younger ones.
 */
export async function confirmGone(
  outcome: Outcome,
  attempt: Attempt,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<Outcome> {
  if (outcome.kind === 'accepted' && attempt.request.kind === 'update') noteProven(siteContext);
  if (outcome.kind !== 'gone' || attempt.request.kind === 'create') return outcome;
  const { siteJobId: claimed } = attempt.request;
  try {
    // A live job taken for gone would be created a second time, or never be deleted (law 1).
    const shown = await showJob(siteContext, claimed, signal);
    if (shown !== undefined && !statesDeletion(shown)) {
      const foreign = await explainForeignReference(shown, attempt, siteContext);
      if (foreign !== undefined) return { kind: 'foreign', message: foreign };
      return { kind: 'unknown', message: `the site says that job ${claimed} is gone, but still shows it` };
    }
    const hidden = shown === undefined ? await tellHidden(siteContext, claimed) : undefined;
    if (hidden !== undefined) return { kind: 'unknown', message: hidden };
  } catch (error) {
    return {
      kind: 'unknown',
      message: `the job seems to be gone, but checking it failed: ${(error as Error).message}`,
    };
  }
  if (isProven(siteContext)) return outcome;
  const verdict = await checkOtherJobs(siteContext, claimed, signal);
  switch (verdict.kind) {
    case 'proven':
      return outcome;
    case 'unknown':
      return verdict;
    case 'unproven':
      return { kind: 'misconfigured', message: describeUnproven(claimed, verdict, siteContext) };
    default:
      return verdict satisfies never;
  }
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
