// Retries, approves, discards or reopens many entries at once, and reports the result for each.
import { type Message, messageOf } from '../plan/message.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import {
  type ActedEntry,
  approveChanges,
  type ChosenCount,
  countDiscardable,
  countHeld,
  countPassedOver,
  discardEntries,
  type EntryState,
  feedsOf,
  feedsToReadAgain,
  findEntries,
  reopenEntries,
  retryChanges,
  type Selection,
} from '../store/change/act-in-review.ts';
import { keepPullsOut } from '../store/change/edit.ts';
import { lockOutcomesShared } from '../store/locks/advisory-locks.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { type BulkAction, whyNot } from './why-not.ts';

/** The result for one entry given by its number. */
export interface EntryReport {
  readonly entry: number;
  readonly feed: FeedName;
  readonly key: PostingKey | null;
  readonly result: 'done' | 'not_applicable';
  readonly message: Message;
}

/** The result for the entries of one feed given by name. */
export interface FeedReport {
  readonly feed: FeedName;
  readonly done: number;
  readonly message: string;
  /** Creates in doubt, which are never discarded. */
  readonly leftInDoubt?: number;
  /** How many of each kind, if entries were discarded or reopened. */
  readonly kinds?: Readonly<Record<string, number>>;
}

export type ActionReport =
  | {
      readonly kind: 'acted';
      readonly entries: readonly EntryReport[];
      readonly feeds: readonly FeedReport[];
      /** Every entry that was changed. */
      readonly acted: readonly ActedEntry[];
    }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly message: Message };

export interface ActionOptions {
  /** Who acts, for the audit log. */
  readonly actor: string;
  /**
   * Approve only if exactly this many deletes are held in the named feeds, so a person approves exactly what they saw.
   */
  readonly expectHeld?: number;
  /** Discard only if exactly these entries would be discarded: the ones that the person confirmed. */
  readonly expectChosen?: readonly ChosenCount[];
}

const ACTIONS = {
  retry: retryChanges,
  approve: approveChanges,
  discard: discardEntries,
  reopen: reopenEntries,
} as const;
const DONE = {
  retry: 'ready to be sent again',
  approve: 'approved, ready to be deleted',
  discard: 'discarded',
  reopen: 'reopened, waiting for review again',
} as const satisfies Record<BulkAction, string>;

/** Acts on all entries in one transaction. */
export async function actOnEntries(
  db: Database,
  action: BulkAction,
  selection: Selection,
  options: ActionOptions,
): Promise<ActionReport> {
  return db.transaction(async (tx): Promise<ActionReport> => {
    const refusal =
      (await heldOtherwise(tx, selection.feeds, options)) ??
      (await chosenOtherwise(tx, selection, options)) ??
      (action === 'reopen' ? await beingPulled(tx, selection) : undefined);
    if (refusal !== undefined) return { kind: 'refused', message: refusal };
    const before = await entriesById(tx, selection.ids);
    const acted = await ACTIONS[action](tx, selection, options.actor);
    const done = new Set(acted.map((entry) => entry.id));
    const after = await entriesById(tx, selection.ids);
    const entries = selection.ids.map((id): EntryReport => {
      const { feed, key } = (after.get(id) ?? before.get(id)) as EntryState;
      if (done.has(id)) return { entry: id, feed, key, result: 'done', message: DONE[action] };
      const message = whyNot(action, after.get(id));
      return { entry: id, feed, key, result: 'not_applicable', message };
    });
    return { kind: 'acted', entries, feeds: await reportFeeds(tx, action, selection.feeds, acted), acted };
  });
}

/**
 * Explains that the held deletes differ from those the person saw. No pull can hold more until the transaction ends.
 */
async function heldOtherwise(
  tx: Queryable,
  feeds: readonly FeedName[],
  { expectHeld }: ActionOptions,
): Promise<Message | undefined> {
  if (expectHeld === undefined) return undefined;
  await lockOutcomesShared(tx, feeds);
  const held = await countHeld(tx, feeds);
  if (held === expectHeld) return undefined;
  const [feed] = feeds;
  const deletes = held === 1 ? '1 delete is' : `${held} deletes are`;
  return messageOf(`${deletes} held now, not ${expectHeld}`, [
    { words: 'check again', action: { kind: 'list_entries', ...(feed === undefined ? {} : { feed }) } },
    { words: 'Nothing was approved.' },
  ]);
}

/** Explains that the waiting entries differ from those the person confirmed. */
async function chosenOtherwise(
  tx: Queryable,
  selection: Selection,
  { expectChosen }: ActionOptions,
): Promise<string | undefined> {
  if (expectChosen === undefined) return undefined;
  await lockOutcomesShared(tx, await feedsOf(tx, selection));
  const now = await countDiscardable(tx, selection);
  if (JSON.stringify(now) === JSON.stringify(expectChosen)) return undefined;
  return 'the entries have changed since you were asked; list them again. Nothing was discarded.';
}

/** A running pull treats the records as discarded: it must not commit after they are reopened. */
async function beingPulled(tx: Queryable, selection: Selection): Promise<string | undefined> {
  for (const feed of await feedsToReadAgain(tx, selection)) {
    if (await keepPullsOut(tx, feed)) continue;
    return `feed ${feed} is being pulled right now; try again when that has ended. Nothing was reopened.`;
  }
  return undefined;
}

/** Counts by kind for people: `3 rejected, 2 unreadable`. */
export const describeKinds = (kinds: Readonly<Record<string, number>>): string =>
  Object.entries(kinds)
    .map(([kind, n]) => `${n} ${kind.replace('_', ' ')}`)
    .join(', ');

function countKinds(acted: readonly ActedEntry[]): Readonly<Record<string, number>> | undefined {
  const kinds: Record<string, number> = {};
  for (const { kind } of acted) if (kind != null) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return Object.keys(kinds).length === 0 ? undefined : kinds;
}

async function reportFeeds(
  tx: Queryable,
  action: BulkAction,
  feeds: readonly FeedName[],
  acted: readonly ActedEntry[],
): Promise<FeedReport[]> {
  const counts = new Map<FeedName, number>();
  for (const { feed } of acted) counts.set(feed, (counts.get(feed) ?? 0) + 1);
  const passedOver = new Map((await countPassedOver(tx, feeds)).map((row) => [row.feed, row]));
  return feeds.map((feed) => {
    const done = counts.get(feed) ?? 0;
    const { invalid = 0, in_doubt = 0 } = passedOver.get(feed) ?? {};
    const kinds = countKinds(acted.filter((entry) => entry.feed === feed));
    const which = kinds === undefined ? '' : ` (${describeKinds(kinds)})`;
    const parts = [done === 0 ? `nothing to ${action}` : `${done} ${DONE[action]}${which}`];
    if (action === 'retry' && invalid > 0) parts.push(`${invalid} not retried: content that breaks rules of the site`);
    const leftInDoubt = action === 'discard' && in_doubt > 0 ? { leftInDoubt: in_doubt } : {};
    return { feed, done, message: parts.join('; '), ...leftInDoubt, ...(kinds === undefined ? {} : { kinds }) };
  });
}

const entriesById = async (tx: Queryable, ids: readonly number[]): Promise<Map<number, EntryState>> =>
  new Map((await findEntries(tx, ids)).map((entry) => [entry.id, entry]));
