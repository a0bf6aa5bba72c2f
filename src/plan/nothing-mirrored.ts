// Says plainly that a pull mirrored nothing, and why: "31 seen, 31 rejected" reads as if something had been done.
import { plural } from './plural.ts';

/** The counts of a pull that matter here. */
export interface MirroredCounts {
  readonly seen: number;
  readonly unchanged: number;
  readonly created: number;
  readonly updated: number;
  readonly pending: number;
  readonly in_doubt: number;
  readonly rejected: number;
  readonly failed: number;
  readonly duplicates: number;
  readonly unreadable: number;
  readonly skipped: number;
  /** The skipped postings that have expired. */
  readonly expired?: number;
  /** Deleted postings among those that are gone. */
  readonly deleted?: number;
}

/** The most frequent reason. */
export interface CommonReason {
  readonly message: string;
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
): string {
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
  return `${subject} ${words} mirrored: ${what}${why}${stay}`;
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
