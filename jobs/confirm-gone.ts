// Checks a site that says "no such job" before its word is taken: a wrong address would say so of every job.
import type { SiteJobId } from '../src/posting/identifiers.ts';
import type { Outcome } from '../src/site/exchange.ts';
import type { Attempt } from '../src/store/attempt.ts';
import { areFewAndOld, recentlyAccepted, sampleOfAges } from '../src/store/mapping-sample.ts';
import { trustsGone } from '../src/store/site-state.ts';
import { showJob, tellForeign } from './confirm-own.ts';
import type { SiteDesk } from './site-desk.ts';

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
  looking: Promise<Verdict> | undefined;
}

const evidenceOf = new WeakMap<SiteDesk, Evidence>();

/**
 * Gives the outcome as it is; `unknown` where the site shows the job all the same; or `misconfigured` where nothing of
 * what we made is there: taken at its word, the site would lose all its mappings, and get everything twice once its
 * address is right again. A site that expires jobs still has younger ones.
 */
export async function confirmGone(
  outcome: Outcome,
  attempt: Attempt,
  desk: SiteDesk,
  signal: AbortSignal,
): Promise<Outcome> {
  if (outcome.kind === 'accepted' && attempt.request.kind === 'update') prove(desk);
  if (outcome.kind !== 'gone' || attempt.request.kind === 'create') return outcome;
  const { siteJobId: claimed } = attempt.request;
  try {
    // Taken for gone, a job that is there would be made a second time, or never be deleted (law 1).
    const shown = await showJob(desk, claimed, signal);
    if (shown !== undefined) {
      const foreign = await tellForeign(shown, attempt, desk);
      if (foreign !== undefined) return { kind: 'foreign', message: foreign };
      return { kind: 'unknown', message: `the site says that job ${claimed} is gone, and shows it` };
    }
  } catch (error) {
    return { kind: 'unknown', message: `the job seems gone, but the site could not be asked for it: ${error}` };
  }
  if (isProven(desk)) return outcome;
  const verdict = await shareLook(desk, claimed, signal);
  switch (verdict.kind) {
    case 'proven':
      return outcome;
    case 'unknown':
      return verdict;
    case 'unproven':
      return { kind: 'misconfigured', message: describeUnproven(claimed, verdict, desk) };
    default:
      return verdict satisfies never;
  }
}

function describeUnproven(
  claimed: SiteJobId,
  { asked, seen }: Extract<Verdict, { kind: 'unproven' }>,
  { site }: SiteDesk,
): string {
  const others = asked === 0 ? '' : ` nor any of ${asked} others that were made there`;
  const what = `${asked === 0 ? 'job' : 'neither job'} ${claimed}${others} is ${asked === 0 ? 'not ' : ''}on the site`;
  const proof = seen === undefined ? '' : `, and nothing else shows that the interface is there (${seen})`;
  return (
    `${what}${proof}: check base_url and the token; ` +
    `if the site was really emptied, say so with: jobmirror resume ${site} --emptied`
  );
}

function prove(desk: SiteDesk): void {
  const evidence = openEvidence(desk);
  evidence.provenUntil = performance.now() + PROVEN_MS;
  evidence.believed = 0;
}

function isProven(desk: SiteDesk): boolean {
  const evidence = openEvidence(desk);
  if (evidence.provenUntil <= performance.now() || evidence.believed >= PROVEN_JOBS) return false;
  evidence.believed++;
  return true;
}

function openEvidence(desk: SiteDesk): Evidence {
  const known = evidenceOf.get(desk);
  if (known !== undefined) return known;
  const evidence: Evidence = { provenUntil: Number.NEGATIVE_INFINITY, believed: 0, looking: undefined };
  evidenceOf.set(desk, evidence);
  return evidence;
}

function shareLook(desk: SiteDesk, claimed: SiteJobId, signal: AbortSignal): Promise<Verdict> {
  const evidence = openEvidence(desk);
  evidence.looking ??= lookForOthers(desk, claimed, signal)
    .catch((error: unknown): Verdict => ({ kind: 'unknown', message: `the job seems gone, but: ${error}` }))
    .finally(() => {
      evidence.looking = undefined;
    });
  return evidence.looking;
}

/**
 * | other jobs of ours                     | what the site is taken for                                           |
 * | -------------------------------------- | -------------------------------------------------------------------- |
 * | one is there                           | the right one: the job was deleted, or has expired                   |
 * | there are none                         | the right one where its list, or its place of jobs, can be read      |
 * | few, all gone, all made over a day ago | the same: they have expired                                          |
 * | more, or younger ones, all gone        | a wrong address or another user's token, until a person says otherwise |
 */
async function lookForOthers(desk: SiteDesk, claimed: SiteJobId, signal: AbortSignal): Promise<Verdict> {
  const { db, site } = desk;
  if (await trustsGone(db, site)) return { kind: 'proven' };
  const asked = new Set<SiteJobId>();
  for (const pick of [recentlyAccepted, sampleOfAges]) {
    for (const siteJobId of await pick(db, site, claimed)) {
      if (asked.has(siteJobId)) continue;
      asked.add(siteJobId);
      try {
        if ((await showJob(desk, siteJobId, signal)) === undefined) continue;
      } catch (error) {
        return { kind: 'unknown', message: `the job seems gone, but the site could not be asked for others: ${error}` };
      }
      prove(desk);
      return { kind: 'proven' };
    }
  }
  if (asked.size > 0 && !(await areFewAndOld(db, site, FEW))) {
    return { kind: 'unproven', asked: asked.size, seen: undefined };
  }
  desk.turns.spend();
  const { found, message } = await desk.client.probe(signal);
  return found ? { kind: 'proven' } : { kind: 'unproven', asked: asked.size, seen: message };
}
