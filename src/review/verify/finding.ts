// What verifying finds out about the jobs of a feed.
import type { FeedName, PostingKey, SiteJobId } from '../../posting/identifiers.ts';

/** A value as the site accepted it, and as it shows it now; `null`: not at all. */
export interface ShownChange {
  readonly from: string | null;
  readonly to: string | null;
}

/**
 * - `gone`: the site says that the posting's job does not exist.
 * - `changed`: the job shows other values than the site accepted.
 * - `foreign`: the posting's job shows another posting's reference, or another job shows the posting's reference.
 */
export interface Finding {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  readonly finding: 'gone' | 'changed' | 'foreign';
  readonly fields: Readonly<Record<string, ShownChange>>;
  /** Of another job with the posting's reference: the posting's own job; `null`: it has none. */
  readonly ownJobId?: SiteJobId | null;
  /** What else there is to know. */
  readonly message?: string;
  /** The state of the posting's change, if it has one. */
  readonly state?: string;
}

/** What was found about one feed. */
export interface FeedCounts {
  /** Its mapped jobs. */
  jobs: number;
  /** Jobs that show what the site accepted. */
  same: number;
  changed: number;
  gone: number;
  foreign: number;
  /** Jobs that can't be told now: they are being sent, or are marked to be sent again. */
  waiting: number;
  /** Jobs that exist, but nothing is known of what they should show: they were imported and not sent yet. */
  unknown: number;
  /** Jobs for which the site gave no clear answer. */
  unasked: number;
  /** How many jobs could not be compared in a field, by field. */
  readonly hidden: Map<string, number>;
}

export const noCounts = (): FeedCounts => ({
  jobs: 0,
  same: 0,
  changed: 0,
  gone: 0,
  foreign: 0,
  waiting: 0,
  unknown: 0,
  unasked: 0,
  hidden: new Map(),
});

export function countHidden({ hidden }: FeedCounts, names: readonly string[]): void {
  for (const name of names) hidden.set(name, (hidden.get(name) ?? 0) + 1);
}
