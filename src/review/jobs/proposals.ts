// Writes down what a matching found for a posting, and shows what the last one found, page by page, with what has become of it since.
import { createHash, hash } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import { comparePosting, LEAST_SCORE } from '../../plan/match/compare-job.ts';
import { contentOf, formsOfTaken, type TakenJob, type TakingRules } from '../../plan/match/taken-content.ts';
import type { Certainty } from '../../plan/match/whose-job.ts';
import { fieldOf } from '../../plan/same-meaning.ts';
import { contentHash } from '../../posting/hash.ts';
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { excerpt } from '../../posting/markup.ts';
import type { Fields } from '../../posting/posting.ts';
import { withRevealedFields } from '../../site/exchange.ts';
import { describeIdInstead, idInPlaceOfSlug } from '../../site/facts.ts';
import type { UnmappedPosting } from '../../store/backlog/unmapped-postings.ts';
import { otherOwnerOf, ownedJobIds } from '../../store/change/candidate-owners.ts';
import { databaseTime } from '../../store/change/site-search.ts';
import { type Adoption, adoptJobs, type RefusedAdoption } from '../../store/mapping/adopt-jobs.ts';
import {
  type AdoptRun,
  type JobProposal,
  type ListedProposal,
  type ProposedJob,
  readAdoptRun,
  readProposals,
} from '../../store/mapping/adopt-proposals.ts';
import type { FoundCandidate, FoundMatch, JobMatching, SureMatch } from '../../store/mapping/job-matching.ts';
import { type Database, inSnapshot, type Queryable } from '../../store/postgres/database.ts';
import { unfinishedBulk } from '../../store/review/bulk-actions.ts';
import { type FoundEntry, type FoundJobsScope, foundEntries } from '../../store/review/found-entries.ts';
import { readMarks } from '../../store/review/review-totals.ts';
import { fieldsSentFor } from '../../store/site/recent-requests.ts';
import { crossStep } from '../../telemetry/times.ts';
import { type BulkStart, startBulk } from '../bulk/start-bulk.ts';
import { differenceOf } from '../pulled-changes.ts';
import { tokenOfOne } from '../seen.ts';
import { type AdoptSubject, adoptRules } from './match-jobs.ts';

export interface ShownCandidateJob extends ProposedJob {
  /** A posting has it by now, or it is about to be deleted. */
  readonly owned: boolean;
}

export interface ShownProposal extends ListedProposal {
  readonly candidates: readonly ShownCandidateJob[];
}

export interface ShownProposals {
  /** `undefined`: nobody has started one. */
  readonly run: AdoptRun | undefined;
  readonly items: readonly ShownProposal[];
  /** The number after which the next page begins; `undefined`: nothing follows. */
  readonly next: number | undefined;
}

export interface ProposalPage {
  readonly show: Certainty;
  readonly after: number;
  readonly limit: number;
}

export async function shownProposals(
  db: Queryable,
  feed: FeedName,
  { show, after, limit }: ProposalPage,
): Promise<ShownProposals> {
  const run = await readAdoptRun(db, feed);
  if (run?.matchedSite == null) return { run, items: [], next: undefined };
  const found = await readProposals(db, feed, { show, after, limit: limit + 1 });
  const page = found.slice(0, limit);
  const ids = page.flatMap(({ candidates }) => candidates.map(({ siteJobId }) => siteJobId));
  const owned: ReadonlySet<SiteJobId> = ids.length === 0 ? new Set() : await ownedJobIds(db, run.matchedSite, ids);
  const items = page.map((proposal) => ({
    ...proposal,
    candidates: proposal.candidates.map((each) => ({ ...each, owned: owned.has(each.siteJobId) })),
  }));
  return { run, items, next: found.length > limit ? page.at(-1)?.n : undefined };
}

const MOST_FIELDS = 6;
const MOST_OF_TITLE = 160;

export function proposalOf(site: SiteName, { key, fields, verdict, reasons, candidates }: FoundMatch): JobProposal {
  return {
    key,
    verdict,
    reasons,
    title: titleOf(fields),
    candidates: candidates.map((candidate) => candidateOf(fields, candidate)),
    version: postingVersion(site, { key, fields }),
  };
}

/** Another one after each change of the posting, and on another site. */
export const postingVersion = (
  site: SiteName,
  { key, fields }: { readonly key: PostingKey; readonly fields: Fields },
): string => hash('sha256', JSON.stringify([site, key, contentHash(fields).toString('hex')]), 'hex').slice(0, 20);

/** Why a decision about another version of the posting is refused. */
export const otherVersion = (shown: string, now: string): string =>
  `the posting has changed since it was shown: version ${shown} was decided about, and it is version ${now} now; match the jobs again`;

function candidateOf(fields: Fields, { siteJobId, url, score, reasons, fields: shown }: FoundCandidate): ProposedJob {
  const differing = Object.entries(fields).filter(([name, value]) => fieldOf(shown, name) !== value);
  return {
    siteJobId,
    url,
    title: titleOf(shown) ?? null,
    score,
    reasons,
    differences: differing
      .slice(0, MOST_FIELDS)
      .map(([name, value]) => differenceOf(name, fieldOf(shown, name), value)),
    moreFields: Math.max(0, differing.length - MOST_FIELDS),
  };
}

function titleOf(fields: Fields): string | undefined {
  const title = fieldOf(fields, 'title');
  return title === undefined ? undefined : excerpt(title, MOST_OF_TITLE);
}

// Adopts site jobs for the postings that they belong to: all certain ones, or one that a person names. Sends nothing.

/** Checks that the feed's pull lock is still held; throws otherwise. */
type CheckLock = () => void;

interface SureAdoption {
  readonly actor: string;
  readonly since: Date;
  readonly checkLock: CheckLock;
  /** Which of the certain matches; by default all. */
  readonly only?: (match: Pick<SureMatch, 'key' | 'siteJobId'>) => boolean;
}

/**
 * Adopts the certain matches in portions, each in a transaction of its own: a command that is stopped leaves each posting adopted
 * or as it was. Returns those that another process, or a deletion, was faster with.
 */
export async function adoptSure(
  matching: JobMatching,
  subject: AdoptSubject,
  { actor, since, checkLock, only = () => true }: SureAdoption,
): Promise<{ readonly adopted: number; readonly refused: readonly RefusedAdoption[] }> {
  const { db, feed, site, address, policy, signal, onProgress } = subject;
  const rules = await adoptRules(db, subject);
  const refused: RefusedAdoption[] = [];
  let adopted = 0;
  for (let after = -1; ; ) {
    signal.throwIfAborted();
    checkLock();
    const { matches, last } = await matching.sureAfter(after);
    if (matches.length === 0) return { adopted, refused };
    after = last;
    const chosen = matches.filter(only);
    if (chosen.length === 0) continue;
    const adoptions = chosen.map(({ key, siteJobId, url, sent, fields, types }) => ({
      key,
      siteJobId,
      url,
      // A job that shows the token is not certain.
      ...adoptedContentOf(sent, { fields, types, kept: fields }, rules),
    }));
    const left = await adoptJobs(matching.session, { feed, site, address, actor, since, policy }, adoptions);
    crossStep('jobs-adopted');
    refused.push(...left);
    adopted += chosen.length - left.length;
    onProgress?.({ what: 'adopted', done: adopted });
  }
}

export type AdoptOneEnd =
  | { readonly kind: 'adopted'; readonly score: number; readonly reasons: readonly string[] }
  /** Nothing was written. `mayInsist`: a person may adopt it anyway. */
  | { readonly kind: 'refused'; readonly message: string; readonly mayInsist: boolean };

/** A job that a person names for a posting. */
interface NamedAdoption {
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  /** Even if it seems to be another job, or another posting's. */
  readonly anyway: boolean;
}

export type NamedPosting = Pick<UnmappedPosting, 'key' | 'fields'>;

const refuse = (message: string, mayInsist = false) => ({ kind: 'refused', message, mayInsist }) as const;

/** Adopts the job after reading it from the site. The caller holds the feed's pull lock. @param found the posting, as the feed has it now */
export async function adoptNamed(
  subject: AdoptSubject,
  found: NamedPosting | undefined,
  { key, siteJobId, anyway }: NamedAdoption,
  actor: string,
): Promise<AdoptOneEnd> {
  const { db, feed, site, address, policy, client, rateLimiter, signal } = subject;
  if (found === undefined) return refuse(`feed ${feed} has no posting ${key} without a job`);
  const since = await databaseTime(db);
  await rateLimiter.take(signal);
  signal.throwIfAborted();
  const shown = await client.show(siteJobId, signal);
  if (shown === undefined) return refuse(`site ${site} has no job ${siteJobId}`);
  const instead = await idInPlaceOfSlug(siteJobId, shown, async (id) => {
    await rateLimiter.take(signal);
    return client.show(id, signal);
  });
  if (instead !== undefined) return refuse(describeIdInstead(siteJobId, instead));
  const rules = await adoptRules(db, subject);
  // The reasons are printed, so that the job is compared in the form without the token.
  const compared = comparePosting(found, shown, rules);
  const posting = { feed, key, site, fields: found.fields };
  const owner = await otherOwnerOf(db, posting, withRevealedFields(shown).fields, subject.referenceField);
  if (!anyway && owner !== undefined) return refuse(`job ${siteJobId} shows the reference of ${owner}`, true);
  if (!anyway && (compared.showsOther || compared.score < LEAST_SCORE))
    return refuse(`job ${siteJobId} seems to be another job: ${compared.reasons.join(', ')}`, true);
  const session = await db.session();
  try {
    const formerly = await fieldsSentFor(session, posting);
    const taken = adoptedContentOf(
      found.fields,
      { ...withRevealedFields(shown), kept: shown.fields },
      { ...rules, formerly },
    );
    const adoption = { key, siteJobId, url: shown.url, ...taken };
    const adoptionSubject = { feed, site, address, actor, since, policy, detail: { anyway } };
    const [refused] = await adoptJobs(session, adoptionSubject, [adoption]);
    if (refused !== undefined) return refuse(refused.message);
  } finally {
    await session.end();
  }
  crossStep('jobs-adopted');
  return { kind: 'adopted', score: compared.score, reasons: compared.reasons };
}

/** What a posting takes from a job that it adopts: those of its fields that the job shows. */
export function adoptedContentOf(
  sent: Fields,
  job: TakenJob,
  matching: TakingRules,
): Pick<Adoption, 'shown' | 'forms'> {
  const { fields, uncertain } = contentOf(sent, job, matching);
  const hidden = new Set(uncertain.filter((name) => fieldOf(job.fields, name) === undefined));
  const shown = Object.fromEntries(Object.entries(fields).filter(([name]) => !hidden.has(name)));
  return { shown, forms: formsOfTaken(shown, job) };
}

// The site jobs that a search found for a feed: which of them certainly belong to a posting, and the action that adopts those.

/** An entry that a person must decide, with the reason. */
export interface LeftEntry {
  readonly entry: number;
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  readonly message: string;
}

export interface FoundJobsOfFeed {
  /** Their posting is certain. */
  readonly sure: readonly FoundEntry[];
  readonly left: readonly LeftEntry[];
  /** Another one if others are certain. */
  readonly mark: string;
}

export async function readFoundJobs(db: Queryable, of: FoundJobsScope): Promise<FoundJobsOfFeed> {
  const found = await foundEntries(db, of);
  const sure = found.filter(({ ambiguous }) => ambiguous === undefined);
  const left = found.flatMap(({ ambiguous: message, ...one }) => (message === undefined ? [] : [{ ...one, message }]));
  const mark = createHash('sha256');
  for (const { entry, siteJobId } of sure) mark.update(`${entry} ${siteJobId}\n`);
  return { sure, left, mark: mark.digest('hex').slice(0, MARK_LENGTH) };
}

const MARK_LENGTH = 20;

export interface AdoptFoundRequest {
  readonly of: FoundJobsScope;
  /** Of the certain jobs that the person saw: with any others, nothing is done. */
  readonly mark: string;
  readonly actor: string;
  /** No command waits for it. */
  readonly unattended?: boolean;
}

/** Stores the action that adopts the certain jobs. A job that is no longer certain once it is reached is left alone. */
export async function startAdoptingFound(
  db: Database,
  config: Config,
  { of, mark, actor, unattended = false }: AdoptFoundRequest,
): Promise<BulkStart> {
  const other = await unfinishedBulk(db, 'adopt', of.feed);
  if (other?.state === 'open')
    return refused(`action ${other.id} adopts found jobs of feed ${of.feed} already: wait for its end, or stop it`);
  // At one moment, so that the revisions are those of the entries with these jobs.
  const shown = await inSnapshot(db, async (session) => {
    const found = await readFoundJobs(session, of);
    const ids = found.sure.map(({ entry }) => entry);
    return { ...found, ids, named: await readMarks(session, ids) };
  });
  if (shown.mark !== mark) return refused('other jobs are certain than those that were shown; look at them again');
  if (shown.ids.length === 0) return refused('no found job is certain');
  const query = { feed: of.feed, kinds: ['in_doubt'], ids: shown.ids } as const;
  const detail = { query, ...(unattended ? { unattended } : {}) };
  const seen = { count: shown.ids.length, tokens: shown.named.map(tokenOfOne) };
  return startBulk(db, config, { action: 'adopt', actor, seen, detail });
}

const refused = (why: string): BulkStart => ({ kind: 'refused', message: `${why}. Nothing was adopted.` });
