// What can be done about a stored entry, a change, or entries that were counted, as this process is configured.
import type { EntryAction } from '../plan/action.ts';
import {
  type ActionableEntry,
  type ConfiguredHere,
  factsOf,
  isAllowed,
  possibleActions,
  type ReviewOperation,
  refusingCircumstance,
  whyNotAllowed,
} from '../plan/allowed.ts';
import { type Message, reword, textOf } from '../plan/message.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import type { SelectedCount } from '../store/change/act-in-review.ts';
import { type ActedEntry, countOpenEntries, type EntryState, findEntries } from '../store/change/act-in-review.ts';
import type { OpenChangeRow } from '../store/change/open-change.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { findLiveJob } from '../store/review/posting-history.ts';
import type { EntryDetails, RecordEntry } from '../store/review/review-entries.ts';
import { byFeedAndKind, type CountedEntries } from '../store/review/review-totals.ts';
import type { LeftAlone } from './describe-selected.ts';
import { tokenOfChange } from './seen.ts';

export const factsOfChange = (change: OpenChangeRow, here: ConfiguredHere): ActionableEntry => ({
  id: change.id,
  ...factsOf(change, change.circumstances, here),
  version: tokenOfChange(change),
});

export const factsOfEntry = (entry: EntryState, here: ConfiguredHere): ActionableEntry => ({
  id: entry.id,
  ...factsOf(entry, entry.circumstances, here),
});

export const actionsOfChange = (change: OpenChangeRow, here: ConfiguredHere): EntryAction[] =>
  possibleActions(factsOfChange(change, here));

/** What can be done about an entry. */
export function actionsOfEntry(entry: EntryDetails, here: ConfiguredHere): EntryAction[] {
  return entry.kind === 'change' ? actionsOfChange(entry.change, here) : actionsOfRecord(entry.record);
}

/** Nothing is sent for a record, so it does not matter what is configured. */
export const actionsOfRecord = ({ id, feed, kind, discarded }: RecordEntry): EntryAction[] =>
  possibleActions({ id, feed, site: undefined, state: discarded ? 'discarded' : kind, circumstances: [] });

/** An entry that could be discarded or reopened was skipped for this reason only. */
const OTHER_KIND = 'its kind is not the one that was asked for';

/** Why nothing was done with an entry. @param entry as it is now; `undefined`: it no longer exists */
export function whyNothingDone(
  operation: ReviewOperation,
  entry: EntryState | undefined,
  here: ConfiguredHere,
): Message {
  if (entry === undefined) return 'it is already resolved';
  return whyNotAllowed(operation, factsOfEntry(entry, here)) ?? OTHER_KIND;
}

interface Counted {
  readonly discarded: boolean;
  readonly here: ConfiguredHere;
}

/** The ID of no entry: of those that are counted, the reasons are told without commands. */
const MANY = 0;

/** Whatever this process is configured with, the others carry out an action on the entries of their feeds. */
function factsOfCounted(counted: Omit<CountedEntries, 'n' | 'mark'>, { discarded, here }: Counted): ActionableEntry {
  const entry = { ...counted, state: discarded ? 'discarded' : counted.kind } as const;
  const facts = factsOf(entry, counted.circumstances, here);
  const circumstances = here.served.has(counted.feed)
    ? facts.circumstances.filter((each) => each !== 'unconfigured' && each !== 'broken')
    : facts.circumstances;
  return { id: MANY, ...facts, circumstances };
}

/** Whether entries that are alike are acted on. */
export const isActedOn = (
  operation: ReviewOperation,
  counted: Omit<CountedEntries, 'n' | 'mark'>,
  where: Counted,
): boolean => isAllowed(operation, factsOfCounted(counted, where));

/** Of the counted entries, exactly those that the operation acts on. */
export const countActedOn = (
  operation: ReviewOperation,
  counted: readonly CountedEntries[],
  where: Counted,
): SelectedCount[] => byFeedAndKind(counted.filter((each) => isActedOn(operation, each, where)));

/** Those of the others whose state would allow it, by the reason. */
export const countRefused = (
  operation: ReviewOperation,
  counted: readonly CountedEntries[],
  where: Counted,
): LeftAlone[] =>
  countLeft(
    operation,
    counted.filter((each) => refusingCircumstance(operation, factsOfCounted(each, where)) !== undefined),
    where,
  );

/** The others, by the reason. */
export function countLeft(operation: ReviewOperation, counted: readonly CountedEntries[], where: Counted): LeftAlone[] {
  const reasons = new Map<string, CountedEntries[]>();
  for (const each of counted) {
    const why = whyNotAllowed(operation, factsOfCounted(each, where));
    if (why === undefined) continue;
    const text = textOf(why);
    reasons.set(text, [...(reasons.get(text) ?? []), each]);
  }
  return [...reasons].map(([why, entries]) => ({ why, entries: byFeedAndKind(entries) }));
}

// Reports the outcome of entries that were made ready, once everything that can be sent was sent.

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
