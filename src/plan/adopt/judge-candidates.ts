// Decides, for one posting and the site jobs that resemble it, whether one of them is certainly its job.
import { LEAST_SCORE } from './compare-job.ts';

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

/** How certain it is which job is a posting's, or which posting is another one under a changed key. */
export const CERTAINTIES = ['sure', 'unsure', 'unmatched'] as const;
export type Certainty = (typeof CERTAINTIES)[number];

export type Verdict =
  | {
      readonly kind: Exclude<Certainty, 'unmatched'>;
      readonly best: JobCandidate;
      readonly others: readonly string[];
      readonly reasons: readonly string[];
    }
  | { readonly kind: 'unmatched'; readonly reasons: readonly string[] };

const MOST_OTHERS = 5;

/** @param candidates best score first */
export function judgeCandidates(
  posting: JudgedPosting,
  candidates: readonly JobCandidate[],
  facts: ReadingFacts,
): Verdict {
  const worth = candidates.filter(({ score, isOwned }) => score >= LEAST_SCORE && !isOwned);
  const certain = worth.filter((candidate) => whyUncertain(posting, candidate, facts).length === 0);
  const [best = worth[0]] = certain;
  if (best === undefined) return { kind: 'unmatched', reasons: whyUnmatched(posting, candidates) };
  const others = worth.filter((other) => other !== best).map(({ siteJobId }) => siteJobId);
  const shown = others.slice(0, MOST_OTHERS);
  if (certain.length === 1) return { kind: 'sure', best, others: shown, reasons: best.reasons };
  const why = certain.length > 1 ? ['several jobs fit'] : whyUncertain(posting, best, facts);
  return { kind: 'unsure', best, others: shown, reasons: [...best.reasons, ...why] };
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
