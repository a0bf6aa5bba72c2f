// Leaves each doubt the candidates that no other posting owns.
import { isRewriting, rewritings } from '../../plan/observe-values.ts';
import { compareReferences, fieldOf, foldSpace } from '../../plan/same-value.ts';
import { type Reuse, reuseOf } from '../../plan/whose-job.ts';
import type { Fields } from '../../posting/posting.ts';
import { type SiteJob, toCompare } from '../../site/exchange.ts';
import { statesDeletion } from '../../site/states-deletion.ts';
import {
  type DeletedFor,
  deletedFor,
  deletedJobs,
  type OwnedJob,
  openReferences,
  ownedJobIds,
  ownedJobs,
  refutedJobs,
  sharedKeys,
} from '../../store/change/candidate-owners.ts';
import type { SiteContext } from '../site-context.ts';
import type { Matching, OpenDoubt } from './open-doubt.ts';

/**
 * Drops candidates that a mapping already owns, that were deleted for another posting, that show the reference of another posting of ours,
 * or of which a person said that they are not the posting's. If the list shows that one of the latter was made after the create began, it may be another job under the same ID:
 * a person decides.
 */
export async function keepUnowned(siteContext: SiteContext, doubts: OpenDoubt[], matching: Matching): Promise<void> {
  const { referenceField, learnt } = matching;
  // The order matters: a create being sent meanwhile appears in one result or the other.
  const sent =
    referenceField === undefined ? [] : await openReferences(siteContext.db, siteContext.site, referenceField);
  const ids = new Set(doubts.flatMap((open) => open.candidates.map((candidate) => candidate.siteJobId)));
  const owned = await ownedJobIds(siteContext.db, siteContext.site, [...ids]);
  const jobs = await ownedJobs(siteContext.db, siteContext.site, [...owned]);
  const alike = await sharedKeys(
    siteContext.db,
    siteContext.site,
    doubts.map(({ doubt }) => doubt.attempt),
  );
  const pairs = doubts.flatMap(({ doubt, candidates }) =>
    candidates.map(({ siteJobId }) => ({ feed: doubt.attempt.feed, key: doubt.attempt.key, siteJobId })),
  );
  const refuted = await refutedJobs(siteContext.db, siteContext.site, pairs);
  const deleted = await deletedJobs(siteContext.db, pairs);
  const ended = await deletedFor(siteContext.db, siteContext.site, [...ids]);
  const holders = new Map<string, number>();
  /** How many open creates the site may show under a reference, as sent or as the site is known to rewrite it. */
  const shownAs = new Map<string, number>();
  for (const { reference } of sent) {
    holders.set(reference.trim(), (holders.get(reference.trim()) ?? 0) + 1);
    const forms = new Set([foldSpace(reference), ...rewritings(learnt, referenceField ?? '', reference)]);
    for (const form of forms) shownAs.set(form, (shownAs.get(form) ?? 0) + 1);
  }
  for (const open of doubts) {
    const { feed, key } = open.doubt.attempt;
    const own = referenceField === undefined ? undefined : fieldOf(open.fields, referenceField)?.trim();
    open.shared = alike.has(`${feed} ${key}`) || (own !== undefined && (holders.get(own) ?? 0) > 1);
    for (const { siteJobId } of open.candidates) {
      const at = deleted.get(`${feed} ${key} ${siteJobId}`);
      if (at !== undefined) open.deleted.set(siteJobId, at);
    }
    const free = open.candidates.filter((candidate) => {
      if (refuted.has(`${feed} ${key} ${candidate.siteJobId}`)) {
        if (candidate.createdAt === undefined || candidate.createdAt < open.notBefore) return false;
        open.contended.add(candidate.siteJobId);
      }
      const shown =
        referenceField === undefined ? undefined : fieldOf(toCompare(candidate).fields, referenceField)?.trim();
      if (ended.get(candidate.siteJobId)?.some((other) => isDeletedJobOf(other, open, candidate)) === true) {
        if (!shown || shown !== own) return false;
        open.contended.add(candidate.siteJobId);
      }
      if (owned.has(candidate.siteJobId)) {
        const reuse = reuseOfOwned(open.fields, candidate, jobs.get(candidate.siteJobId), matching);
        if (reuse === 'theirs') return false;
        if (reuse === 'unclear') {
          open.contended.add(candidate.siteJobId);
          return true;
        }
      }
      if (!shown || shown === own) return true;
      if (referenceField !== undefined && own !== undefined) {
        const isOurs = isRewriting(learnt, referenceField, own, shown) || compareReferences(own, shown) !== 'other';
        if (isOurs && (holders.has(shown) || (shownAs.get(foldSpace(shown)) ?? 0) > 1)) {
          open.contended.add(candidate.siteJobId);
          return true;
        }
      }
      return !holders.has(shown);
    });
    // A doubt with a job under its exact reference does not need jobs that another create may have made.
    const isOwn = (siteJob: SiteJob): boolean =>
      !open.contended.has(siteJob.siteJobId) &&
      own !== undefined &&
      referenceField !== undefined &&
      fieldOf(toCompare(siteJob).fields, referenceField)?.trim() === own;
    const left = free.some(isOwn) ? free.filter(({ siteJobId }) => !open.contended.has(siteJobId)) : free;
    open.candidates.splice(0, open.candidates.length, ...left);
  }
}

/** How far the clocks of the site and the database may differ where nobody decides. */
const CLOCKS_DIFFER_MS = 3_600_000;

/** Whether the candidate is the job that was deleted for another posting, and no later one under its ID. */
function isDeletedJobOf({ feed, key, at }: DeletedFor, { doubt }: OpenDoubt, candidate: SiteJob): boolean {
  if (feed === doubt.attempt.feed && key === doubt.attempt.key) return false;
  const { createdAt } = candidate;
  return (
    statesDeletion(candidate) || (createdAt !== undefined && createdAt.getTime() + CLOCKS_DIFFER_MS < at.getTime())
  );
}

/** Whether a create that sent this made a job that another posting owns, or no posting. */
export function reuseOfOwned(sent: Fields, candidate: SiteJob, owned: OwnedJob | undefined, matching: Matching): Reuse {
  // An orphan site job belongs to nobody and is about to be deleted.
  if (owned === undefined) return 'theirs';
  const older = owned.inFlight ? undefined : owned.fields;
  return reuseOf({ sent, shown: toCompare(candidate).fields, older }, matching);
}
