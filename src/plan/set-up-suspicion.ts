// Decides whether a refusal that does not say what is wrong with the job is about the job or about the set-up of all requests.

/** What is known when the site refuses a posting in such words. */
export interface SuspicionFacts {
  /** The words cannot be about one job, such as a missing CSRF token. */
  readonly isCertain: boolean;
  /** The words are known, and are mostly about the set-up. */
  readonly isKnown: boolean;
  /** Since the first of these refusals, the site accepted a posting, or said what is wrong with one. */
  readonly isDisproved: boolean;
  /** Another posting was refused in other words that do not say what is wrong with it either. */
  readonly othersDiffer: boolean;
  /** Postings that the site refused alike and that wait, with this one. */
  readonly refused: number;
  /** Other postings of the site wait that it has not refused in such words. */
  readonly othersLeft: boolean;
  /** The site has jobs of ours, so it has accepted such requests before. */
  readonly hasJobs: boolean;
  /** A person has resumed the site since these changes were planned, and so knows what it answers. */
  readonly isResumed: boolean;
}

/** So many postings refused alike are enough, whatever waits behind them: better ten failures than ten thousand. */
export const MAX_REFUSED_ALIKE = 10;
/** So few are enough at a site that has accepted nothing yet, if no other posting is left to try. */
const FEW_ALIKE = 3;

/**
 * `job`: the refusal is about the job; `wait`: not known yet, the posting is sent again later; `pause`: it is about the set-up.
 * The first line that applies decides.
 *
 * | the refusal                                                        | verdict |
 * | ------------------------------------------------------------------ | ------- |
 * | others were accepted, or refused in other words, since             | job     |
 * | a person has resumed the site, and the words may be about the job  | job     |
 * | ten postings were refused alike                                    | pause   |
 * | other postings are left to try                                     | wait    |
 * | the words cannot be about one job                                  | pause   |
 * | three postings, or all of known words, at a site without jobs of ours | pause |
 * | anything else                                                      | job     |
 */
export function judgeSuspicion(facts: SuspicionFacts): 'job' | 'wait' | 'pause' {
  if (facts.isDisproved || facts.othersDiffer) return 'job';
  if (facts.isResumed && !facts.isCertain) return 'job';
  if (facts.refused >= MAX_REFUSED_ALIKE) return 'pause';
  if (facts.othersLeft) return 'wait';
  if (facts.isCertain) return 'pause';
  return !facts.hasJobs && (facts.isKnown || facts.refused >= FEW_ALIKE) ? 'pause' : 'job';
}
