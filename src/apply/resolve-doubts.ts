// Settles creates in doubt: reads the site's list once for all of them, then adopts, sends again, or asks a person.
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
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';
import { type SiteJob, toCompare } from '../site/exchange.ts';
import {
  adoptDoubt,
  claimsTo,
  countDoubtsByContent,
  type Doubt,
  dueDoubts,
  explainDoubts,
  openReferences,
  ownedJobIds,
  recordListCheck,
  refuteDoubt,
  sharedKeys,
} from '../store/change/doubt.ts';
import { recentlyAccepted } from '../store/mapping/mapping-sample.ts';
import { learntRewrites } from '../store/site/value-rewrites.ts';
import { crossStep } from '../telemetry/fault-hook.ts';
import { CandidateStore, type Candidates, MAX_CANDIDATES } from './doubt-candidates.ts';
import { foundJobs } from './found-jobs.ts';
import type { SiteContext } from './site-context.ts';

/** Doubts that one reading of the list serves. */
const DOUBTS_AT_ONCE = 2_000;
/** How far the site's clock and the database's may be apart. ASSUMED: check by comparing a `created_at` with the time. */
const CLOCK_SKEW_MS = 5 * 60_000;

interface OpenDoubt extends DoubtfulCreate, Candidates {
  readonly doubt: Doubt;
  /** Its reference may be another posting's too. */
  shared: boolean;
  /** Candidates whose reference another open create may have as well: a person says whose they are. */
  readonly contended: Set<string>;
}

/** What the jobs of a list are compared by. */
type Matching = Required<Pick<MatchOptions, 'learnt'>> & Pick<MatchOptions, 'referenceField'>;

/** Settles the doubts of a site that are old enough. Gives how many were settled. Does nothing without a list action. */
export async function resolveDoubts(siteContext: SiteContext, signal: AbortSignal): Promise<number> {
  const { db, site, policy, client } = siteContext;
  if (!policy.canList) return 0;
  const due = await dueDoubts(db, site, policy.doubts.resolveAfterMs, DOUBTS_AT_ONCE);
  if (due.length === 0) return 0;
  const doubts = due.map((doubt) => openDoubt(doubt, policy.doubts.resolveAfterMs));
  const matching = { referenceField: policy.referenceField, learnt: await learntRewrites(db, site) };
  const index = indexDoubts(doubts, matching);
  const store = new CandidateStore();
  // The oldest doubt's list may be the oldest; whether it is young enough for the others is seen then.
  const maxAgeMs = Math.max(...due.map((doubt) => mayBeOldBy(doubt, policy.doubts.resolveAfterMs)));
  // The list shows by the way what this database does not know: creates are compared with it before they are sent.
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
  // Called off, it says nothing of the list.
  if (signal.aborted) return 0;
  // A copy that a cache made may lack what was accepted since.
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
  const told = await leaveTooYoung(siteContext, doubts, listing.ageMs ?? 0);
  await keepUnowned(siteContext, told, matching);
  return resolveEach(siteContext, told, matching, signal);
}

/**
 * How old a cache's copy of the list may be to say anything of a doubt: it was made when the create could no longer arrive,
 * and when this look was due.
 */
const mayBeOldBy = ({ sinceMs, listChecks }: Doubt, resolveAfterMs: number): number =>
  Math.max(0, sinceMs - resolveAfterMs * (1 + listChecks * 0.5) - CLOCK_SKEW_MS);

/** Leaves the doubts that the list, as old as it is, says nothing of. Gives the others. */
async function leaveTooYoung({ db, policy }: SiteContext, doubts: OpenDoubt[], ageMs: number): Promise<OpenDoubt[]> {
  if (ageMs === 0) return doubts;
  const { resolveAfterMs } = policy.doubts;
  const isTooYoung = ({ doubt }: OpenDoubt): boolean => mayBeOldBy(doubt, resolveAfterMs) < ageMs;
  const left = doubts.filter(isTooYoung).map(({ doubt }) => doubt);
  if (left.length > 0) {
    const age = `${Math.ceil(ageMs / 1000)} s`;
    const message = `the list comes from a cache, and is up to ${age} old, too old to show its job; let no cache keep it`;
    await explainDoubts(db, left, message, resolveAfterMs);
  }
  return doubts.filter((open) => !isTooYoung(open));
}

/** A list without jobs that the site has all the same is not the whole list, or an older one. */
async function tellLeftOut(
  { client, rateLimiter }: SiteContext,
  expected: ReadonlySet<SiteJobId>,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const id of expected) {
    await rateLimiter.take(signal);
    const shown = await client.show(id, signal).catch(() => undefined);
    if (shown !== undefined) return `The list is not whole, or not up to date: job ${id} is on the site and not in it`;
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

/** Doubts by what their job can be recognised by at first glance, so that a long list is gone through but once. */
interface DoubtIndex {
  readonly all: readonly OpenDoubt[];
  readonly byReference: ReadonlyMap<string, readonly OpenDoubt[]>;
  readonly byTitle: ReadonlyMap<string, readonly OpenDoubt[]>;
  /** Those that sent no title, which each job may be. */
  readonly untitled: readonly OpenDoubt[];
}

function indexDoubts(doubts: readonly OpenDoubt[], { referenceField, learnt }: Matching): DoubtIndex {
  const byReference = new Map<string, OpenDoubt[]>();
  const byTitle = new Map<string, OpenDoubt[]>();
  const untitled: OpenDoubt[] = [];
  const note = (index: Map<string, OpenDoubt[]>, clue: string, open: OpenDoubt): void => {
    for (const beginning of beginningsOf(clue)) {
      const others = index.get(beginning);
      if (others === undefined) index.set(beginning, [open]);
      else others.push(open);
    }
  };
  for (const open of doubts) {
    const { title } = cluesOf(open.fields, referenceField);
    for (const reference of referenceClues(open.fields, referenceField, learnt)) note(byReference, reference, open);
    if (title === undefined) untitled.push(open);
    else note(byTitle, title, open);
  }
  return { all: doubts, byReference, byTitle, untitled };
}

const MOST_OF_CLUE = 100;

function collect(index: DoubtIndex, store: CandidateStore, siteJob: SiteJob, matching: Matching): void {
  const { referenceField } = matching;
  const compared = toCompare(siteJob);
  const { reference, title } = cluesOf(compared.fields, referenceField);
  const own = reference === undefined ? [] : (index.byReference.get(reference.slice(0, MOST_OF_CLUE)) ?? []);
  // A list entry that shows too little may be any of them; the limit of candidates bounds what that costs.
  const titled =
    title === undefined ? undefined : [...(index.byTitle.get(title.slice(0, MOST_OF_CLUE)) ?? []), ...index.untitled];
  const possible = reference !== undefined ? new Set([...own, ...(titled ?? [])]) : new Set(titled ?? index.all);
  const likely = [...possible].filter((open) => !open.crowded && likeness(open, compared, matching) !== 'other');
  store.keep(siteJob, likely);
}

/** Drops the candidates that a mapping owns already, or that show the reference of another posting of ours. */
async function keepUnowned(siteContext: SiteContext, doubts: OpenDoubt[], matching: Matching): Promise<void> {
  const { referenceField, learnt } = matching;
  // In this order: what was being sent meanwhile is in the one or in the other.
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
  /** How many open creates the site may show under a reference, as sent or as it is known to rewrite it. */
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
      const older = claims.get(candidate.siteJobId);
      if (owned.has(candidate.siteJobId) && (older === undefined || !isOthers(open, candidate, older, matching))) {
        return false;
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
    // With a job under its very reference, it needs none of those that another create may have made.
    const isOwn = (siteJob: SiteJob): boolean =>
      own !== undefined &&
      referenceField !== undefined &&
      fieldOf(toCompare(siteJob).fields, referenceField)?.trim() === own;
    const left = free.some(isOwn) ? free.filter(({ siteJobId }) => !open.contended.has(siteJobId)) : free;
    open.candidates.splice(0, open.candidates.length, ...left);
  }
}

/** Whether the site shows a job of another posting under the very reference of this one, which that one never had. */
function isOthers(open: OpenDoubt, shown: SiteJob, older: Fields, { referenceField, learnt }: Matching): boolean {
  if (referenceField === undefined) return false;
  const [own, says, former] = [open.fields, toCompare(shown).fields, older].map((known) =>
    fieldOf(known, referenceField)?.trim(),
  );
  if (!own || !former || own !== says) return false;
  return compareReferences(former, says) === 'other' && !isRewriting(learnt, referenceField, former, says);
}

/** First what is certain, so that a job that only resembles a doubt's is not asked about where it is another one's. */
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
      (older: Fields) => isOthers(open, chosen, older, matching),
    );
    if (adopted === 'recorded') {
      const names = { ...namesOf(open.doubt), siteJobId: chosen.siteJobId, uncertain: content.uncertain };
      siteContext.log.info(names, 'doubt resolved: adopted');
      resolved++;
    }
    crossStep('doubt-settled');
  }
  for (const { open, found } of undecided) {
    if (signal.aborted) return resolved;
    const left = [...found.matches, ...found.perhaps, ...found.resembling].filter(
      ({ siteJobId }) => !taken.has(siteJobId),
    );
    if (left.length > 0 || open.crowded) await askPerson(siteContext, open, left);
    else resolved += await notFound(siteContext, open.doubt);
    crossStep('doubt-settled');
  }
  return resolved;
}

/** The candidates of a doubt, by how sure they are. */
interface Found {
  readonly matches: SiteJob[];
  readonly perhaps: SiteJob[];
  readonly resembling: SiteJob[];
}

/** A list that shows too little is completed by the show action; `undefined`: that failed, and the doubt remains. */
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
    // Still not enough to tell: it stands in the way of sending again, and a person has to look.
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
 * One match is it. Several are, only if as many doubts, due or not, are about the very same content: then any of them
 * will do.
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
      ? `more than ${MAX_CANDIDATES} jobs on the site match it, and those that were checked belong to other postings`
      : `jobs on the site that it may have made: ${ids}; say which one is it`;
  await postpone(siteContext, open, message);
}

async function postpone(siteContext: SiteContext, open: OpenDoubt, message: string): Promise<void> {
  await explainDoubts(siteContext.db, [open.doubt], message, siteContext.policy.doubts.resolveAfterMs);
}

/** No such job. After enough looks the site has surely not made it: what is wished now may be sent. */
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
