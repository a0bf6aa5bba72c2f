// Applies the change of one posting: reads wanted and actual state, sends one request, records the outcome.

import { type Deadline, deadlineIn } from '../src/site/deadline.ts';
import { type Exchange, type Outcome, toCompare } from '../src/site/exchange.ts';
import type { Attempt, PostingRef } from '../src/store/attempt.ts';
import type { ExchangeRecord, Result, Settled } from '../src/store/settlement.ts';
import { learntRewrites } from '../src/store/value-rewrites.ts';
import { confirmGone } from './confirm-gone.ts';
import { confirmOwn } from './confirm-own.ts';
import { crossStep } from './fault-hook.ts';
import { heedOutcome } from './heed-outcome.ts';
import { resultOf } from './outcome-policy.ts';
import { insist, recordOutcome } from './record-outcome.ts';
import type { SiteDesk } from './site-desk.ts';

/** How long after its intent was committed a request may still leave. */
export const SEND_WITHIN_MS = 5_000;

/**
 * One posting, once. Level-triggered: a repeated, late or superfluous call finds nothing to do. Resolves when the
 * outcome is in the books, or when it was left for another time because places are given no more; rejects only where the
 * books can't be reached before anything was sent, or on `signal`.
 * @param onIntent called once the books know that it is being sent: if the process dies, they know what to do.
 */
export async function applyChange(
  posting: PostingRef,
  desk: SiteDesk,
  signal: AbortSignal,
  onIntent: () => void = () => undefined,
): Promise<void> {
  const leaveWork = await desk.inWork.take();
  const leavePlace = await desk.places.take();
  try {
    if (leaveWork === undefined || leavePlace === undefined) return;
    // Before the intent is committed: from then on time counts.
    await desk.turns.take(signal);
    if (desk.places.closed) return;
    const notAfter = deadlineIn(SEND_WITHIN_MS);
    const claim = await desk.claim(posting);
    if (claim.kind !== 'attempt') return;
    const { attempt } = claim;
    onIntent();
    crossStep('intent-committed');
    const sent = (await confirmOwn(attempt, desk, signal)) ?? (await send(attempt, desk, notAfter, signal));
    crossStep('answer-received');
    const exchange = { ...sent, outcome: await confirmGone(sent.outcome, attempt, desk, signal) };
    // What went well has the next request leave while it is noted; what did not is heeded before.
    if (wentWell(exchange.outcome)) leavePlace();
    await conclude(attempt, exchange, desk, signal);
  } finally {
    leavePlace?.();
    leaveWork?.();
  }
}

const wentWell = ({ kind }: Outcome): boolean => kind === 'created' || kind === 'accepted';

/** Notes the outcome, and heeds what it says of the site. */
async function conclude(attempt: Attempt, exchange: Exchange, desk: SiteDesk, signal: AbortSignal): Promise<void> {
  const result = resultOf(exchange.outcome, attempt, desk.policy);
  // A site that refuses the token is paused before the change is given back, so that none goes out in between.
  const stopsFirst = exchange.outcome.kind === 'unauthorized' || exchange.outcome.kind === 'throttled';
  if (stopsFirst) await heed(attempt, exchange, desk, signal);
  const recorded = await recordOutcome(desk, { attempt, result, record: recordOf(exchange) }, signal);
  const settled = recorded === 'contested' ? await askWhose(desk, attempt, result, signal) : recorded;
  crossStep('outcome-committed');
  if (settled === 'settled') await learnRewrites(attempt, exchange.outcome, desk);
  report(desk, attempt, exchange, settled);
  if (!stopsFirst) await heed(attempt, exchange, desk, signal);
}

/** What can't be learnt now is learnt from another job. */
async function learnRewrites({ request }: Attempt, outcome: Outcome, desk: SiteDesk): Promise<void> {
  if (request.kind !== 'create' || outcome.kind !== 'created') return;
  await desk.rewrites.learn(request.fields, outcome.siteJob).catch((error) => {
    desk.log.warn({ err: error, site: desk.site }, 'rewriting of values not learnt');
  });
}

/** What keeps it from being heeded must not keep the outcome from being recorded. */
async function heed(attempt: Attempt, exchange: Exchange, desk: SiteDesk, signal: AbortSignal): Promise<void> {
  try {
    await insist(() => heedOutcome(exchange.outcome, attempt, desk, exchange), signal);
  } catch (error) {
    desk.log.error(
      { err: error, site: desk.site, outcome: exchange.outcome.kind },
      'site health not updated after an outcome',
    );
  }
}

/** Another posting has the ID of the new job: what the site shows of it tells whose it is now. */
async function askWhose(desk: SiteDesk, attempt: Attempt, result: Result, signal: AbortSignal): Promise<Settled> {
  if (result.kind !== 'created' || result.evidence === undefined) return 'contested';
  desk.turns.spend();
  const shown = await desk.client.show(result.siteJobId, signal).catch((error) => {
    desk.log.warn({ err: error, siteJobId: result.siteJobId }, 'site job could not be shown');
    return undefined;
  });
  const evidence = { ...result.evidence, shown: shown && toCompare(shown).fields, asked: true };
  return recordOutcome(desk, { attempt, result: { ...result, evidence }, record: undefined }, signal);
}

/** What can't even be written as a request has an outcome too, and ends in review instead of being tried for ever. */
async function send(attempt: Attempt, desk: SiteDesk, notAfter: Deadline, signal: AbortSignal): Promise<Exchange> {
  try {
    const expected = { fields: attempt.result?.fields, before: attempt.before };
    const learnt = () => learntRewrites(desk.db, desk.site).catch(() => undefined);
    return await desk.client.send(attempt.request, { notAfter, signal, expected, learnt });
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

function report(desk: SiteDesk, attempt: Attempt, exchange: Exchange, settled: Settled): void {
  const { outcome } = exchange;
  const fields = {
    site: desk.site,
    feed: attempt.feed,
    key: attempt.key,
    operation: attempt.request.kind,
    attempt: attempt.number,
    outcome: outcome.kind,
    durationMs: Math.round(exchange.durationMs),
  };
  if (settled !== 'settled') desk.log.error(fields, `outcome ${settled}`);
  else desk.log[LEVELS[outcome.kind]]({ ...fields, ...detailsOf(outcome) }, MESSAGES[outcome.kind]);
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
