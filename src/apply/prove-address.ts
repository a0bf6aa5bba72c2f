// Keeps for a while what other jobs of ours have proven about a site that says "no such job".
import type { SiteJobId } from '../posting/identifiers.ts';
import { type AddressProof, checkFailed, checkOthers, type JobAsker } from '../store/mapping/visible-jobs.ts';
import { showJob } from './show-job.ts';
import type { SiteContext } from './site-context.ts';

/** How long the address counts as proven, and for how many jobs; short, so that a site that breaks is noticed soon. */
const PROVEN_MS = 10_000;
const PROVEN_JOBS = 20;

/** What one process knows about a site's address. */
interface Evidence {
  provenUntil: number;
  /** Until when the site counts as showing jobs of ours. */
  showsUntil: number;
  believed: number;
  /** Shared by all jobs that seem gone at the same time. */
  checking: Promise<AddressProof> | undefined;
}

const evidenceOf = new WeakMap<SiteContext, Evidence>();

/** Notes that the site has just accepted an update, or shown a job of ours. */
export function noteProven(siteContext: SiteContext): void {
  const evidence = openEvidence(siteContext);
  evidence.provenUntil = performance.now() + PROVEN_MS;
  evidence.believed = 0;
}

/** Whether the address was proven a moment ago; each call uses up a part of that. */
export function isProven(siteContext: SiteContext): boolean {
  const evidence = openEvidence(siteContext);
  if (evidence.provenUntil <= performance.now() || evidence.believed >= PROVEN_JOBS) return false;
  evidence.believed++;
  return true;
}

function openEvidence(siteContext: SiteContext): Evidence {
  const known = evidenceOf.get(siteContext);
  if (known !== undefined) return known;
  const evidence: Evidence = {
    provenUntil: Number.NEGATIVE_INFINITY,
    showsUntil: Number.NEGATIVE_INFINITY,
    believed: 0,
    checking: undefined,
  };
  evidenceOf.set(siteContext, evidence);
  return evidence;
}

/** Whether the site showed a job of ours a moment ago. An accepted update does not prove that it has a show action. */
export const showsJobs = (siteContext: SiteContext): boolean =>
  openEvidence(siteContext).showsUntil > performance.now();

/** Checks other jobs of ours; calls at the same time share one check. */
export function checkOtherJobs(
  siteContext: SiteContext,
  claimed: SiteJobId,
  signal: AbortSignal,
): Promise<AddressProof> {
  const evidence = openEvidence(siteContext);
  evidence.checking ??= checkOthers(askerOf(siteContext), new Set([claimed]), signal)
    .then((proof) => {
      if (proof.kind === 'proven' && proof.isShown) {
        noteProven(siteContext);
        evidence.showsUntil = performance.now() + PROVEN_MS;
      }
      return proof;
    })
    .catch(checkFailed)
    .finally(() => {
      evidence.checking = undefined;
    });
  return evidence.checking;
}

const askerOf = (siteContext: SiteContext): JobAsker => ({
  db: siteContext.db,
  site: siteContext.site,
  ask: (id, signal) => showJob(siteContext, id, signal),
  probe(signal) {
    siteContext.rateLimiter.spend();
    return siteContext.client.probe(signal);
  },
});
