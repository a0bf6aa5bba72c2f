// Resolves creates in doubt: reads the site's list once for all of them, and decides each by the jobs that may be its own.
import { LIKENESSES } from '../plan/match/compare-job.ts';
import type { AdoptRules } from '../plan/match/job-features.ts';
import { cluesOf, contentOf } from '../plan/match/taken-content.ts';
import { judgeFound, type PossibleJob, reuseOf, type Verdict } from '../plan/match/whose-job.ts';
import { checkDelays } from '../plan/policy.ts';
import { fieldOf } from '../plan/same-meaning.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import { type Listing, type SiteJob, withRevealedFields } from '../site/exchange.ts';
import { CreateMatching } from '../store/change/create-matching.ts';
import {
  adoptDoubt,
  countDoubtsOf,
  dueDoubts,
  explainDoubts,
  recordListCheck,
  refuteDoubt,
} from '../store/change/doubt.ts';
import { expectedJobs, noteNewJob } from '../store/mapping/visible-jobs.ts';
import { isSiteElsewhere } from '../store/site/known-address.ts';
import { fieldsSentFor } from '../store/site/recent-requests.ts';
import { crossStep } from '../telemetry/times.ts';
import {
  CandidateSearch,
  keepUnowned,
  MAX_CANDIDATES,
  maxListAgeMs,
  mayBeDeleted,
  namesOf,
  type OpenDoubt,
  openDoubt,
} from './candidate-search.ts';
import { foundJobs } from './search-site.ts';
import { rateLimitedJobAsker } from './show-job.ts';
import type { SiteContext } from './site-context.ts';
import { hidesNewJobs, showsReferences } from './site-health.ts';

/** Doubts resolved with one reading of the list. */
const DOUBTS_AT_ONCE = 2_000;

/**
 * Resolves the doubts of a site that are old enough. Returns how many were resolved. Does nothing without a list
 * action.
 */
export async function resolveDoubts(siteContext: SiteContext, signal: AbortSignal): Promise<number> {
  const { db, site, policy, client } = siteContext;
  if (!policy.canList) return 0;
  const due = await dueDoubts(db, site, checkDelays(policy.doubts.resolveAfterMs), DOUBTS_AT_ONCE);
  if (due.length === 0) return 0;
  const doubts = due.map((doubt) => openDoubt(doubt, policy.doubts.resolveAfterMs));
  const { referenceField, places } = policy;
  const rules = { referenceField, showsReferences: await showsReferences(siteContext), ...places };
  const matching = await CreateMatching.open(db, site, rules, due);
  const candidates = new CandidateSearch(siteContext, doubts, matching);
  // Use the limit of the oldest doubt; whether the list is recent enough for the others is checked afterwards.
  const maxAgeMs = Math.max(...due.map((doubt) => maxListAgeMs(doubt, policy.doubts.resolveAfterMs)));
  // The list also shows jobs that this database does not know; later creates are compared with them before sending.
  const found =
    policy.referenceField === undefined ? undefined : await foundJobs(siteContext, { isSearch: false, maxAgeMs });
  const expected = await expectedJobs(rateLimitedJobAsker(siteContext));
  const take = (siteJob: SiteJob): void | Promise<void> => {
    expected.take(siteJob);
    found?.take(siteJob);
    return candidates.take(siteJob);
  };
  const beforePage = async (stop?: AbortSignal): Promise<void> => {
    await found?.keep();
    await candidates.keep();
    await expected.keep();
    await siteContext.rateLimiter.take(stop);
  };
  const listing = await client.list(take, signal, beforePage, maxAgeMs);
  // Reading the list may take minutes. If the site has moved meanwhile, its former list says nothing about creates sent to the new address.
  if (await isSiteElsewhere(db, site, siteContext.address)) return 0;
  await found?.keep();
  await candidates.keep();
  // A cancelled listing proves nothing.
  if (signal.aborted) return 0;
  // A cached copy may lack jobs accepted since.
  const isCopy = listing.kind === 'listed' && (listing.ageMs ?? 0) > 0;
  const leftOut = isCopy || listing.kind === 'unreadable' ? undefined : await expected.tellLeftOut(signal);
  if (signal.aborted) return 0;
  const flaw = listing.kind === 'unreadable' ? listing.message : leftOut;
  if (flaw !== undefined || listing.kind === 'unreadable') {
    siteContext.log.warn({ site, doubts: due.length, message: flaw }, 'list not readable, doubts remain');
    await explainDoubts(db, due, flaw ?? '', policy.doubts.resolveAfterMs);
    return 0;
  }
  crossStep('doubt-listed');
  const decidable = await leaveTooYoung(siteContext, doubts, listing.ageMs ?? 0);
  const unshown = await takeMade(siteContext, decidable, candidates, signal);
  if (signal.aborted) return 0;
  await keepUnowned(siteContext, decidable, matching);
  await candidates.tellShared(decidable);
  const hides = () => hidesNewJobs(siteContext, signal);
  return decideDoubts(siteContext, decidable, candidates, signal, {
    whyUnproven: listing.whyUnproven,
    hides,
    unshown,
  });
}

/** Postpones the doubts for which the list is too old. Returns the others. */
async function leaveTooYoung({ db, policy }: SiteContext, doubts: OpenDoubt[], ageMs: number): Promise<OpenDoubt[]> {
  if (ageMs === 0) return doubts;
  const { resolveAfterMs } = policy.doubts;
  const isTooYoung = ({ doubt }: OpenDoubt): boolean => maxListAgeMs(doubt, resolveAfterMs) < ageMs;
  const left = doubts.filter(isTooYoung).map(({ doubt }) => doubt);
  if (left.length > 0) {
    const age = `${Math.ceil(ageMs / 1000)} s`;
    const message = `the list comes from a cache and is up to ${age} old, too old to show the job of this create; exclude the list from caching`;
    await explainDoubts(db, left, message, resolveAfterMs);
  }
  return doubts.filter((open) => !isTooYoung(open));
}

/**
 * A list need not have a job that the site shows: somebody may have approved it since, or the list has only some. Takes those to which creates were
 * redirected like listed ones. Notes that the site does not show a new job, and returns the doubts whose job that is.
 */
async function takeMade(
  { db, site, client, rateLimiter }: SiteContext,
  doubts: readonly OpenDoubt[],
  search: CandidateSearch,
  signal: AbortSignal,
): Promise<ReadonlySet<OpenDoubt>> {
  const known = new Set(doubts.flatMap(({ candidates }) => candidates.map(({ siteJobId }) => siteJobId)));
  const unshown = new Set<OpenDoubt>();
  for (const open of doubts) {
    const { made } = open.doubt;
    if (made === undefined || known.has(made)) continue;
    await rateLimiter.take(signal);
    // A site that fails to answer says nothing about what it hides.
    const siteJob = await client.show(made, signal).catch(() => null);
    if (siteJob == null) {
      unshown.add(open);
      if (siteJob === undefined) await noteNewJob(db, site, made, false);
      continue;
    }
    known.add(made);
    await search.take(siteJob);
  }
  await search.keep();
  return unshown;
}

// Decides each doubt by its candidates: adopts a job, sends again, or asks a person.

/** What may keep a list that was read to its end from showing a new job. */
interface ListLimits {
  /** Tells why the list proves nothing about a create that was sent at this time: see `Listing`. */
  readonly whyUnproven: Extract<Listing, { kind: 'listed' }>['whyUnproven'];
  /** Whether the site does not show each new job at once. */
  readonly hides: () => Promise<boolean>;
  /** Doubts with a job to which the site redirected the create, and which it does not show. */
  readonly unshown: ReadonlySet<OpenDoubt>;
}

/**
 * Resolves certain matches first, so a job that merely resembles a doubt's is not queried if it is another one's.
 * Returns how many doubts were resolved.
 */
async function decideDoubts(
  siteContext: SiteContext,
  doubts: readonly OpenDoubt[],
  search: CandidateSearch,
  signal: AbortSignal,
  limits: ListLimits,
): Promise<number> {
  const { rules } = search;
  const taken = new Set<string>();
  const undecided: { open: OpenDoubt; found: readonly Found[] }[] = [];
  const shown: Shown = new Map();
  let resolved = 0;
  for (const open of doubts) {
    if (signal.aborted) return resolved;
    const free = open.candidates.filter((candidate) => !taken.has(candidate.siteJobId));
    const found = await confirm(siteContext, open, free, { search, shown }, signal);
    if (found === undefined) continue;
    const verdict = await judge(siteContext, found, open, search);
    if (verdict.kind !== 'sure') {
      undecided.push({ open, found });
      continue;
    }
    const chosen = verdict.best.siteJob;
    taken.add(chosen.siteJobId);
    const formerly = await fieldsSentFor(siteContext.db, open.doubt.attempt);
    const job = { ...withRevealedFields(chosen), kept: chosen.fields };
    const content = contentOf(open.fields, job, { ...rules, formerly });
    const adopted = await adoptDoubt(
      siteContext.db,
      open.doubt,
      chosen.siteJobId,
      chosen.url,
      { ...content, isProven: isProvenMade(open, chosen, search) },
      (older) => reuseOf({ sent: open.fields, shown: withRevealedFields(chosen).fields, older }, rules) === 'sure',
    );
    if (adopted === 'recorded') {
      const names = { ...namesOf(open.doubt), siteJobId: chosen.siteJobId, uncertain: content.uncertain };
      siteContext.log.info(names, 'doubt resolved: adopted');
      resolved++;
    }
    crossStep('doubt-resolved');
  }
  for (const { open, found } of undecided) {
    if (signal.aborted) return resolved;
    const left = found.filter(({ siteJob }) => !taken.has(siteJob.siteJobId));
    if (left.length > 0 || open.crowded) await askPerson(siteContext, open, left);
    else resolved += await notFound(siteContext, open, limits);
    crossStep('doubt-resolved');
  }
  return resolved;
}

/** A candidate of a doubt. */
interface Found extends PossibleJob {
  readonly siteJob: SiteJob;
  /** The list shows it, but the site does not find it: it may show it later, or know it by another ID. */
  readonly isUnshown: boolean;
}

/** What the site says of the jobs that it was asked for. */
type Shown = Map<string, SiteJob | 'absent' | { readonly error: unknown }>;

/**
 * The candidates, the likeliest first. Has the site show the jobs, which completes list entries that show too little; `undefined`: that failed, and the doubt remains. A job
 * that the list shows completely is adopted although that fails, but not if the site does not find it under its ID.
 */
async function confirm(
  siteContext: SiteContext,
  open: OpenDoubt,
  candidates: readonly SiteJob[],
  { search, shown }: { readonly search: CandidateSearch; readonly shown: Shown },
  signal: AbortSignal,
): Promise<readonly Found[] | undefined> {
  const found: Found[] = [];
  const content = search.contentOf(open);
  const add = (siteJob: SiteJob, likeness: Found['likeness'], isUnshown = false): void => {
    found.push({
      siteJob,
      likeness,
      isUnshown,
      // Made again when it is needed: many are kept.
      get comparison() {
        return search.compare(siteJob).with(content);
      },
    });
  };
  const listed = candidates.map((job) => ({ job, likeness: search.likeness(open, job), isWhole: isWhole(open, job) }));
  // The likeliest first: what is certain need not be asked about again.
  listed.sort((a, b) => LIKENESSES.indexOf(a.likeness) - LIKENESSES.indexOf(b.likeness));
  for (const { job, likeness: fromList, isWhole: whole } of listed) {
    let candidate: SiteJob = job;
    let verdict = fromList;
    if (verdict === 'match' || verdict === 'perhaps' || !whole) {
      // One that is undecided blocks sending again, so that no further one needs to be shown.
      if (verdict !== 'match' && whole && found.some((one) => one.likeness === 'perhaps')) {
        add(job, 'perhaps');
        continue;
      }
      const answer = await ask(siteContext, job, shown, signal);
      if (answer === undefined) return undefined;
      if (answer === 'absent') {
        if (fromList !== 'resembles' && mayBeOwn(open, job, search.rules)) add(job, 'other', true);
        continue;
      }
      if ('error' in answer) {
        if (verdict !== 'match' || !whole) {
          siteContext.log.warn(
            { ...namesOf(open.doubt), err: answer.error },
            'candidate could not be shown, doubt remains',
          );
          const message = `job ${job.siteJobId}, which it may have made, could not be shown`;
          await postpone(siteContext, open, message, [job]);
          return undefined;
        }
      } else {
        candidate = completed(job, answer);
        verdict = search.likeness(open, candidate);
      }
    }
    const isContended = open.contended.has(candidate.siteJobId) || mayBeDeleted(open, candidate);
    if (verdict === 'match' && isContended) verdict = 'perhaps';
    if (verdict !== 'other') add(candidate, verdict);
  }
  return found.sort((a, b) => LIKENESSES.indexOf(a.likeness) - LIKENESSES.indexOf(b.likeness));
}

const isWhole = ({ fields }: OpenDoubt, listed: SiteJob): boolean =>
  Object.keys(fields).every((name) => fieldOf(listed.fields, name) !== undefined);

/** Asks for each job once; `undefined`: this was called off. */
async function ask(
  { client, rateLimiter }: SiteContext,
  { siteJobId }: SiteJob,
  shown: Shown,
  signal: AbortSignal,
): Promise<SiteJob | 'absent' | { readonly error: unknown } | undefined> {
  const known = shown.get(siteJobId);
  if (known !== undefined) return known;
  let answer: SiteJob | 'absent' | { readonly error: unknown };
  try {
    await rateLimiter.take(signal);
    answer = (await client.show(siteJobId, signal)) ?? 'absent';
  } catch (error) {
    if (signal.aborted) return undefined;
    answer = { error };
  }
  shown.set(siteJobId, answer);
  return answer;
}

/**
 * Whether the site proves that the create has made the job: it was created in the window, with what was sent. A job that a person made
 * for the posting, earlier or with other content, is not proven, although it may be the posting's job from now on.
 */
function isProvenMade(open: OpenDoubt, job: SiteJob, search: CandidateSearch): boolean {
  if (job.createdAt === undefined) return false;
  const grades = [...(search.compare(job).with(search.contentOf(open))?.grades ?? [])];
  return !grades.some(([name, grade]) => grade === 0 && name !== ' reference');
}

/** Whether the list itself says that a job which the site does not find may be that of the doubt; an older one may have expired. */
function mayBeOwn(open: OpenDoubt, listed: SiteJob, { referenceField }: AdoptRules): boolean {
  const { createdAt } = listed;
  if (createdAt !== undefined && (createdAt < open.notBefore || createdAt > open.notAfter)) return false;
  const { reference, title } = cluesOf(withRevealedFields(listed).fields, referenceField);
  return reference !== undefined || title !== undefined;
}

function completed(listed: SiteJob, shown: SiteJob): SiteJob {
  const reveals = listed.revealFields !== undefined || shown.revealFields !== undefined;
  return {
    ...listed,
    ...shown,
    fields: { ...listed.fields, ...shown.fields },
    revealFields: reveals
      ? () => ({ ...withRevealedFields(listed).fields, ...withRevealedFields(shown).fields })
      : undefined,
  };
}

/** Any of several matching jobs will do if at least as many doubts, due or not, have sent the same, or the jobs do not tell them apart. */
async function judge(
  { db, site }: SiteContext,
  found: readonly Found[],
  open: OpenDoubt,
  search: CandidateSearch,
): Promise<Verdict<Found>> {
  const matches = found.filter(({ likeness }) => likeness === 'match');
  const content = search.contentOf(open);
  let alike = Math.min(...matches.map(({ siteJob }) => search.compare(siteJob).alike(content)));
  if (matches.length > Math.max(alike, 1)) {
    const { contentHash } = open.doubt.attempt.accepted;
    alike = await countDoubtsOf(db, site, contentHash);
  }
  return judgeFound(found, { alike: Math.max(alike, 1), isReferenceShared: open.shared });
}

async function askPerson(siteContext: SiteContext, open: OpenDoubt, left: readonly Found[]): Promise<void> {
  const candidates = left.map(({ siteJob }) => siteJob);
  const ids = candidates.map(({ siteJobId }) => siteJobId).join(', ');
  const notFound = left.flatMap(({ siteJob, isUnshown }) => (isUnshown ? siteJob.siteJobId : []));
  const but =
    notFound.length === 0 ? '' : ` (the list shows ${notFound.join(', ')}, but the site finds no job under that ID)`;
  const message =
    candidates.length === 0
      ? `more than ${MAX_CANDIDATES} jobs on the site match it, and all that were checked belong to other postings`
      : `jobs on the site that it may have made: ${ids}; say which one it is${but}`;
  await postpone(siteContext, open, message, candidates);
}

async function postpone(
  siteContext: SiteContext,
  open: OpenDoubt,
  message: string,
  candidates: readonly SiteJob[],
): Promise<void> {
  const possible = { candidates: candidates.map(({ siteJobId }) => siteJobId), crowded: open.crowded };
  await explainDoubts(siteContext.db, [open.doubt], message, siteContext.policy.doubts.resolveAfterMs, possible);
}

const HIDES_NEW =
  'the list does not show its job, which proves nothing: the site does not show each new job at once. Look for the job on the site, as its ' +
  'administrator sees it';

const saysUnshown = (made: SiteJobId | undefined): string =>
  `the list does not show its job, and the site does not show job ${made}, to which it redirected the create: perhaps somebody has to ` +
  'approve it first. Look for the job on the site, as its administrator sees it';

/**
 * No match. After enough list checks the site has surely not made the job, and the desired state may be sent; unless the site hides new
 * jobs, or the one to which it has redirected the create, or the list may have been read without the rights of the token.
 */
async function notFound(
  siteContext: SiteContext,
  open: OpenDoubt,
  { whyUnproven, hides, unshown }: ListLimits,
): Promise<number> {
  const { doubt, holder } = open;
  const hidden = unshown.has(open) ? saysUnshown(doubt.made) : (await hides()) ? HIDES_NEW : undefined;
  if (hidden !== undefined) {
    await explainDoubts(siteContext.db, [doubt], hidden, siteContext.policy.doubts.resolveAfterMs);
    return 0;
  }
  const unproven = await whyUnproven?.(doubt.sentAt);
  if (unproven !== undefined) {
    const message = `the list does not show its job, which proves nothing: ${unproven.message}`;
    const note = siteContext.policy.provesToken
      ? message
      : `${message}. Set account_path, or look for the job on the site`;
    await explainDoubts(siteContext.db, [doubt], note, siteContext.policy.doubts.resolveAfterMs);
    return 0;
  }
  if (doubt.listChecks + 1 < siteContext.policy.doubts.listChecks) {
    await recordListCheck(siteContext.db, [doubt]);
    return 0;
  }
  const refuted = await refuteDoubt(siteContext.db, doubt, siteContext.policy.retry.attempts, holder);
  if (refuted) siteContext.log.info(namesOf(doubt), 'doubt resolved: not made');
  return refuted ? 1 : 0;
}
