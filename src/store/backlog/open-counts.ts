// Counts the open changes of a feed and the outcomes of its current pull, for the sums that a pull must satisfy.
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

/** Open changes of one feed: first those of seen postings, then those of gone postings. */
export interface OpenCounts {
  readonly pending: number;
  readonly in_doubt: number;
  readonly rejected: number;
  readonly failed: number;
  readonly held: number;
  readonly kept: number;
  readonly pendingDeletes: number;
  /** The pending deletes whose create is in doubt: they wait for its resolution, mostly by a person. */
  readonly doubtfulDeletes: number;
  /** Deletes that the site refused, or that used up their attempts. */
  readonly failedDeletes: number;
  /** Postings within their grace whose change waits. */
  readonly grace: number;
  /** The rejected postings that a person discarded; absent in summaries written by older versions. */
  readonly discarded?: number;
}

/**
 * Counts the open changes of a feed for the sums of a pull. Discarded rejections still count as rejected.
 * @param except a pull whose own changes are excluded: it has written them but is not the feed's current pull yet.
 */
export async function countOpen(db: Queryable, feed: FeedName, except?: number): Promise<OpenCounts> {
  const [row] = await db.query(
    `select
       count(*) filter (where seen and state in ('ready', 'sending', 'held')) as pending,
       count(*) filter (where seen and state = 'in_doubt') as in_doubt,
       count(*) filter (where seen and state in ('rejected', 'discarded')) as rejected,
       count(*) filter (where seen and state = 'discarded') as discarded,
       count(*) filter (where seen and state = 'failed') as failed,
       count(*) filter (where desired = 'absent' and state = 'held') as held,
       count(*) filter (where desired = 'absent' and state = 'discarded') as kept,
       count(*) filter (where desired = 'absent' and state in ('ready', 'sending', 'in_doubt')) as "pendingDeletes",
       count(*) filter (where desired = 'absent' and state = 'in_doubt') as "doubtfulDeletes",
       count(*) filter (where desired = 'absent' and state in ('rejected', 'failed')) as "failedDeletes",
       count(*) filter (where desired = 'present' and gone) as grace
     from (select desired, gone, state, desired = 'present' and not gone and not unseen as seen from change
           where feed = $1 and ($2::bigint is null or pull is distinct from $2)) c`,
    [feed, except ?? null],
  );
  return row as OpenCounts;
}

/** Outcomes of one pull since its commit: `created`, `updated`, `deleted`, `dropped`, `nothing`, `requests`. */
export async function countOutcomes(db: Queryable, pull: number): Promise<Readonly<Record<string, number>>> {
  const rows = await db.query<{ outcome: string; n: number }>(
    'select outcome, sum(n)::bigint as n from outcome_count where pull = $1 group by outcome',
    [pull],
  );
  return Object.fromEntries(rows.map((row) => [row.outcome, row.n]));
}
