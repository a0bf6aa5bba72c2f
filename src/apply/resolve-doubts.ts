// Resolves creates in doubt: reads the site's list once for all of them, then adopts a job, sends again, or asks a
// person.
import { checkDelays, checkDueMs } from '../plan/check-delay.ts';
import {
  beginningsOf,
  cluesOf,
  contentOf,
  type DoubtfulCreate,
  likeness,
  type MatchOptions,
  referenceClues,
} from '../plan/match-doubt.ts';
import { isRewriting, rewritings } from '../plan/observe-values.ts';
import { compareReferences, fieldOf, foldSpace } from '../plan/same-value.ts';
import { type Reuse, reuseOf } from '../plan/whose-job.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import { type SiteJob, toCompare } from '../site/exchange.ts';
import {
  adoptDoubt,
  claimsTo,
  countDoubtsByContent,
  type Doubt,
  dueDoubts,
  explainDoubts,
  type JobClaim,
  openReferences,
  ownedJobIds,
  recordListCheck,
  sharedKeys,
} from '../store/change/doubt.ts';
import { refuteDoubt } from '../store/change/refute-doubt.ts';
import { recentlyAccepted } from '../store/mapping/mapping-sample.ts';
import { learntRewrites } from '../store/site/value-rewrites.ts';
import { crossStep } from '../telemetry/steps.ts';
import { CandidateStore, type Candidates, MAX_CANDIDATES } from './doubt-candidates.ts';
import { foundJobs } from './found-jobs.ts';
import type { SiteContext } from './site-context.ts';

/** Doubts resolved with one reading of the list. */
const DOUBTS_AT_ONCE = 2_000;
/** How far the clocks of site and database may differ. ASSUMED: check by comparing a `created_at` with the time. */
const CLOCK_SKEW_MS = 5 * 60_000;

interface OpenDoubt extends DoubtfulCreate, Candidates {
  readonly doubt: Doubt;
  /** Another posting may have the same reference. */
  shared: boolean;
  /** Candidates whose reference may also be another open create's: a person decides whose they are. */
  readonly contended: Set<string>;
}

/** How the jobs of a list are compared with doubts. */
type Matching = Required<Pick<MatchOptions, 'learnt'>> & Pick<MatchOptions, 'referenceField'>;

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
  const matching = { referenceField: policy.referenceField, learnt: await learntRewrites(db, site) };
  const index = indexDoubts(doubts, matching);
  const store = new CandidateStore();
  // Use the limit of the oldest doubt; whether the list is recent enough for the others is checked afterwards.
  const maxAgeMs = Math.max(...due.map((doubt) => mayBeOldBy(doubt, policy.doubts.resolveAfterMs)));
  // The list also shows jobs that this database does not know; later creates are compared with them before sending.
  const found =
    policy.referenceField === undefined
      ? undefined
      : await foundJobs(siteContext, policy.referenceField, false, maxAgeMs);
  const expected = new Set(await recentlyAccepted(db, site));
  const take = (siteJob: SiteJob): void => {
    expected.delete(siteJob.siteJobId);
    found?.take(siteJob);
    collect(index, store, siteJob, matching);
  };
  const keep = async (stop?: AbortSignal): Promise<void> => {
    await found?.keep();
    await siteContext.rateLimiter.take(stop);
  };
  const listing = await client.list(take, signal, keep, maxAgeMs);
  await found?.keep();
  // A cancelled listing proves nothing.
  if (signal.aborted) return 0;
  // A cached copy may lack jobs accepted since.
  const isCopy = listing.kind === 'listed' && (listing.ageMs ?? 0) > 0;
  const leftOut =
    isCopy || listing.kind === 'unreadable' ? undefined : await tellLeftOut(siteContext, expected, signal);
  const flaw = listing.kind === 'unreadable' ? listing.message : leftOut;
  if (flaw !== undefined || listing.kind === 'unreadable') {
    siteContext.log.warn({ site, doubts: due.length, message: flaw }, 'list not readable, doubts remain');
    await explainDoubts(db, due, flaw ?? '', policy.doubts.resolveAfterMs);
    return 0;
  }
  crossStep('doubt-listed');
  const decidable = await leaveTooYoung(siteContext, doubts, listing.ageMs ?? 0);
  await keepUnowned(siteContext, decidable, matching);
  return resolveEach(siteContext, decidable, matching, signal);
}

/**
 * How old a cached copy of the list may be to prove anything about a doubt: it must date from after the create could no
 * longer arrive, and after this check was due.
 */
const mayBeOldBy = ({ sinceMs, listChecks }: Doubt, resolveAfterMs: number): number =>
  Math.max(0, sinceMs - checkDueMs(checkDelays(resolveAfterMs), listChecks) - CLOCK_SKEW_MS);

/** Postpones the doubts for which the list is too old. Returns the others. */
async function leaveTooYoung({ db, policy }: SiteContext, doubts: OpenDoubt[], ageMs: number): Promise<OpenDoubt[]> {
  if (ageMs === 0) return doubts;
  const { resolveAfterMs } = policy.doubts;
  const isTooYoung = ({ doubt }: OpenDoubt): boolean => mayBeOldBy(doubt, resolveAfterMs) < ageMs;
  const left = doubts.filter(isTooYoung).map(({ doubt }) => doubt);
  if (left.length > 0) {
    const age = `${Math.ceil(ageMs / 1000)} s`;
    const message = `the list comes from a cache and is up to ${age} old, too old to show its job; exclude the list from caching`;
    await explainDoubts(db, left, message, resolveAfterMs);
  }
  return doubts.filter((open) => !isTooYoung(open));
}

/** Explains that the list is incomplete or outdated, if it lacks a job that the site shows. */
async function tellLeftOut(
  { client, rateLimiter }: SiteContext,
  expected: ReadonlySet<SiteJobId>,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const id of expected) {
    await rateLimiter.take(signal);
    const shown = await client.show(id, signal).catch(() => undefined);
    if (shown !== undefined) return `The list is incomplete or outdated: job ${id} is on the site but not in the list`;
  }
  return undefined;
}

function openDoubt(doubt: Doubt, resolveAfterMs: number): OpenDoubt {
  const started = doubt.startedAt.getTime();
  const latest = started + resolveAfterMs * (1 + doubt.listChecks * 0.5);
  return {
    doubt,
    fields: doubt.attempt.result.fields,
    notBefore: new Date(started - CLOCK_SKEW_MS),
    notAfter: new Date(latest + CLOCK_SKEW_MS),
    candidates: [],
    crowded: false,
    shared: false,
    contended: new Set(),
  };
}

/** Doubts indexed by reference and title, so a long list is scanned only once. */
interface DoubtIndex {
  readonly all: readonly OpenDoubt[];
  readonly byReference: ReadonlyMap<string, readonly OpenDoubt[]>;
  readonly byTitle: ReadonlyMap<string, readonly OpenDoubt[]>;
  /** Doubts that sent no title: any job may be theirs. */
  readonly untitled: readonly OpenDoubt[];
}

function indexDoubts(doubts: readonly OpenDoubt[], { referenceField, learnt }: Matching): DoubtIndex {
  const byReference = new Map<string, OpenDoubt[]>();
  const byTitle = new Map<string, OpenDoubt[]>();
  const untitled: OpenDoubt[] = [];
  const add = (index: Map<string, OpenDoubt[]>, clue: string, open: OpenDoubt): void => {
    for (const beginning of beginningsOf(clue)) {
      const others = index.get(beginning);
      if (others === undefined) index.set(beginning, [open]);
      else others.push(open);
    }
  };
  for (const open of doubts) {
    const { title } = cluesOf(open.fields, referenceField);
    for (const reference of referenceClues(open.fields, referenceField, learnt)) add(byReference, reference, open);
    if (title === undefined) untitled.push(open);
    else add(byTitle, title, open);
  }
  return { all: doubts, byReference, byTitle, untitled };
}

const MOST_OF_CLUE = 100;

function collect(index: DoubtIndex, store: CandidateStore, siteJob: SiteJob, matching: Matching): void {
  const { referenceField } = matching;
  const compared = toCompare(siteJob);
  const { reference, title } = cluesOf(compared.fields, referenceField);
  const own = reference === undefined ? [] : (index.byReference.get(reference.slice(0, MOST_OF_CLUE)) ?? []);
  // A list entry with too few fields may match any doubt; the candidate limit bounds the cost.
  const titled =
    title === undefined ? undefined : [...(index.byTitle.get(title.slice(0, MOST_OF_CLUE)) ?? []), ...index.untitled];
  const possible = reference !== undefined ? new Set([...own, ...(titled ?? [])]) : new Set(titled ?? index.all);
  const likely = [...possible].filter((open) => !open.crowded && likeness(open, compared, matching) !== 'other');
  store.keep(siteJob, likely);
}

/** Drops candidates that a mapping already owns, or that show the reference of another posting of ours. */
async function keepUnowned(siteContext: SiteContext, doubts: OpenDoubt[], matching: Matching): Promise<void> {
  const { referenceField, learnt } = matching;
  // The order matters: a create being sent meanwhile appears in one result or the other.
  const sent =
    referenceField === undefined ? [] : await openReferences(siteContext.db, siteContext.site, referenceField);
  const ids = new Set(doubts.flatMap((open) => open.candidates.map((candidate) => candidate.siteJobId)));
  const owned = await ownedJobIds(siteContext.db, siteContext.site, [...ids]);
  const claims = await claimsTo(siteContext.db, siteContext.site, [...owned]);
  const alike = await sharedKeys(
    siteContext.db,
    siteContext.site,
    doubts.map(({ doubt }) => doubt.attempt),
  );
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
    const free = open.candidates.filter((candidate) => {
      const shown =
        referenceField === undefined ? undefined : fieldOf(toCompare(candidate).fields, referenceField)?.trim();
      if (owned.has(candidate.siteJobId)) {
        const reuse = reuseOfClaimed(open, candidate, claims.get(candidate.siteJobId), matching);
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

/** Whether a create in doubt made a job that another posting, or no posting, has a claim to. */
function reuseOfClaimed(open: OpenDoubt, candidate: SiteJob, claim: JobClaim | undefined, matching: Matching): Reuse {
  // An orphan site job belongs to nobody and is about to be deleted.
  if (claim === undefined) return 'theirs';
  const older = claim.inFlight ? undefined : claim.fields;
  return reuseOf({ sent: open.fields, shown: toCompare(candidate).fields, older }, matching);
}

/** Resolves certain matches first, so a job that merely resembles a doubt's is not queried if it is another one's. */
async function resolveEach(
  siteContext: SiteContext,
  doubts: readonly OpenDoubt[],
  matching: Matching,
  signal: AbortSignal,
): Promise<number> {
  const taken = new Set<string>();
  const undecided: { open: OpenDoubt; found: Found }[] = [];
  let resolved = 0;
  for (const open of doubts) {
    if (signal.aborted) return resolved;
    const free = open.candidates.filter((candidate) => !taken.has(candidate.siteJobId));
    const found = await confirm(siteContext, open, free, matching, signal);
    if (found === undefined) continue;
    const chosen = found.perhaps.length > 0 ? undefined : await choose(siteContext, found.matches, open);
    if (chosen === undefined || chosen === 'ask') {
      undecided.push({ open, found });
      continue;
    }
    taken.add(chosen.siteJobId);
    const content = contentOf(open.fields, toCompare(chosen).fields, chosen.fields);
    const adopted = await adoptDoubt(
      siteContext.db,
      open.doubt,
      chosen.siteJobId,
      chosen.url,
      content,
      (older) => reuseOf({ sent: open.fields, shown: toCompare(chosen).fields, older }, matching) === 'ours',
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
    const left = [...found.matches, ...found.perhaps, ...found.resembling].filter(
      ({ siteJobId }) => !taken.has(siteJobId),
    );
    if (left.length > 0 || open.crowded) await askPerson(siteContext, open, left);
    else resolved += await notFound(siteContext, open.doubt);
    crossStep('doubt-resolved');
  }
  return resolved;
}

/** The candidates of a doubt, by certainty. */
interface Found {
  readonly matches: SiteJob[];
  readonly perhaps: SiteJob[];
  readonly resembling: SiteJob[];
}

/**
 * Completes list entries that show too little with the show action; `undefined`: that failed, and the doubt remains.
 */
async function confirm(
  siteContext: SiteContext,
  open: OpenDoubt,
  candidates: readonly SiteJob[],
  matching: Matching,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const options = { ...matching, shared: open.shared };
  const found: Found = { matches: [], perhaps: [], resembling: [] };
  for (const listed of candidates) {
    let candidate: SiteJob | undefined = listed;
    let verdict = likeness(open, toCompare(listed), options);
    const whole = Object.keys(open.fields).every((name) => fieldOf(listed.fields, name) !== undefined);
    if (verdict === 'perhaps' || !whole) {
      try {
        await siteContext.rateLimiter.take(signal);
        const shown = await siteContext.client.show(listed.siteJobId, signal);
        candidate = shown && completed(listed, shown);
        verdict = candidate === undefined ? 'other' : likeness(open, toCompare(candidate), options);
      } catch (error) {
        if (signal.aborted) return undefined;
        siteContext.log.warn({ ...namesOf(open.doubt), err: error }, 'candidate could not be shown, doubt remains');
        await postpone(siteContext, open, `job ${listed.siteJobId}, which it may have made, could not be shown`);
        return undefined;
      }
    }
    if (candidate === undefined) continue;
    if (verdict === 'match' && open.contended.has(candidate.siteJobId)) verdict = 'perhaps';
    if (verdict === 'match') found.matches.push(candidate);
    if (verdict === 'resembles') found.resembling.push(candidate);
    // Still undecided: it blocks sending again until a person decides.
    if (verdict === 'perhaps') {
      found.perhaps.push(candidate);
      return found;
    }
  }
  return found;
}

function completed(listed: SiteJob, shown: SiteJob): SiteJob {
  const reveals = listed.revealFields !== undefined || shown.revealFields !== undefined;
  return {
    ...listed,
    ...shown,
    fields: { ...listed.fields, ...shown.fields },
    revealFields: reveals ? () => ({ ...toCompare(listed).fields, ...toCompare(shown).fields }) : undefined,
  };
}

/**
 * A single match is the job. With several matches any will do, but only if at least as many doubts, due or not, have
 * the very same content.
 */
async function choose(
  siteContext: SiteContext,
  matches: readonly SiteJob[],
  open: OpenDoubt,
): Promise<SiteJob | 'ask' | undefined> {
  if (matches.length <= 1) return matches[0];
  const alike = await countDoubtsByContent(siteContext.db, siteContext.site);
  const doubts = alike.get(open.doubt.attempt.result.contentHash.toString('hex')) ?? 0;
  return matches.length <= doubts ? matches[0] : 'ask';
}

async function askPerson(siteContext: SiteContext, open: OpenDoubt, matches: readonly SiteJob[]): Promise<void> {
  const ids = matches.map((match) => match.siteJobId).join(', ');
  const message =
    matches.length === 0
      ? `more than ${MAX_CANDIDATES} jobs on the site match it, and all that were checked belong to other postings`
      : `jobs on the site that it may have made: ${ids}; say which one it is`;
  await postpone(siteContext, open, message);
}

async function postpone(siteContext: SiteContext, open: OpenDoubt, message: string): Promise<void> {
  await explainDoubts(siteContext.db, [open.doubt], message, siteContext.policy.doubts.resolveAfterMs);
}

/** No match. After enough list checks the site has surely not made the job, and the desired state may be sent. */
async function notFound(siteContext: SiteContext, doubt: Doubt): Promise<number> {
  if (doubt.listChecks + 1 < siteContext.policy.doubts.listChecks) {
    await recordListCheck(siteContext.db, [doubt]);
    return 0;
  }
  const refuted = await refuteDoubt(siteContext.db, doubt, siteContext.policy.retry.attempts);
  if (refuted) siteContext.log.info(namesOf(doubt), 'doubt resolved: not made');
  return refuted ? 1 : 0;
}

const namesOf = ({ attempt }: Doubt) => ({ site: attempt.site, feed: attempt.feed, key: attempt.key });
