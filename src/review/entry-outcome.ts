// Reports the outcome of entries that were made ready, once everything that can be sent was sent.
import { type Message, reword } from '../plan/message.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import { type ActedEntry, countOpenEntries, type EntryState, findEntries } from '../store/change/act-in-review.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { findLiveJob } from '../store/review/posting-history.ts';

/** `done`: the site has the desired state; otherwise the state in which the change waits. */
export type EntryOutcome = 'done' | EntryState['state'];

/** The outcome of one entry. */
export interface OutcomeReport {
  readonly outcome: EntryOutcome;
  readonly message: Message;
}

export async function outcomeOf(
  db: Queryable,
  { entry, feed, key }: { readonly entry: number; readonly feed: FeedName; readonly key: PostingKey | null },
): Promise<OutcomeReport> {
  const [current] = await findEntries(db, [entry]);
  if (current !== undefined) {
    const words = STATE_WORDS[current.state];
    const message = current.reason === null ? words : reword(current.reason, (text) => `${words}: ${text}`);
    return { outcome: current.state, message };
  }
  const live = key === null ? undefined : await findLiveJob(db, feed, key);
  const message =
    live === undefined ? 'the site has no job for it' : `job ${live.siteJobId} on site ${live.site} is up to date`;
  return { outcome: 'done', message: `done: ${message}` };
}

/** Counts the entries by feed and outcome. */
export async function outcomesOf(
  db: Queryable,
  acted: readonly ActedEntry[],
): Promise<ReadonlyMap<FeedName, ReadonlyMap<EntryOutcome, number>>> {
  const counts = new Map<FeedName, Map<EntryOutcome, number>>();
  const add = (feed: FeedName, outcome: EntryOutcome, n: number) => {
    const ofFeed = counts.get(feed) ?? new Map<EntryOutcome, number>();
    ofFeed.set(outcome, (ofFeed.get(outcome) ?? 0) + n);
    counts.set(feed, ofFeed);
  };
  for (const { feed } of acted) add(feed, 'done', 1);
  const open = await countOpenEntries(
    db,
    acted.map((entry) => entry.id),
  );
  for (const { feed, state, n } of open) {
    add(feed, state, n);
    add(feed, 'done', -n);
  }
  return counts;
}

/** The outcomes in words. */
export const STATE_WORDS = {
  done: 'done',
  ready: 'still to be sent',
  sending: 'being sent',
  in_doubt: 'in doubt',
  held: 'held',
  rejected: 'rejected',
  failed: 'failed',
  discarded: 'discarded',
  unreadable: 'unreadable',
  duplicate: 'duplicate',
} as const satisfies Record<EntryOutcome, string>;
