// Checks a site that says "no such job" before its word is taken: a wrong address would say so of every job.
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Outcome } from '../site/exchange.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { areFewAndOld, recentlyAccepted, sampleOfAges } from '../store/mapping/mapping-sample.ts';
import { trustsGone } from '../store/site/site-state.ts';
import { showJob, tellForeign } from './confirm-own.ts';
import type { SiteContext } from './site-context.ts';

/** How long a proof of the address stands, and for how many jobs: what breaks just now is noticed soon. */
const PROVEN_MS = 10_000;
const PROVEN_JOBS = 20;
/** So few jobs may all have expired; taken at its word wrongly, a site gets no more than these twice. */
const FEW = 5;

/** What other jobs of ours say of the site. */
type Verdict =
  | { readonly kind: 'proven' }
  | { readonly kind: 'unproven'; readonly asked: number; readonly seen: string | undefined }
  | { readonly kind: 'unknown'; readonly message: string };

/** What one process knows of a site's address. */
interface Evidence {
  provenUntil: number;
  believed: number;
  /** Jobs that seem gone at the same time share one look at others. */
  checking: Promise<Verdict> | undefined;
}

const evidenceOf = new WeakMap<SiteContext, Evidence>();

/**
 * Gives the outcome as it is; `unknown` where the site shows the job all the same; or `misconfigured` where nothing of
 * what we made is there: taken at its word, the site would lose all its mappings, and get everything twice once its
 * address is right again. A site that expires jobs still has younger ones.
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
    // Taken for gone, a job that is there would be made a second time, or never be deleted (law 1).
    const shown = await showJob(siteContext, claimed, signal);
    if (shown !== undefined) {
      const foreign = await tellForeign(shown, attempt, siteContext);
      if (foreign !== undefined) return { kind: 'foreign', message: foreign };
      return { kind: 'unknown', message: `the site says that job ${claimed} is gone, and shows it` };
    }
  } catch (error) {
    return { kind: 'unknown', message: `the job seems gone, but the site could not be asked for it: ${error}` };
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
): string {
  const others = asked === 0 ? '' : ` nor any of ${asked} others that were made there`;
  const what = `${asked === 0 ? 'job' : 'neither job'} ${claimed}${others} is ${asked === 0 ? 'not ' : ''}on the site`;
  const proof = seen === undefined ? '' : `, and nothing else shows that the interface is there (${seen})`;
  return (
    `${what}${proof}: check base_url and the token; ` +
    `if the site was really emptied, say so with: jobmirror resume ${site} --emptied`
  );
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
    .catch((error: unknown): Verdict => ({ kind: 'unknown', message: `the job seems gone, but: ${error}` }))
    .finally(() => {
      evidence.checking = undefined;
    });
  return evidence.checking;
}

/**
 * | other jobs of ours                     | what the site is taken for                                           |
 * | -------------------------------------- | -------------------------------------------------------------------- |
 * | one is there                           | the right one: the job was deleted, or has expired                   |
 * | there are none                         | the right one where its list, or its place of jobs, can be read      |
 * | few, all gone, all made over a day ago | the same: they have expired                                          |
 * | more, or younger ones, all gone        | a wrong address or another user's token, until a person says otherwise |
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
        return { kind: 'unknown', message: `the job seems gone, but the site could not be asked for others: ${error}` };
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
