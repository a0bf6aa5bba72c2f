// Says of a pull that mirrored nothing that it did not, and why: "31 seen, 31 rejected" reads as if something had been done.
import { plural } from './plural.ts';

/** Where the records of a pull went, as far as it matters here. */
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
  /** Of the postings that are gone. */
  readonly deleted?: number;
}

/** The reason that most of them have. */
export interface CommonReason {
  readonly message: string;
  readonly count: number;
}

/** Whether there were postings, and the site has none of them as the feed has it, nor is about to. */
export function mirroredNothing(counts: MirroredCounts): boolean {
  const { unchanged, created, updated, pending, in_doubt, rejected, failed, unreadable } = counts;
  return unchanged + created + updated + pending + in_doubt === 0 && rejected + failed + unreadable > 0;
}

/** @param live jobs of the feed that the site has from before. @param words `would be` for a plan. */
export function describeNothingMirrored(
  counts: MirroredCounts,
  common: CommonReason | undefined,
  live: number,
  words: 'was' | 'would be' = 'was',
): string {
  const { rejected, failed, unreadable } = counts;
  const all = rejected + failed + unreadable;
  const ends = [
    { n: rejected, participle: 'rejected' },
    { n: failed, participle: undefined },
    { n: unreadable, participle: 'unreadable' },
  ].filter(({ n }) => n > 0);
  const parts = ends.map(({ n, participle }) => ({ n, predicate: predicateOf(n, participle, words) }));
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

/** @param participle `undefined`: it failed, which happens while sending, before what is planned now. */
function predicateOf(n: number, participle: string | undefined, words: 'was' | 'would be'): string {
  if (words === 'would be')
    return participle === undefined ? `${n === 1 ? 'has' : 'have'} failed` : `would be ${participle}`;
  return participle === undefined ? 'failed' : `${n === 1 ? 'was' : 'were'} ${participle}`;
}
