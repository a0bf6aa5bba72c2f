// The matcher: decides which job is whose, of what was compared. Every search, adoption, doubt and change of keys asks it, and gets a verdict
// of one type.
import type { Fields } from '../../posting/posting.ts';
import { isRewriting, type LearntRewrites } from '../observe-values.ts';
import {
  compareReferences,
  compareValues,
  fieldOf,
  meansTheSame,
  type StatedTypes,
  typeOf,
  type ValueType,
} from '../same-meaning.ts';
import { isCloser, type JobComparison, LEAST_SCORE, type Likeness } from './compare-job.ts';

/** How certain it is which job is a posting's, or which posting is another one under a changed key. */
export const CERTAINTIES = ['sure', 'unsure', 'unmatched'] as const;
export type Certainty = (typeof CERTAINTIES)[number];

/** Which of the candidates it is. `unsure`: a person decides, most likely for `best`. `unmatched`: none of them. */
export type Verdict<Of> =
  | {
      readonly kind: Exclude<Certainty, 'unmatched'>;
      readonly best: Of;
      /** The other candidates, best first. */
      readonly others: readonly Of[];
      readonly reasons: readonly string[];
    }
  | { readonly kind: 'unmatched'; readonly reasons: readonly string[] };

/** What may be the posting's, or the posting that it may be. */
interface Candidate<Of> {
  readonly of: Of;
  /** It is the one, unless another candidate is so too. */
  readonly isCertain: boolean;
  /** What speaks for it, and why it is not certain. */
  readonly reasons: readonly string[];
}

interface Deciding<Of> {
  /** How many certain ones nothing tells apart, so that any of them will do. */
  readonly alike?: number;
  /** Whether one that is not certain stands against the certain one. */
  readonly standsAgainst?: (other: Of, certain: Of) => boolean;
  /** Why there is no candidate. */
  readonly whyNone?: () => readonly string[];
}

/**
 * | certain                     | one that is not certain stands against it | verdict                |
 * | --------------------------- | ----------------------------------------- | ---------------------- |
 * | one                         | no                                        | `sure`                 |
 * | several, and any will do    | no                                        | `sure`: the first one  |
 * | several others              | no                                        | `unsure`               |
 * | one, several                | yes                                       | `unsure`               |
 * | none, but there are others  |                                           | `unsure`               |
 * | none                        |                                           | `unmatched`            |
 * @param candidates the best first
 */
function decide<Of>(
  candidates: readonly Candidate<Of>[],
  { alike = 1, standsAgainst = () => false, whyNone = () => [] }: Deciding<Of> = {},
): Verdict<Of> {
  const certain = candidates.filter(({ isCertain }) => isCertain);
  const [chosen = candidates[0]] = certain;
  if (chosen === undefined) return { kind: 'unmatched', reasons: whyNone() };
  const best = chosen.of;
  const others = candidates.flatMap((other) => (other === chosen ? [] : other.of));
  const isOpposed = candidates.some(({ of, isCertain }) => !isCertain && standsAgainst(of, best));
  if (chosen.isCertain && certain.length <= alike && !isOpposed)
    return { kind: 'sure', best, others, reasons: chosen.reasons };
  const why = certain.length > 1 ? ['several jobs fit'] : [];
  return { kind: 'unsure', best, others, reasons: [...chosen.reasons, ...why] };
}

// A posting without a job, and the jobs of a list that resemble it: adoption, recovery, and the search before the first create.

/** One job that resembles a posting, with how many others do. */
export interface JobCandidate {
  readonly siteJobId: string;
  readonly score: number;
  readonly reasons: readonly string[];
  readonly sharesReference: boolean;
  readonly sharesContent: boolean;
  readonly byReference: boolean;
  /** A posting has this job already, or the job is about to be deleted. */
  readonly isOwned: boolean;
  /** A request of ours has deleted it within the last day, so the list may be outdated. */
  readonly wasDeleted: boolean;
  /** Whether it can be told that the job is not another user's. */
  readonly mayBeOthers: boolean;
  /** The job's text holds the token, so it was not compared. */
  readonly isSecret: boolean;
  /** How many jobs share the posting's reference or content, and how many postings the job's; each counts itself. */
  readonly jobsOfReference: number;
  readonly postingsOfReference: number;
  readonly jobsOfContent: number;
  readonly postingsOfContent: number;
}

/** What stands in the way of a posting, whatever its candidates. */
export interface JudgedPosting {
  /** Why its job cannot be told now, such as a create in flight. */
  readonly blocker: string | undefined;
  /** So many share its reference that they were not compared. */
  readonly isReferenceCrowded: boolean;
  /** The same for its title and place, or its text. */
  readonly isContentCrowded: boolean;
}

/** What is true of the whole reading. */
export interface ReadingFacts {
  /** Why jobs cannot be told by their content alone, such as a feed that was not read to its end. */
  readonly noContent: string | undefined;
  /** Why no job can be told at all, such as a feed of the same site that could not be read. */
  readonly blocker?: string | undefined;
}

/** Why nothing but a reference tells whose job it is, if the feed was not read to its end. */
export const INCOMPLETE_FEED = 'the feed was not read completely, so another posting may be like it';

/** @param candidates best score first */
export function judgeCandidates(
  posting: JudgedPosting,
  candidates: readonly JobCandidate[],
  facts: ReadingFacts,
): Verdict<JobCandidate> {
  const worth = candidates.filter(({ score, isOwned }) => score >= LEAST_SCORE && !isOwned);
  return decide(
    worth.map((of) => {
      const doubts = whyUncertain(posting, of, facts);
      return { of, isCertain: doubts.length === 0, reasons: [...of.reasons, ...doubts] };
    }),
    { whyNone: () => whyUnmatched(posting, candidates) },
  );
}

function whyUnmatched(posting: JudgedPosting, candidates: readonly JobCandidate[]): string[] {
  const owned = candidates.find(({ isOwned, sharesReference }) => isOwned && sharesReference);
  return [
    ...(posting.blocker === undefined ? [] : [posting.blocker]),
    ...(owned === undefined ? [] : [`job ${owned.siteJobId} shows its reference, but already belongs to a posting`]),
    ...(posting.isReferenceCrowded || posting.isContentCrowded ? ['too many jobs are like it to compare them'] : []),
  ];
}

/** Why the job is not certainly the posting's; empty if it is. */
function whyUncertain(posting: JudgedPosting, candidate: JobCandidate, { noContent, blocker }: ReadingFacts): string[] {
  const always = [
    posting.blocker,
    blocker,
    candidate.mayBeOthers ? 'the job may be another user’s' : undefined,
    candidate.wasDeleted ? 'jobmirror deleted this job within the last day: the list may be outdated' : undefined,
    candidate.isSecret ? 'the job shows the token, so it is not compared' : undefined,
  ].flatMap((reason) => reason ?? []);
  if (always.length > 0) return always;
  const byReference = candidate.byReference ? referenceDoubts(posting, candidate) : undefined;
  if (byReference?.length === 0) return [];
  const byContent = candidate.sharesContent ? contentDoubts(posting, candidate, noContent) : undefined;
  if (byContent?.length === 0) return [];
  return byReference ?? byContent ?? [...sharedReference(candidate), 'not enough is the same to be certain'];
}

const referenceDoubts = ({ isReferenceCrowded }: JudgedPosting, candidate: JobCandidate): string[] => [
  ...(isReferenceCrowded ? ['too many share this reference'] : []),
  ...sharedReference(candidate),
  // It may be that posting's, with its reference cut to this one.
  ...(candidate.postingsOfContent > 0 && !candidate.sharesContent ? ['another posting has its content'] : []),
];

const sharedReference = ({ sharesReference, jobsOfReference, postingsOfReference }: JobCandidate): string[] =>
  sharesReference ? shared('reference', jobsOfReference, postingsOfReference) : [];

/** A posting whose reference another job shows has its job there. */
function contentDoubts(
  { isReferenceCrowded, isContentCrowded }: JudgedPosting,
  { sharesReference, jobsOfReference, postingsOfReference, jobsOfContent, postingsOfContent }: JobCandidate,
  noContent: string | undefined,
): string[] {
  const own = sharesReference ? 1 : 0;
  return [
    ...(noContent === undefined ? [] : [noContent]),
    ...(isContentCrowded ? ['too many have this title and place'] : []),
    ...shared('content', jobsOfContent, postingsOfContent),
    ...((isReferenceCrowded || jobsOfReference > own) && !sharesReference
      ? ['another job shows the reference of the posting']
      : []),
    ...(postingsOfReference > own && !sharesReference ? ['another posting has the reference of the job'] : []),
  ];
}

const shared = (what: string, jobs: number, postings: number): string[] => [
  ...(jobs > 1 ? [`${jobs} jobs share this ${what}`] : []),
  ...(postings > 1 ? [`${postings} postings share this ${what}`] : []),
];

// A create in doubt, and the jobs that it may have made.

/** A job that the create may have made. */
export interface PossibleJob {
  readonly likeness: Likeness;
  /** The comparison with what was sent; `undefined`: the job does not have that. */
  readonly comparison: JobComparison | undefined;
}

/**
 * A job that may be the create's stands against one that matches, unless it is less close to what was sent and no other posting has its
 * reference.
 * @param found the likeliest first
 * @param facts `alike`: how many creates in doubt nothing tells apart from this one
 */
export function judgeFound<Job extends PossibleJob>(
  found: readonly Job[],
  { alike, isReferenceShared }: { readonly alike: number; readonly isReferenceShared: boolean },
): Verdict<Job> {
  const isFurther = ({ comparison: its }: Job, { comparison: own }: Job): boolean =>
    its !== undefined &&
    own !== undefined &&
    isCloser(own, its) &&
    (isReferenceShared || (its.grades.get(' reference') ?? 0) <= 1);
  return decide(
    found.map((of) => ({
      of,
      isCertain: of.likeness === 'match',
      get reasons() {
        return of.comparison?.reasons ?? [];
      },
    })),
    { alike, standsAgainst: (other, match) => other.likeness === 'perhaps' && !isFurther(other, match) },
  );
}

// A new posting beside the missing one that it may be, under a changed key.

/** What is known of the two. */
export interface RekeyEvidence {
  /** Whether the two have the same content, apart from references and addresses; otherwise only the same title and place. */
  readonly equal: boolean;
  /** How many missing and how many new postings have this content, or this title and place. */
  readonly missing: number;
  readonly added: number;
  /** A complete pull proves that the missing posting is gone. */
  readonly proven: boolean;
  /** A reviewer has edited a missing posting with this content. */
  readonly edited: boolean;
  /** Names of the fields that differ. */
  readonly differing: readonly string[];
}

/**
 * Postings with the same content are interchangeable: whichever job a new one keeps, the next sync sets what differs.
 *
 * | content | postings with it                    | missing one edited | gone proven | verdict |
 * | ------- | ----------------------------------- | ------------------ | ----------- | ------- |
 * | same    | one missing, one new                | any                | yes         | sure    |
 * | same    | as many missing as new              | no                 | yes         | sure    |
 * | same    | as many missing as new, several     | yes                | yes         | unsure  |
 * | same    | not as many missing as new          | any                | any         | unsure  |
 * | alike   | any                                 | any                | any         | unsure  |
 * | any     | any                                 | any                | no          | unsure  |
 */
export function judgeRekey<Missing>(of: Missing, evidence: RekeyEvidence): Verdict<Missing> {
  const { equal, missing, added, proven, edited, differing } = evidence;
  const several = missing > 1 || added > 1;
  const what = equal ? 'same content' : 'same title and place';
  const reasons = [
    several ? `${what}, as ${missing} missing and ${added} new postings have it` : what,
    ...(equal || differing.length === 0
      ? []
      : [`${differing.join(', ')} ${differing.length === 1 ? 'differs' : 'differ'}`]),
    ...(several && edited ? ['a person has edited one of them'] : []),
    ...(proven ? [] : ['no complete pull proves that the missing posting is gone']),
  ];
  const isCertain = equal && missing === added && proven && !(several && edited);
  return decide([{ of, isCertain, reasons }]);
}

// A job, and the two postings that may have it: a create has returned, or may have made, a job whose ID an older posting has. Sites reuse IDs.

/** A job ID that returns to a posting after more hours was reused. Sooner, the site treats two postings as one job. */
export const SHARED_JOB_WINDOW_HOURS = 24;

const RANK = { other: 0, cut: 1, form: 2, exact: 3 } as const;

/**
 * Of the posting that sent the create, and the older one that has the job. If the job shows what the older one has, the site takes the two
 * postings for one job.
 *
 * | reference shown          | other values shown               | verdict         |
 * | ------------------------ | -------------------------------- | --------------- |
 * | closer to the new one    | anything                         | sure: `new`     |
 * | closer to the older one  | anything                         | sure: `older`   |
 * | none, or equally close   | only the new one's               | sure: `new`     |
 * | "                        | only the older one's             | sure: `older`   |
 * | "                        | both postings', or none          | unsure          |
 * @param older the older posting's fields; `undefined` if never known. @param types what the site states about the values that it shows
 */
export function whoseJob(
  shown: Fields | undefined,
  sent: Fields,
  older: Fields | undefined,
  referenceField: string | undefined,
  types?: StatedTypes,
): Verdict<Owner> {
  const owner = shown && ownerOf({ shown, types }, sent, older, referenceField);
  return decide((['new', 'older'] as const).map((of) => ({ of, isCertain: of === owner, reasons: [] })));
}

/** Of the postings of a job: the one whose create returned it, and the one that has it so far. */
type Owner = 'new' | 'older';

interface ShownValues {
  readonly shown: Fields;
  readonly types: StatedTypes | undefined;
}

function ownerOf(
  { shown, types }: ShownValues,
  sent: Fields,
  older: Fields | undefined,
  referenceField: string | undefined,
): Owner | undefined {
  const reference = referenceField === undefined ? undefined : fieldOf(shown, referenceField);
  if (referenceField !== undefined && reference) {
    const near = (fields: Fields | undefined): number => {
      const own = fields === undefined ? undefined : fieldOf(fields, referenceField);
      return own ? RANK[compareReferences(own, reference)] : 0;
    };
    if (near(sent) !== near(older)) return near(sent) > near(older) ? 'new' : 'older';
  }
  return byContent({ shown, types }, sent, older);
}

/** Compares only the fields in which the two postings differ. */
function byContent({ shown, types }: ShownValues, sent: Fields, older: Fields | undefined): Owner | undefined {
  let asNew = 0;
  let asOlder = 0;
  for (const [name, value] of Object.entries(sent)) {
    const says = fieldOf(shown, name);
    const former = older === undefined ? undefined : fieldOf(older, name);
    if (!says || (former !== undefined && isAlike(value, former))) continue;
    const type = typeOf(types, name);
    if (isAlike(value, says, type)) asNew++;
    else if (older === undefined || (former !== undefined && isAlike(former, says, type))) asOlder++;
  }
  if (asNew > 0 && asOlder === 0) return 'new';
  return asOlder > 0 && asNew === 0 && older !== undefined ? 'older' : undefined;
}

const isAlike = (own: string, says: string, type?: ValueType): boolean =>
  compareValues(own, says) !== undefined || meansTheSame(own, says, type);

/**
 * What the reference of a mapped job says about a create in doubt, which may have made it under a reused ID:
 *
 * - `sure`: it is a form of the create's reference, and none of the older posting's.
 * - `unsure`: it is closer to the create's, or nothing is known of the older posting's. A person decides.
 * - `unmatched`: anything else.
 * @param older the older posting's fields; `undefined` if not known for certain.
 */
export function reuseOf(
  { sent, shown, older }: { readonly sent: Fields; readonly shown: Fields; readonly older: Fields | undefined },
  { referenceField, learnt }: { readonly referenceField: string | undefined; readonly learnt: LearntRewrites },
): Certainty {
  if (referenceField === undefined) return 'unmatched';
  const says = fieldOf(shown, referenceField)?.trim();
  if (!says) return 'unmatched';
  const near = (fields: Fields): number | undefined => {
    const own = fieldOf(fields, referenceField)?.trim();
    if (!own) return undefined;
    const likeness = compareReferences(own, says);
    return likeness === 'other' && isRewriting(learnt, referenceField, own, says) ? RANK.form : RANK[likeness];
  };
  const ours = near(sent) ?? RANK.other;
  if (ours === RANK.other) return 'unmatched';
  const theirs = older === undefined ? undefined : near(older);
  if (theirs === RANK.other) return 'sure';
  return theirs === undefined || ours > theirs ? 'unsure' : 'unmatched';
}
