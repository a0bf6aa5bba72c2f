// Applies the change of one posting: reads desired and actual state, sends one request, records the outcome.

import { confirmGone } from '../src/apply/confirm-gone.ts';
import { confirmOwn, confirmRefused, confirmRejected } from '../src/apply/confirm-own.ts';
import { freedValues, recordOutcome, resultOf, retryUntilDone } from '../src/apply/record-outcome.ts';
import { extendDeadline } from '../src/apply/show-job.ts';
import { SEND_WITHIN_MS, type SiteContext } from '../src/apply/site-context.ts';
import { updateSiteHealth, watchNewJob, watchOmitted, watchReference } from '../src/apply/site-health.ts';
import { asksFirst, formsAfterAnswer, keepSiteValues, noteAfterUpdate } from '../src/apply/site-values.ts';
import { tell } from '../src/plan/message.ts';
import type { PostingRef } from '../src/posting/identifiers.ts';
import { type Exchange, type Outcome, withRevealedFields } from '../src/site/exchange.ts';
import { type Deadline, deadlineIn } from '../src/site/http/trouble.ts';
import type { Attempt, AttemptOutcome, ExchangeRecord, Recorded } from '../src/store/change/attempt.ts';
import { learntRewrites } from '../src/store/site/kept-values.ts';
import { crossStep } from '../src/telemetry/times.ts';

/**
 * Applies the change of one posting, once. Level-triggered: a repeated, late or superfluous call finds nothing to do.
 * Resolves when the outcome is recorded; returns early, without sending, if the worker is stopping. Rejects only if the
 * database is unreachable before anything was sent, or on `signal`.
 * @param onIntent called once the intent to send is recorded: if the process dies afterwards, the database knows what
 * to do.
 */
export async function applyChange(
  posting: PostingRef,
  siteContext: SiteContext,
  signal: AbortSignal,
  onIntent: () => void = () => undefined,
): Promise<void> {
  const releaseInFlight = await siteContext.inFlight.take();
  const releaseSlot = await siteContext.requestSlots.take();
  try {
    if (releaseInFlight === undefined || releaseSlot === undefined) return;
    // Wait before committing the intent: the send deadline starts there.
    await siteContext.rateLimiter.take(signal);
    if (siteContext.requestSlots.closed) return;
    const notAfter = deadlineIn(SEND_WITHIN_MS);
    const claim = await siteContext.claim(posting);
    if (claim.kind !== 'attempt') return;
    const { attempt } = claim;
    onIntent();
    crossStep('intent-committed');
    const startedAt = performance.now();
    const sent =
      (await confirmOwn(attempt, siteContext, signal)) ?? (await send(attempt, siteContext, notAfter, signal));
    crossStep('answer-received');
    const refused = await confirmRefused(sent.outcome, attempt, siteContext);
    const outcome = await confirmGone({ ...sent, outcome: refused }, attempt, siteContext, signal);
    const confirmed = await confirmRejected(outcome, attempt, siteContext);
    const exchange = { ...sent, startedAt, outcome: confirmed };
    // On success, free the slot before recording the outcome; on failure, update the site health first.
    if (wentWell(exchange.outcome)) releaseSlot();
    await conclude(attempt, exchange, siteContext, signal);
  } finally {
    releaseSlot?.();
    releaseInFlight?.();
  }
}

const wentWell = ({ kind }: Outcome): boolean => kind === 'created' || kind === 'accepted';

/** Records the outcome and updates the site health. */
async function conclude(
  attempt: Attempt,
  exchange: Exchange & { readonly startedAt: number },
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<void> {
  const result = resultOf(exchange.outcome, attempt, siteContext.policy);
  // Pause a site that refuses the token before returning the change to the backlog, so no request goes out in between.
  const { kind } = exchange.outcome;
  const stopsFirst = kind === 'unauthorized' || kind === 'throttled' || kind === 'set_up';
  if (stopsFirst) await update(attempt, exchange, siteContext, signal);
  const forms = wentWell(exchange.outcome) ? formsAfterAnswer(attempt, exchange) : undefined;
  const freed = freedValues(attempt, result, siteContext.policy);
  const concluded = { attempt, result, record: recordOf(exchange), forms, freed };
  const recorded = await recordOutcome(siteContext, concluded, signal);
  const recordedAs = recorded === 'disputed' ? await askWhose(siteContext, concluded, signal) : recorded;
  crossStep('outcome-committed');
  report(siteContext, attempt, exchange, recordedAs);
  // An accepted write proves the token for what is read afterwards.
  if (!stopsFirst) await update(attempt, exchange, siteContext, signal);
  if (recordedAs === 'recorded') {
    await learnFromJob(attempt, exchange.outcome, siteContext, signal);
    if (result.kind !== 'updated') return;
    const asked = await watchOmitted(attempt, exchange.siteJob, siteContext, signal);
    await noteAfterUpdate(attempt, forms, siteContext, signal, asked);
  }
}

/** If this fails, another job teaches the same later. */
async function learnFromJob(
  attempt: Attempt,
  outcome: Outcome,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<void> {
  const { request } = attempt;
  if (request.kind !== 'create' || outcome.kind !== 'created') return;
  const { rewrites, log, site } = siteContext;
  await rewrites.learn(request.fields, outcome.siteJob).catch((error) => {
    log.warn({ err: error, site }, 'value rewrites not recorded');
  });
  const shown = await watchNewJob(attempt, outcome.siteJob, siteContext, signal).catch((error) => {
    log.warn({ err: error, site }, 'whether the site shows new jobs could not be told yet');
    return undefined;
  });
  await watchReference(request.fields, outcome.siteJob, siteContext, signal, shown).catch((error) => {
    log.warn({ err: error, site }, 'whether the site keeps references could not be told yet');
  });
}

/** A failure to update the site health must not keep the outcome from being recorded. */
async function update(
  attempt: Attempt,
  exchange: Exchange & { readonly startedAt: number },
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<void> {
  try {
    await retryUntilDone(() => updateSiteHealth(exchange.outcome, attempt, siteContext, exchange), signal);
  } catch (error) {
    siteContext.log.error(
      { err: error, site: siteContext.site, outcome: exchange.outcome.kind },
      'site health not updated after an outcome',
    );
  }
}

/**
 * Another posting already has the ID of the new job: the site is asked to show the job, which tells whose it is now.
 */
async function askWhose(siteContext: SiteContext, concluded: AttemptOutcome, signal: AbortSignal): Promise<Recorded> {
  const { result } = concluded;
  if (result.kind !== 'created' || result.evidence === undefined) return 'disputed';
  siteContext.rateLimiter.spend();
  const shown = await siteContext.client.show(result.siteJobId, signal).catch((error) => {
    siteContext.log.warn({ err: error, siteJobId: result.siteJobId }, 'site job could not be shown');
    return undefined;
  });
  const evidence = { ...result.evidence, shown: shown && withRevealedFields(shown).fields, asked: true };
  return recordOutcome(siteContext, { ...concluded, result: { ...result, evidence }, record: undefined }, signal);
}

/** A change that cannot even be encoded gets an outcome too, so it ends in review instead of being retried forever. */
async function send(
  attempt: Attempt,
  siteContext: SiteContext,
  notAfter: Deadline,
  signal: AbortSignal,
): Promise<Exchange> {
  try {
    const expected = { fields: attempt.accepted?.fields, before: attempt.before };
    const learnt = () => learntRewrites(siteContext.db, siteContext.site).catch(() => undefined);
    // Whose job it is may have taken long to tell; with what follows, longer than an attempt may take.
    const readBy = await extendDeadline(attempt, siteContext, notAfter);
    if (readBy === undefined) return givenUp();
    const kept = await keepSiteValues(attempt, siteContext, signal);
    if (kept.kind === 'not_sent') return kept.exchange;
    const sendBy = await extendDeadline(attempt, siteContext, readBy, asksFirst(attempt, siteContext));
    if (sendBy === undefined) return givenUp();
    return await siteContext.client.send(kept.request, {
      notAfter: sendBy,
      signal,
      expected,
      learnt,
      isBriefIfDone: true,
    });
  } catch (error) {
    const outcome = { kind: 'unknown', message: `the request could not be sent: ${(error as Error).message}` } as const;
    const method = ({ create: 'POST', update: 'PUT', delete: 'DELETE' } as const)[attempt.request.kind];
    return { outcome, request: { method, url: '' }, durationMs: 0 };
  }
}

/** Another process has taken the change over, and this outcome is not recorded; or a person has paused it, and it waits for that. */
const givenUp = (): Exchange => ({
  outcome: { kind: 'unconfirmed', message: 'not sent: paused meanwhile, or the site took too long to show the job' },
  request: { method: 'GET', url: '' },
  durationMs: 0,
});

/** `undefined` if nothing was sent to the site. */
function recordOf(exchange: Exchange): ExchangeRecord | undefined {
  if (exchange.outcome.kind === 'unreachable' && exchange.response === undefined) return undefined;
  return {
    outcome: exchange.outcome.kind,
    status: exchange.response?.status,
    durationMs: exchange.durationMs,
    request: exchange.request,
    response: exchange.response,
  };
}

function report(siteContext: SiteContext, attempt: Attempt, exchange: Exchange, recordedAs: Recorded): void {
  const { outcome } = exchange;
  const fields = {
    site: siteContext.site,
    feed: attempt.feed,
    key: attempt.key,
    operation: attempt.request.kind,
    attempt: attempt.number,
    outcome: outcome.kind,
    durationMs: Math.round(exchange.durationMs),
  };
  const [level, message] = REPORTED[outcome.kind];
  if (recordedAs !== 'recorded') siteContext.log.error(fields, `outcome ${recordedAs}`);
  else siteContext.log[level]({ ...fields, ...detailsOf(outcome, siteContext) }, message);
}

const REPORTED: Readonly<Record<Outcome['kind'], readonly [level: 'info' | 'warn' | 'error', message: string]>> = {
  created: ['info', 'change accepted'],
  accepted: ['info', 'change accepted'],
  gone: ['info', 'site job was gone'],
  rejected: ['error', 'change rejected'],
  set_up: ['warn', 'change postponed'],
  forbidden: ['error', 'change forbidden'],
  unauthorized: ['warn', 'change postponed'],
  throttled: ['warn', 'change postponed'],
  unreachable: ['warn', 'site unreachable'],
  unknown: ['warn', 'outcome unknown'],
  foreign: ['error', 'site job belongs to another posting'],
  unconfirmed: ['warn', 'change postponed'],
  misconfigured: ['warn', 'unexpected answer from the site'],
};

function detailsOf(outcome: Outcome, { writeAction }: SiteContext): object {
  if (outcome.kind === 'created') return { siteJobId: outcome.siteJob.siteJobId };
  if ('problems' in outcome) return { problems: outcome.problems };
  return 'message' in outcome ? { message: tell(outcome.message, writeAction) } : {};
}
