// Notes what a site shows of a job after a write of ours that it accepted: the site's form of our values.
import { type AcceptedWrite, formsAfter, type ShownForms } from '../plan/shown-forms.ts';
import { type Exchange, type SiteJob, toCompare } from '../site/exchange.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { noteForms } from '../store/change/note-forms.ts';
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
    ([name, value]) => value !== '' && Object.hasOwn(answer.fields, name),
  );
  return formsAfter({ ...write, known: undefined }, isShown ? answer : undefined);
}

/**
 * Reads the job once after an update that was to set again what was found different: only this tells what the site makes of the
 * values from what a person makes of them. If the site does not show the job, or a newer version is sent meanwhile, nothing is noted.
 */
export async function noteAfterRepair(attempt: Attempt, siteContext: SiteContext, signal: AbortSignal): Promise<void> {
  const { request, accepted, forms } = attempt;
  if (request.kind !== 'update' || accepted === undefined || attempt.isRepair !== true) return;
  try {
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
      'what the site shows after a repair not noted',
    );
  }
}

const answered = (siteJob: SiteJob, isWhole: boolean) => ({
  fields: toCompare(siteJob).fields,
  kept: siteJob.fields,
  types: siteJob.types,
  isWhole,
});
