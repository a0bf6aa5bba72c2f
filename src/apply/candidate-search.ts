// Collects, while a site's list is read, the jobs that creates in doubt may have made, and leaves each doubt those that no other posting
// owns.
import type { Likeness } from '../plan/match/compare-job.ts';
import type { AdoptRules } from '../plan/match/job-features.ts';
import {
  CLOCK_SKEW_MS,
  type ComparedJob,
  type LookedUp,
  type OpenContent,
  type Window,
  windowFrom,
} from '../plan/match/open-contents.ts';
import { cluesOf } from '../plan/match/taken-content.ts';
import { type Certainty, reuseOf } from '../plan/match/whose-job.ts';
import { isRewriting, rewritings } from '../plan/observe-values.ts';
import { checkDelays, checkDueMs } from '../plan/policy.ts';
import { compareReferences, fieldOf, foldSpace } from '../plan/same-meaning.ts';
import type { Fields } from '../posting/posting.ts';
import { type SiteJob, statesDeletion, withRevealedFields } from '../site/exchange.ts';
import {
  type DeletedFor,
  deletedFor,
  deletedJobs,
  type OwnedJob,
  openReferences,
  ownedJobIds,
  ownedJobs,
  refutedJobs,
} from '../store/change/candidate-owners.ts';
import type { CreateMatching } from '../store/change/create-matching.ts';
import type { Doubt, ReferenceHolder } from '../store/change/doubt.ts';
import type { SiteContext } from './site-context.ts';

const KEPT_AT_ONCE = 500;
/** So many of the creates that have sent the same take a job as their candidate: any of them may have it. */
const MOST_ALIKE = 50;
/** Each takes a kilobyte for each content that the job may have. */
const MOST_COMPARED = 500;

export class CandidateSearch {
  readonly #siteContext: Pick<SiteContext, 'db' | 'site'>;
  readonly #matching: CreateMatching;
  readonly #doubts = new Map<OpenContent, OpenDoubt[]>();
  readonly #store = new CandidateStore();
  /** How many jobs each content may have. */
  readonly #jobs = new Map<OpenContent, number>();
  readonly #compared = new Map<SiteJob, ComparedJob>();
  #waiting: { readonly siteJob: SiteJob; readonly looked: LookedUp }[] = [];

  constructor(siteContext: Pick<SiteContext, 'db' | 'site'>, doubts: readonly OpenDoubt[], matching: CreateMatching) {
    this.#siteContext = siteContext;
    this.#matching = matching;
    for (const open of doubts) {
      const content = this.contentOf(open);
      const others = this.#doubts.get(content);
      if (others === undefined) this.#doubts.set(content, [open]);
      else others.push(open);
    }
  }

  /** How jobs and creates are compared. */
  get rules(): AdoptRules {
    return this.#matching.rules;
  }

  contentOf({ doubt }: OpenDoubt): OpenContent {
    return this.#matching.contentOf(doubt);
  }

  take(siteJob: SiteJob): void | Promise<void> {
    const looked = this.#matching.contents.look(withRevealedFields(siteJob));
    if (![...looked.found].some((content) => this.#doubts.has(content)) && !looked.isNear()) return undefined;
    this.#waiting.push({ siteJob, looked });
    return this.#waiting.length < KEPT_AT_ONCE ? undefined : this.keep();
  }

  /** Keeps the jobs taken since the last call as candidates, apart from those of postings; call it after each page. */
  async keep(): Promise<void> {
    const taken = this.#waiting;
    this.#waiting = [];
    if (taken.length === 0) return;
    const { db, site } = this.#siteContext;
    const ids = taken.map(({ siteJob }) => siteJob.siteJobId);
    const owned = await ownedJobIds(db, site, ids);
    const jobs = await ownedJobs(db, site, [...owned]);
    for (const { siteJob, looked } of taken) {
      const compared = this.#matching.contents.compare(looked);
      const isTheirs = ({ fields }: OpenContent): boolean =>
        owned.has(siteJob.siteJobId) &&
        reuseOfOwned(fields, siteJob, jobs.get(siteJob.siteJobId), this.#matching.rules) === 'unmatched';
      const theirs = compared.contents.filter(isTheirs);
      this.#noteHolder(siteJob, jobs.get(siteJob.siteJobId), theirs);
      const possible = compared.contents.filter(
        (content) => compared.equalTo(content) === undefined && !theirs.includes(content),
      );
      this.#store.keep(
        siteJob,
        possible.flatMap((content) => this.#share(content)),
      );
    }
    for (const [content, doubts] of this.#doubts) {
      if (this.#matching.contents.isCrowded(content)) for (const open of doubts) open.crowded = true;
    }
  }

  /** Notes whose job it is that has the reference of creates in doubt. */
  #noteHolder(siteJob: SiteJob, owner: OwnedJob | undefined, contents: readonly OpenContent[]): void {
    if (owner === undefined) return;
    const { referenceField } = this.rules;
    const shown = cluesOf(withRevealedFields(siteJob).fields, referenceField).reference;
    if (shown === undefined) return;
    for (const content of contents) {
      if (cluesOf(content.fields, referenceField).reference !== shown) continue;
      for (const open of this.#doubts.get(content) ?? [])
        open.holder = { feed: owner.feed, key: owner.key, siteJobId: siteJob.siteJobId };
    }
  }

  /** Creates that have sent the same take turns. */
  #share(content: OpenContent): readonly OpenDoubt[] {
    const doubts = this.#doubts.get(content) ?? [];
    if (doubts.length <= MOST_ALIKE) return doubts;
    const at = (this.#jobs.get(content) ?? 0) % doubts.length;
    this.#jobs.set(content, at + 1);
    return [...doubts.slice(at, at + MOST_ALIKE), ...doubts.slice(0, Math.max(0, at + MOST_ALIKE - doubts.length))];
  }

  compare(siteJob: SiteJob): ComparedJob {
    const known = this.#compared.get(siteJob);
    if (known !== undefined) return known;
    if (this.#compared.size >= MOST_COMPARED) this.#compared.clear();
    const compared = this.#matching.contents.compare(this.#matching.contents.look(withRevealedFields(siteJob)));
    this.#compared.set(siteJob, compared);
    return compared;
  }

  /** Whose job it is: the doubt's, perhaps, or certainly not. */
  likeness(open: OpenDoubt, siteJob: SiteJob): Likeness {
    return this.#matching.likeness(open.doubt, siteJob, this.compare(siteJob), {
      window: open,
      isReferenceShared: open.shared,
      shared: open.sharedValues,
    });
  }

  /** Notes which of the values that the candidates show other postings have too. */
  async tellShared(doubts: readonly OpenDoubt[]): Promise<void> {
    const asked = new Map<Doubt, Set<string>>();
    for (const open of doubts) {
      const content = this.contentOf(open);
      const names = open.candidates.flatMap((candidate) => this.compare(candidate).with(content)?.identities ?? []);
      if (names.length > 0) asked.set(open.doubt, new Set(names));
    }
    const shared = await this.#matching.sharedOf(asked);
    for (const open of doubts) open.sharedValues = shared.get(open.doubt) ?? open.sharedValues;
  }
}

/** A create in doubt while the site's list is searched for its job: what was sent, when, and which jobs may be its own. */
export interface OpenDoubt extends Window, Candidates {
  readonly notAfter: Date;
  readonly doubt: Doubt;
  readonly fields: Fields;
  /** Another posting may have the same reference. */
  shared: boolean;
  /** The posting whose job the list shows with the reference; absent: none is known. */
  holder?: ReferenceHolder;
  /** Names of the values that other postings of the site have too; `undefined`: this is not known. */
  sharedValues: ReadonlySet<string> | undefined;
  /** Candidates that may be another open create's, or a job that a person refused: a person decides whose they are. */
  readonly contended: Set<string>;
  /** When jobs of the posting were deleted before, by ID: the list may go on to show them. */
  readonly deleted: Map<string, Date>;
}

export function openDoubt(doubt: Doubt, resolveAfterMs: number): OpenDoubt {
  const latest = doubt.sentAt.getTime() + resolveAfterMs * (1 + doubt.listChecks * 0.5);
  return {
    doubt,
    fields: doubt.attempt.accepted.fields,
    ...windowFrom(doubt.startedAt),
    notAfter: new Date(latest + CLOCK_SKEW_MS),
    candidates: [],
    crowded: false,
    shared: false,
    sharedValues: undefined,
    contended: new Set(),
    deleted: new Map(),
  };
}

/**
 * How old a cached copy of the list may be to prove anything about a doubt: it must date from after the create could no
 * longer arrive, and after this check was due.
 */
export const maxListAgeMs = ({ sinceMs, listChecks }: Doubt, resolveAfterMs: number): number =>
  Math.max(0, sinceMs - checkDueMs(checkDelays(resolveAfterMs), listChecks) - CLOCK_SKEW_MS);

/** Sites show when a job was made in whole seconds. */
const TIME_STEP_MS = 1_000;

/** Whether the list may show a job that was deleted before the create, and not one that the site has made since under the same ID. */
export function mayBeDeleted({ deleted }: OpenDoubt, { siteJobId, createdAt }: SiteJob): boolean {
  const deletedAt = deleted.get(siteJobId);
  if (deletedAt === undefined) return false;
  return createdAt === undefined || createdAt.getTime() + TIME_STEP_MS < deletedAt.getTime();
}

/** What a log line says about a doubt. */
export const namesOf = ({ attempt }: Doubt) => ({ site: attempt.site, feed: attempt.feed, key: attempt.key });

/** Characters of field values kept across all candidates; beyond them a job is kept without its long values. */
const MOST_CHARACTERS = 16_000_000;
/** Values up to this length are always kept: references, titles, places. */
const SHORT_VALUE = 200;
/** Jobs kept across all doubts; each takes a few hundred bytes besides its fields. */
const MOST_JOBS = 50_000;
/** Pairs of a doubt and a job. */
const MOST_PAIRS = 200_000;
/**
 * Jobs kept for one doubt. Many may look alike and belong to other postings, which is known only after the whole list.
 */
export const MAX_CANDIDATES = 200;

export interface Candidates {
  readonly candidates: SiteJob[];
  /** More jobs matched than were kept, so having no candidates left does not prove that no job was made. */
  crowded: boolean;
}

/** Keeps the candidates of all doubts resolved by one reading of the list, within a memory limit. */
export class CandidateStore {
  readonly #limits: { readonly characters: number; readonly jobs: number; readonly pairs: number };
  #characters = 0;
  #jobs = 0;
  #pairs = 0;

  constructor(limits = { characters: MOST_CHARACTERS, jobs: MOST_JOBS, pairs: MOST_PAIRS }) {
    this.#limits = limits;
  }

  /** Adds the job to each doubt that has room; a doubt without room becomes crowded. */
  keep(siteJob: SiteJob, doubts: readonly Candidates[]): void {
    const roomy = doubts.filter((open) => {
      if (open.candidates.length >= MAX_CANDIDATES) open.crowded = true;
      return !open.crowded;
    });
    if (roomy.length === 0) return;
    if (this.#jobs >= this.#limits.jobs || this.#pairs + roomy.length > this.#limits.pairs) {
      for (const open of roomy) open.crowded = true;
      return;
    }
    const kept = this.#fitted(siteJob);
    this.#jobs++;
    this.#pairs += roomy.length;
    for (const open of roomy) open.candidates.push(kept);
  }

  /** Dropped values are fetched later with the show action. */
  #fitted(siteJob: SiteJob): SiteJob {
    const size = sizeOf(siteJob);
    if (this.#characters + size <= this.#limits.characters) {
      this.#characters += size;
      return siteJob;
    }
    const fields = shortOf(siteJob.fields);
    const revealed = siteJob.revealFields && shortOf(withRevealedFields(siteJob).fields);
    return { ...siteJob, fields, revealFields: revealed && (() => revealed) };
  }
}

function shortOf(fields: Fields): Fields {
  const short = Object.entries(fields).filter(([, value]) => value.length <= SHORT_VALUE);
  return Object.fromEntries(short.slice(0, 50));
}

const sizeOf = ({ fields }: SiteJob): number =>
  Object.entries(fields).reduce((size, [name, value]) => size + name.length + value.length, 0);

/**
 * Drops candidates that a mapping already owns, that were deleted for another posting, that show the reference of another posting of ours,
 * or of which a person said that they are not the posting's. If the list shows that one of the latter was made after the create began, it may be another job under the same ID:
 * a person decides.
 */
export async function keepUnowned(
  siteContext: SiteContext,
  doubts: readonly OpenDoubt[],
  matching: CreateMatching,
): Promise<void> {
  const { rules } = matching;
  const { referenceField, learnt } = rules;
  // The order matters: a create being sent meanwhile appears in one result or the other.
  const sent =
    referenceField === undefined ? [] : await openReferences(siteContext.db, siteContext.site, referenceField);
  const ids = new Set(doubts.flatMap((open) => open.candidates.map((candidate) => candidate.siteJobId)));
  const owned = await ownedJobIds(siteContext.db, siteContext.site, [...ids]);
  const jobs = await ownedJobs(siteContext.db, siteContext.site, [...owned]);
  const sharing = await matching.sharingReference(
    doubts.map(({ doubt }) => doubt),
    sent,
  );
  const pairs = doubts.flatMap(({ doubt, candidates }) =>
    candidates.map(({ siteJobId }) => ({ feed: doubt.attempt.feed, key: doubt.attempt.key, siteJobId })),
  );
  const refuted = await refutedJobs(siteContext.db, siteContext.site, pairs);
  const deleted = await deletedJobs(siteContext.db, pairs);
  const ended = await deletedFor(siteContext.db, siteContext.site, [...ids]);
  const holders = new Set(sent.map(({ reference }) => reference.trim()));
  /** How many open creates the site may show under a reference, as sent or as the site is known to rewrite it. */
  const shownAs = new Map<string, number>();
  for (const { reference } of sent) {
    const forms = new Set([foldSpace(reference), ...rewritings(learnt, referenceField ?? '', reference)]);
    for (const form of forms) shownAs.set(form, (shownAs.get(form) ?? 0) + 1);
  }
  for (const open of doubts) {
    const { feed, key } = open.doubt.attempt;
    const own = referenceField === undefined ? undefined : fieldOf(open.fields, referenceField)?.trim();
    open.shared = sharing.has(open.doubt);
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
        referenceField === undefined
          ? undefined
          : fieldOf(withRevealedFields(candidate).fields, referenceField)?.trim();
      if (ended.get(candidate.siteJobId)?.some((other) => isDeletedJobOf(other, open, candidate)) === true) {
        if (!shown || shown !== own) return false;
        open.contended.add(candidate.siteJobId);
      }
      if (owned.has(candidate.siteJobId)) {
        const reuse = reuseOfOwned(open.fields, candidate, jobs.get(candidate.siteJobId), rules);
        if (reuse === 'unmatched') return false;
        if (reuse === 'unsure') {
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
      fieldOf(withRevealedFields(siteJob).fields, referenceField)?.trim() === own;
    const left = free.some(isOwn) ? free.filter(({ siteJobId }) => !open.contended.has(siteJobId)) : free;
    open.candidates.splice(0, open.candidates.length, ...left);
  }
}

/** How far the clocks of the site and the database may differ where nobody decides. */
const CLOCKS_DIFFER_MS = 3_600_000;

/** Whether the candidate is the job that was deleted for another posting, and no later one under its ID. */
function isDeletedJobOf({ feed, key, at }: DeletedFor, { doubt, fields }: OpenDoubt, candidate: SiteJob): boolean {
  if (feed === doubt.attempt.feed && key === doubt.attempt.key) return false;
  const { createdAt } = candidate;
  return (
    statesDeletion(candidate, fields) ||
    (createdAt !== undefined && createdAt.getTime() + CLOCKS_DIFFER_MS < at.getTime())
  );
}

/** Whether a create that sent this made a job that another posting owns, or no posting. */
function reuseOfOwned(sent: Fields, candidate: SiteJob, owned: OwnedJob | undefined, rules: AdoptRules): Certainty {
  // An orphan site job belongs to nobody and is about to be deleted.
  if (owned === undefined) return 'unmatched';
  const older = owned.inFlight ? undefined : owned.fields;
  return reuseOf({ sent, shown: withRevealedFields(candidate).fields, older }, rules);
}
