// Notes what a site shows of a job after a write of ours that it accepted: the site's form of our values.
import { fieldOf } from '../plan/same-value.ts';
import { type AcceptedWrite, formsAfter, readForms, type ShownForms } from '../plan/shown-forms.ts';
import type { Fields } from '../posting/posting.ts';
import { type Exchange, type SiteJob, toCompare } from '../site/exchange.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { noteForms } from '../store/change/complete.ts';
import { showJob } from './show-job.ts';
import type { SiteContext } from './site-context.ts';

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
 */
export async function noteAfterUpdate(
  attempt: Attempt,
  known: ShownForms,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<void> {
  const { request, accepted, forms } = attempt;
  if (request.kind !== 'update' || accepted === undefined) return;
  try {
    if (!(await mustRead(attempt, request.fields, known, siteContext))) return;
    const siteJob = await showJob(siteContext, request.siteJobId, signal);
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
  fields: toCompare(siteJob).fields,
  kept: siteJob.fields,
  types: siteJob.types,
  isWhole,
});
