// Double-checks a site that says "no such job": at a wrong address it would say so of every job.
import { type Message, messageOf } from '../plan/message.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Outcome } from '../site/exchange.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { areFewAndOld, recentlyAccepted, sampleOfAges } from '../store/mapping/mapping-sample.ts';
import { trustsGone } from '../store/site/site-state.ts';
import { showJob, tellForeign } from './confirm-own.ts';
import type { SiteContext } from './site-context.ts';

/** How long the address counts as proven, and for how many jobs; short, so that a site that breaks is noticed soon. */
const PROVEN_MS = 10_000;
const PROVEN_JOBS = 20;
/** This few jobs may all have expired; if the site is believed wrongly, no more than these are created twice. */
const FEW = 5;

/** What other jobs of ours prove about the site. */
type Verdict =
  | { readonly kind: 'proven' }
  | { readonly kind: 'unproven'; readonly asked: number; readonly seen: string | undefined }
  | { readonly kind: 'unknown'; readonly message: string };

/** What one process knows about a site's address. */
interface Evidence {
  provenUntil: number;
  believed: number;
  /** Shared by all jobs that seem gone at the same time. */
  checking: Promise<Verdict> | undefined;
}

const evidenceOf = new WeakMap<SiteContext, Evidence>();

/**
 * Returns the outcome unchanged; or `unknown` if the site still shows the job; or `misconfigured` if none of our jobs
 * can be found. If we believed that, the site would lose all its mappings and get every job twice once its address is
 * right again. A site that expires jobs still has younger ones.
 */
export async function confirmGone(
  outcome: Outcome,
  attempt: Attempt,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<Outcome> {
  if (outcome.kind === 'accepted' && attempt.request.kind === 'update') prove(siteContext);
  if (outcome.kind !== 'gone' || attempt.request.kind === 'create') return outcome;
  const { siteJobId: claimed } = attempt.request;
  try {
    // A live job taken for gone would be created a second time, or never be deleted (law 1).
    const shown = await showJob(siteContext, claimed, signal);
    if (shown !== undefined) {
      const foreign = await tellForeign(shown, attempt, siteContext);
      if (foreign !== undefined) return { kind: 'foreign', message: foreign };
      return { kind: 'unknown', message: `the site says that job ${claimed} is gone, but still shows it` };
    }
  } catch (error) {
    return { kind: 'unknown', message: `the job seems to be gone, but checking it failed: ${error}` };
  }
  if (isProven(siteContext)) return outcome;
  const verdict = await shareCheck(siteContext, claimed, signal);
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

function describeUnproven(
  claimed: SiteJobId,
  { asked, seen }: Extract<Verdict, { kind: 'unproven' }>,
  { site }: SiteContext,
): Message {
  const others = asked === 0 ? '' : ` nor any of ${asked} other jobs of ours`;
  const what = `${asked === 0 ? 'job' : 'neither job'} ${claimed}${others} is ${asked === 0 ? 'not ' : ''}on the site`;
  const proof = seen === undefined ? '' : `, and nothing else proves that the XML interface is there (${seen})`;
  return messageOf(`${what}${proof}: check base_url and the token`, [
    { words: 'if the site was really emptied, run', action: { kind: 'resume_site', site, because: 'emptied' } },
  ]);
}

function prove(siteContext: SiteContext): void {
  const evidence = openEvidence(siteContext);
  evidence.provenUntil = performance.now() + PROVEN_MS;
  evidence.believed = 0;
}

function isProven(siteContext: SiteContext): boolean {
  const evidence = openEvidence(siteContext);
  if (evidence.provenUntil <= performance.now() || evidence.believed >= PROVEN_JOBS) return false;
  evidence.believed++;
  return true;
}

function openEvidence(siteContext: SiteContext): Evidence {
  const known = evidenceOf.get(siteContext);
  if (known !== undefined) return known;
  const evidence: Evidence = { provenUntil: Number.NEGATIVE_INFINITY, believed: 0, checking: undefined };
  evidenceOf.set(siteContext, evidence);
  return evidence;
}

function shareCheck(siteContext: SiteContext, claimed: SiteJobId, signal: AbortSignal): Promise<Verdict> {
  const evidence = openEvidence(siteContext);
  evidence.checking ??= checkOthers(siteContext, claimed, signal)
    .catch(
      (error: unknown): Verdict => ({
        kind: 'unknown',
        message: `the job seems to be gone, but checking other jobs failed: ${error}`,
      }),
    )
    .finally(() => {
      evidence.checking = undefined;
    });
  return evidence.checking;
}

/**
 * | other jobs of ours                     | verdict                                                              |
 * | -------------------------------------- | -------------------------------------------------------------------- |
 * | one is found                           | right address: the job was deleted, or has expired                   |
 * | we have no others                      | right address if the site's list, or its jobs path, can be read      |
 * | few, all gone, all made over a day ago | the same: they have expired                                          |
 * | more, or younger ones, all gone        | wrong address or another user's token, until a person says otherwise |
 */
async function checkOthers(siteContext: SiteContext, claimed: SiteJobId, signal: AbortSignal): Promise<Verdict> {
  const { db, site } = siteContext;
  if (await trustsGone(db, site)) return { kind: 'proven' };
  const asked = new Set<SiteJobId>();
  for (const pick of [recentlyAccepted, sampleOfAges]) {
    for (const siteJobId of await pick(db, site, claimed)) {
      if (asked.has(siteJobId)) continue;
      asked.add(siteJobId);
      try {
        if ((await showJob(siteContext, siteJobId, signal)) === undefined) continue;
      } catch (error) {
        return { kind: 'unknown', message: `the job seems to be gone, but checking other jobs failed: ${error}` };
      }
      prove(siteContext);
      return { kind: 'proven' };
    }
  }
  if (asked.size > 0 && !(await areFewAndOld(db, site, FEW))) {
    return { kind: 'unproven', asked: asked.size, seen: undefined };
  }
  siteContext.rateLimiter.spend();
  const { found, message } = await siteContext.client.probe(signal);
  return found ? { kind: 'proven' } : { kind: 'unproven', asked: asked.size, seen: message };
}
