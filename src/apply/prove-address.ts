// Checks whether the site shows other jobs of ours: at a wrong address, or without a show action, it denies that any exists.
import { plural } from '../plan/plural.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import { areFewAndOld, FEW_JOBS, recentlyAccepted, sampleOfAges } from '../store/mapping/mapping-sample.ts';
import { trustsGone } from '../store/site/site-state.ts';
import { showJob } from './show-job.ts';
import type { SiteContext } from './site-context.ts';

/** How long the address counts as proven, and for how many jobs; short, so that a site that breaks is noticed soon. */
const PROVEN_MS = 10_000;
const PROVEN_JOBS = 20;

/** What other jobs of ours prove about the site. */
export type AddressProof =
  | { readonly kind: 'proven' }
  | { readonly kind: 'unproven'; readonly asked: number; readonly seen: string | undefined }
  | { readonly kind: 'unknown'; readonly message: string };

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
export function shareCheck(siteContext: SiteContext, claimed: SiteJobId, signal: AbortSignal): Promise<AddressProof> {
  const evidence = openEvidence(siteContext);
  evidence.checking ??= checkOthers(siteContext, claimed, signal)
    .catch(
      (error: unknown): AddressProof => ({
        kind: 'unknown',
        message: `the job seems to be gone, but checking other jobs failed: ${(error as Error).message}`,
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
 * | older ones are found, but none of those that the site accepted last | unknown: it may hide jobs that are new or not published |
 * | we have no others                      | right address if the site's list, or its jobs path, can be read      |
 * | few, all gone, all made over a day ago | the same: they have expired                                          |
 * | more, or younger ones, all gone        | wrong address or another user's token, until a person says otherwise |
 */
async function checkOthers(siteContext: SiteContext, claimed: SiteJobId, signal: AbortSignal): Promise<AddressProof> {
  const { db, site } = siteContext;
  if (await trustsGone(db, site)) return { kind: 'proven' };
  const asked = new Set<SiteJobId>();
  let hidden: readonly SiteJobId[] = [];
  for (const pick of [recentlyAccepted, sampleOfAges]) {
    hidden = [...asked];
    for (const siteJobId of await pick(db, site, claimed)) {
      if (asked.has(siteJobId)) continue;
      asked.add(siteJobId);
      try {
        if ((await showJob(siteContext, siteJobId, signal)) === undefined) continue;
      } catch (error) {
        return {
          kind: 'unknown',
          message: `the job seems to be gone, but checking other jobs failed: ${(error as Error).message}`,
        };
      }
      if (hidden.length > 0) {
        const message = `the job seems to be gone, but the site may only not show it: of ${plural(hidden.length, 'job')} that it accepted last (${hidden.join(', ')}), it shows none`;
        return { kind: 'unknown', message };
      }
      noteProven(siteContext);
      openEvidence(siteContext).showsUntil = performance.now() + PROVEN_MS;
      return { kind: 'proven' };
    }
  }
  if (asked.size > 0 && !(await areFewAndOld(db, site, FEW_JOBS))) {
    return { kind: 'unproven', asked: asked.size, seen: undefined };
  }
  siteContext.rateLimiter.spend();
  const { found, message } = await siteContext.client.probe(signal);
  return found ? { kind: 'proven' } : { kind: 'unproven', asked: asked.size, seen: message };
}
