// Words for a create in doubt beside the jobs that it may have made, on pages and in the terminal.
import type { Likeness } from '../../plan/adopt/compare-job.ts';
import type { DoubtCandidate } from '../compare-doubt.ts';

export const LIKENESS_WORDS: Readonly<Record<Likeness, string>> = {
  match: 'It is what was sent',
  perhaps: 'It may be what was sent',
  resembles: 'It is similar, but differs',
  other: 'It seems to be another job',
};

export const OWNED_WORDS = 'It belongs to another posting, or is about to be deleted.';

export const NONE_KNOWN =
  "None is known so far: the site's list was not read since, or it showed none. That does not prove that none was made.";

/** Why the site shows no such job; one sentence. */
export const describeAbsent = (candidate: Exclude<DoubtCandidate, { kind: 'shown' }>): string =>
  candidate.kind === 'absent'
    ? `The site says that it has no job ${candidate.siteJobId}.`
    : `Job ${candidate.siteJobId} could not be checked, so it may exist or not: ${candidate.message}.`;
