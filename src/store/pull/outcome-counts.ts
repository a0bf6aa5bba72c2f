// Counts outcomes towards the current pull of their feed.
import type { Queryable } from '../postgres/database.ts';

/** `refused` and `unjudged` are subsets of `requests`; the latter allow no conclusion about their postings. */
export type CountedOutcome =
  | 'created'
  | 'updated'
  | 'deleted'
  | 'dropped'
  | 'nothing'
  | 'requests'
  | 'refused'
  | 'unjudged';

// Each count is spread over several rows, so workers rarely wait for each other's locks.
const SHARDS = 16;
const shard = Math.floor(Math.random() * SHARDS);

/** One outcome to be counted for a feed. */
export interface Counted {
  readonly feed: string;
  readonly outcome: CountedOutcome;
}

/** Adds one for each entry; the caller holds the shared lock of the feeds. */
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
