// Counts outcomes towards the pull that is current for their feed.
import type { Queryable } from '../postgres/database.ts';

/** `refused` and `unjudged` are among the `requests`: the latter say nothing of the postings they were about. */
export type CountedOutcome =
  | 'created'
  | 'updated'
  | 'deleted'
  | 'dropped'
  | 'nothing'
  | 'requests'
  | 'refused'
  | 'unjudged';

// Several rows for one count, so that workers seldom wait for each other's.
const SHARDS = 16;
const shard = Math.floor(Math.random() * SHARDS);

/** One outcome of a posting, to be counted for its feed. */
export interface Counted {
  readonly feed: string;
  readonly outcome: CountedOutcome;
}

/** Adds one for each entry; the caller holds the feeds' shared lock. */
export async function addOutcomeCount(tx: Queryable, entries: readonly Counted[]): Promise<void> {
  if (entries.length === 0) return;
  await tx.query(
    `insert into outcome_count (pull, outcome, shard, n)
     select f.current_pull, e.outcome, $3, count(*)
     from unnest($1::text[], $2::text[]) e(feed, outcome) join feed_state f on f.feed = e.feed
     where f.current_pull is not null
     group by f.current_pull, e.outcome order by 1, 2
     on conflict (pull, outcome, shard) do update set n = outcome_count.n + excluded.n`,
    [entries.map((entry) => entry.feed), entries.map((entry) => entry.outcome), shard],
  );
}
