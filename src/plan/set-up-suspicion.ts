// Decides whether a refusal that does not say what is wrong with the job is about the job or about the set-up of all requests.
import type { SeenCounts } from './accounting.ts';
import { type Advice, type Message, messageOf, plural } from './message.ts';

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

// Says plainly that a pull mirrored nothing, and why: "31 seen, 31 rejected" reads as if something had been done.

/** The counts of a pull that matter here. */
export interface MirroredCounts extends SeenCounts {
  /** The skipped postings that have expired. */
  readonly expired?: number;
  /** Deleted postings among those that are gone. */
  readonly deleted?: number;
}

/** The most frequent reason. */
export interface CommonReason {
  readonly message: string;
  /** What a person can do about it; null: nothing is known. */
  readonly next?: readonly Advice[] | null;
  readonly count: number;
}

/** Whether there were postings, but none is on the site as the feed has it and none is on its way there. */
export function mirroredNothing(counts: MirroredCounts): boolean {
  const { unchanged, created, updated, pending, in_doubt, rejected, failed, unreadable, skipped } = counts;
  return unchanged + created + updated + pending + in_doubt === 0 && rejected + failed + unreadable + skipped > 0;
}

/** @param live jobs of earlier pulls that the site still has. @param words `would be` for a plan. */
export function describeNothingMirrored(
  counts: MirroredCounts,
  common: CommonReason | undefined,
  live: number,
  words: 'was' | 'would be' = 'was',
): Message {
  const { rejected, failed, unreadable, skipped, expired = 0 } = counts;
  const all = rejected + failed + unreadable + skipped;
  const ends = [
    { n: rejected, participle: 'rejected' },
    { n: failed, verb: 'failed' },
    { n: unreadable, participle: 'unreadable' },
    { n: skipped - expired, participle: "skipped by the feed's rule" },
    { n: expired, verb: 'expired' },
  ].filter(({ n }) => n > 0);
  const parts = ends.map(({ n, ...end }) => ({ n, predicate: predicateOf(n, end, words) }));
  const what =
    parts.length === 1
      ? `${all === 1 ? 'the only posting' : `all ${all} postings`} ${parts[0]?.predicate}`
      : `of ${all} postings ${parts.map(({ n, predicate }) => `${n} ${predicate}`).join(', ')}`;
  const why = common === undefined ? '' : `: ${common.message.replace(/\.$/, '')} (${common.count} of ${all})`;
  const stay =
    live === 0 ? '' : `; ${plural(live, 'job')} of earlier pulls ${live === 1 ? 'stays as it is' : 'stay as they are'}`;
  const subject = (counts.deleted ?? 0) > 0 ? 'no posting' : 'nothing';
  return messageOf(`${subject} ${words} mirrored: ${what}${why}${stay}`, common?.next ?? []);
}

/** @param end what a pull does to the postings, or, as `verb`, what has become of them before it. */
function predicateOf(
  n: number,
  { participle, verb }: { readonly participle?: string; readonly verb?: string },
  words: 'was' | 'would be',
): string {
  if (words === 'would be')
    return verb === undefined ? `would be ${participle}` : `${n === 1 ? 'has' : 'have'} ${verb}`;
  return verb ?? `${n === 1 ? 'was' : 'were'} ${participle}`;
}
