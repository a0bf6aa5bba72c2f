// Applies the change of one posting: reads wanted and actual state, sends one request, records the outcome.

import { confirmGone } from '../src/apply/confirm-gone.ts';
import { confirmOwn } from '../src/apply/confirm-own.ts';
import { resultOf } from '../src/apply/outcome-policy.ts';
import { insist, recordOutcome } from '../src/apply/record-outcome.ts';
import { SEND_WITHIN_MS, type SiteContext } from '../src/apply/site-context.ts';
import { updateSiteHealth } from '../src/apply/update-site-health.ts';
import { type Exchange, type Outcome, toCompare } from '../src/site/exchange.ts';
import { type Deadline, deadlineIn } from '../src/site/http/deadline.ts';
import type { Attempt, PostingRef } from '../src/store/change/attempt.ts';
import type { ExchangeRecord, Recorded, Result } from '../src/store/change/attempt-outcome.ts';
import { learntRewrites } from '../src/store/site/value-rewrites.ts';
import { crossStep } from '../src/telemetry/fault-hook.ts';

/**
 * One posting, once. Level-triggered: a repeated, late or superfluous call finds nothing to do. Resolves when the
 * outcome is in the books, or when it was left for another time because places are given no more; rejects only where the
 * books can't be reached before anything was sent, or on `signal`.
 * @param onIntent called once the books know that it is being sent: if the process dies, they know what to do.
 */
export async function applyChange(
  posting: PostingRef,
  siteContext: SiteContext,
  signal: AbortSignal,
  onIntent: () => void = () => undefined,
): Promise<void> {
  const leaveWork = await siteContext.inFlight.take();
  const releaseSlot = await siteContext.requestSlots.take();
  try {
    if (leaveWork === undefined || releaseSlot === undefined) return;
    // Before the intent is committed: from then on time counts.
    await siteContext.rateLimiter.take(signal);
    if (siteContext.requestSlots.closed) return;
    const notAfter = deadlineIn(SEND_WITHIN_MS);
    const claim = await siteContext.claim(posting);
    if (claim.kind !== 'attempt') return;
    const { attempt } = claim;
    onIntent();
    crossStep('intent-committed');
    const sent =
      (await confirmOwn(attempt, siteContext, signal)) ?? (await send(attempt, siteContext, notAfter, signal));
    crossStep('answer-received');
    const exchange = { ...sent, outcome: await confirmGone(sent.outcome, attempt, siteContext, signal) };
    // What went well has the next request leave while it is noted; what did not is heeded before.
    if (wentWell(exchange.outcome)) releaseSlot();
    await conclude(attempt, exchange, siteContext, signal);
  } finally {
    releaseSlot?.();
    leaveWork?.();
  }
}

const wentWell = ({ kind }: Outcome): boolean => kind === 'created' || kind === 'accepted';

/** Notes the outcome, and heeds what it says of the site. */
async function conclude(
  attempt: Attempt,
  exchange: Exchange,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<void> {
  const result = resultOf(exchange.outcome, attempt, siteContext.policy);
  // A site that refuses the token is paused before the change is given back, so that none goes out in between.
  const stopsFirst = exchange.outcome.kind === 'unauthorized' || exchange.outcome.kind === 'throttled';
  if (stopsFirst) await update(attempt, exchange, siteContext, signal);
  const recorded = await recordOutcome(siteContext, { attempt, result, record: recordOf(exchange) }, signal);
  const recordedAs = recorded === 'disputed' ? await askWhose(siteContext, attempt, result, signal) : recorded;
  crossStep('outcome-committed');
  if (recordedAs === 'recorded') await learnRewrites(attempt, exchange.outcome, siteContext);
  report(siteContext, attempt, exchange, recordedAs);
  if (!stopsFirst) await update(attempt, exchange, siteContext, signal);
}

/** What can't be learnt now is learnt from another job. */
async function learnRewrites({ request }: Attempt, outcome: Outcome, siteContext: SiteContext): Promise<void> {
  if (request.kind !== 'create' || outcome.kind !== 'created') return;
  await siteContext.rewrites.learn(request.fields, outcome.siteJob).catch((error) => {
    siteContext.log.warn({ err: error, site: siteContext.site }, 'rewriting of values not learnt');
  });
}

/** What keeps it from being heeded must not keep the outcome from being recorded. */
async function update(
  attempt: Attempt,
  exchange: Exchange,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<void> {
  try {
    await insist(() => updateSiteHealth(exchange.outcome, attempt, siteContext, exchange), signal);
  } catch (error) {
    siteContext.log.error(
      { err: error, site: siteContext.site, outcome: exchange.outcome.kind },
      'site health not updated after an outcome',
    );
  }
}

/** Another posting has the ID of the new job: what the site shows of it tells whose it is now. */
async function askWhose(
  siteContext: SiteContext,
  attempt: Attempt,
  result: Result,
  signal: AbortSignal,
): Promise<Recorded> {
  if (result.kind !== 'created' || result.evidence === undefined) return 'disputed';
  siteContext.rateLimiter.spend();
  const shown = await siteContext.client.show(result.siteJobId, signal).catch((error) => {
    siteContext.log.warn({ err: error, siteJobId: result.siteJobId }, 'site job could not be shown');
    return undefined;
  });
  const evidence = { ...result.evidence, shown: shown && toCompare(shown).fields, asked: true };
  return recordOutcome(siteContext, { attempt, result: { ...result, evidence }, record: undefined }, signal);
}

/** What can't even be written as a request has an outcome too, and ends in review instead of being tried for ever. */
async function send(
  attempt: Attempt,
  siteContext: SiteContext,
  notAfter: Deadline,
  signal: AbortSignal,
): Promise<Exchange> {
  try {
    const expected = { fields: attempt.result?.fields, before: attempt.before };
    const learnt = () => learntRewrites(siteContext.db, siteContext.site).catch(() => undefined);
    return await siteContext.client.send(attempt.request, { notAfter, signal, expected, learnt });
  } catch (error) {
    const outcome = { kind: 'unknown', message: `the request could not be sent: ${error}` } as const;
    const method = ({ create: 'POST', update: 'PUT', delete: 'DELETE' } as const)[attempt.request.kind];
    return { outcome, request: { method, url: '' }, durationMs: 0 };
  }
}

/** `undefined` where nothing left for the site. */
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
  if (recordedAs !== 'recorded') siteContext.log.error(fields, `outcome ${recordedAs}`);
  else siteContext.log[LEVELS[outcome.kind]]({ ...fields, ...detailsOf(outcome) }, MESSAGES[outcome.kind]);
}

const LEVELS = {
  created: 'info',
  accepted: 'info',
  gone: 'info',
  rejected: 'error',
  forbidden: 'error',
  unauthorized: 'warn',
  throttled: 'warn',
  unreachable: 'warn',
  unknown: 'warn',
  foreign: 'error',
  misconfigured: 'warn',
} as const satisfies Record<Outcome['kind'], 'info' | 'warn' | 'error'>;

const MESSAGES = {
  created: 'change accepted',
  accepted: 'change accepted',
  gone: 'site job was gone',
  rejected: 'change rejected',
  forbidden: 'change forbidden',
  unauthorized: 'change put off',
  throttled: 'change put off',
  unreachable: 'site out of reach',
  unknown: 'outcome unknown',
  foreign: 'site job belongs to another posting',
  misconfigured: 'site answers as it should not',
} as const satisfies Record<Outcome['kind'], string>;

function detailsOf(outcome: Outcome): object {
  if (outcome.kind === 'created') return { siteJobId: outcome.siteJob.siteJobId };
  if ('problems' in outcome) return { problems: outcome.problems };
  return 'message' in outcome ? { message: outcome.message } : {};
}
