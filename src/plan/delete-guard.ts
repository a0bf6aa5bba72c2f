// Turns what a pull would delete, and what was deleted of late, into leave to delete or a hold with its reasons.

/** When deletes wait for a person: above both limits together. */
export interface DeleteGuard {
  /** Share of the live site jobs, in percent. */
  readonly percent: number;
  /** Number of deletes. */
  readonly count: number;
  /** Complete pulls in a row in which a posting must be missing before it is deleted; 1 deletes at once. */
  readonly missingPulls: number;
}

/** What the guard looks at. Deletes that a person approved are in none of these numbers. */
export interface DeleteLoad {
  /** Deletes that this pull adds. */
  readonly added: number;
  /** Deletes of the last 24 hours, and those still waiting, held or not. */
  readonly recent: number;
  /** Site jobs that are live now or may have been made, those about to be deleted among them. */
  readonly live: number;
  /** Of the deletes of the last 24 hours, those already done: they were live a day ago. */
  readonly done: number;
  /** Whether the feed had no posting at all. */
  readonly emptied: boolean;
}

export type GuardVerdict =
  | { readonly kind: 'within' }
  /** `reason` gives the counts and the limit, for people. */
  | { readonly kind: 'hold'; readonly reason: string };

/**
 * Judges the deletes of one pull. The deletes of a day count together, so that a feed that erodes pull by pull is
 * held as well; an emptied feed always is.
 */
export function judgeDeletes(guard: DeleteGuard, load: DeleteLoad): GuardVerdict {
  if (load.added === 0) return { kind: 'within' };
  const base = load.live + load.done;
  if (load.emptied) {
    const jobs = load.added === 1 ? 'its only live job' : `all ${load.added} live jobs of it`;
    return { kind: 'hold', reason: `the feed is empty: ${jobs} would be deleted` };
  }
  const total = load.added + load.recent;
  // What waits may have no job by now; more than all of them it can't be.
  const share = base === 0 ? 100 : Math.min(100, (total / base) * 100);
  if (total <= guard.count || share <= guard.percent) return { kind: 'within' };
  const together = load.recent === 0 ? '' : ` (${load.added} now, ${load.recent} in the last 24 hours or waiting)`;
  return {
    kind: 'hold',
    reason:
      `${total} of ${base} live jobs would be deleted${together}: ${share.toFixed(1)} %, ` +
      `above the limit of ${guard.count} and ${guard.percent} %`,
  };
}

/**
 * Why no delete can follow from a pull with unreadable records of which no key is known: each may be one of the postings
 * that seem to be gone (law 3).
 * @param rekeyed the keys of live jobs were read in another way: what is known of a record is not the key of its job.
 */
export function unreadableHold(records: number, rekeyed = false): string {
  const [one, unknown, may] =
    records === 1
      ? ['1 record', 'its key is not known', 'it may be one of the postings']
      : [`${records} records`, 'their keys are not known', 'each may be one of the postings'];
  const why = rekeyed ? ' since the keys of this feed are read in another way' : `, and ${unknown}`;
  return (
    `${one} could not be read${why}: ${may} that seem to be gone; fix the feed and the deletes are judged again, ` +
    'or check them and approve them: jobmirror review list --kind held'
  );
}
