// Retries, approves, discards or reopens many entries at once, and reports the result for each.
import type { BulkAction } from '../plan/action.ts';
import {
  barOf,
  type Circumstance,
  conditionsOf,
  factsOf,
  type Here,
  isAskedFirst,
  operationWords,
  whyNotAllowed,
} from '../plan/allowed.ts';
import { type Message, reword } from '../plan/message.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import { questionedAmong } from '../store/backlog/open-question.ts';
import {
  ACTIONS,
  type ActedEntry,
  type AlikeChanges,
  countAlike,
  countChosen,
  type EntryState,
  feedsOf,
  feedsToReadAgain,
  findEntries,
  firstBarred,
  type Selection,
} from '../store/change/act-in-review.ts';
import { keepPullsOut } from '../store/change/edit.ts';
import { lockChanges } from '../store/change/open-change.ts';
import { lockOutcomesShared } from '../store/locks/advisory-locks.ts';
import type { Database, Queryable, Transaction } from '../store/postgres/database.ts';
import { lockRecord } from '../store/review/review-entry.ts';
import { answerFirst, concerning } from './answer-first.ts';
import { configuredFeeds, type FeedsConfig, readHere } from './configured-policy.ts';
import { countByKind, describeKinds } from './describe-selected.ts';
import { factsOfEntry, whyNot } from './entry-facts.ts';
import { CHANGED, type Present, type Seen, STALE, sumOf, tokenOfChange, whyNotSeen } from './seen.ts';

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
  /** How many of each kind, if entries were discarded or reopened. */
  readonly kinds?: Readonly<Record<string, number>>;
}

/** The result of an action, before anything is sent. */
export interface ActResult {
  readonly entries: readonly EntryReport[];
  readonly feeds: readonly FeedReport[];
  /** Every entry that was changed. */
  readonly acted: readonly ActedEntry[];
}

/** Nothing was changed. */
export interface Refused {
  readonly kind: 'refused';
  readonly message: Message;
  /** What the person saw is not what is there. */
  readonly stale?: true;
}

export type ActionReport = ({ readonly kind: 'acted' } & ActResult) | Refused;

export interface ActionOptions {
  /** Who acts, for the audit log. */
  readonly actor: string;
  /** Why, for the audit log. */
  readonly reason?: string | undefined;
  /** With anything else than the person saw, nothing is done; see {@link presentFor}. */
  readonly seen?: Seen | undefined;
}

/** Rolls the transaction back. */
export class RefusedError extends Error {
  readonly refused: Refused;
  constructor(message: Message, stale?: true) {
    super('refused');
    this.refused = { kind: 'refused', message, ...(stale && { stale }) };
  }
}

/** What a decision does in a transaction, or why nothing was changed. */
export async function decideWithin<Done>(
  db: Database,
  decide: (tx: Transaction) => Promise<Done>,
): Promise<Done | Refused> {
  try {
    return await db.transaction(decide);
  } catch (error) {
    if (error instanceof RefusedError) return error.refused;
    throw error;
  }
}

/**
 * Acts on all entries in one transaction.
 * @param config what this process is configured to do: nothing is sent for entries of other sites, and for deletes that it keeps
 */
export const actOnEntries = (
  db: Database,
  config: FeedsConfig,
  action: BulkAction,
  selection: Selection,
  options: ActionOptions,
): Promise<ActionReport> => decideWithin(db, (tx) => actWithin(tx, config, action, selection, options));

async function actWithin(
  tx: Queryable,
  config: FeedsConfig,
  action: BulkAction,
  selection: Selection,
  { actor, reason, seen = {} }: ActionOptions,
): Promise<ActionReport> {
  // Before any other lock: a pull takes those after its own.
  const pulled = action === 'reopen' ? await beingPulled(tx, selection) : undefined;
  if (pulled !== undefined) throw new RefusedError(pulled);
  const feeds = await feedsOf(tx, selection);
  const isBound = seen.count !== undefined || seen.tokens !== undefined;
  // A pull opens the question under this lock: nothing that is decided here is in question before it is committed.
  if (isBound || isAskedFirst(action)) await lockOutcomesShared(tx, feeds);
  const one = selection.ids.length === 1 && selection.feeds.length === 0;
  const refuseUnseen = (present: Present, { count, tokens }: Seen) => {
    // An entry that is resolved is not changed but missing.
    if (selection.feeds.length === 0 && present.selected.length === 0) return;
    const why = whyNotSeen({ count, tokens }, present);
    if (why !== undefined) throw new RefusedError(one ? STALE : why, true);
  };
  if (isBound && selection.feeds.length === 0) refuseUnseen(await presentFor(tx, config, action, selection), seen);
  const refusal = await whyNotAtAll(tx, config, action, selection);
  if (refusal !== undefined) throw new RefusedError(refusal);
  const present = isBound && selection.feeds.length > 0 ? await presentFor(tx, config, action, selection) : undefined;
  const ofFeeds = (present?.selected ?? []).filter(({ feed }) => selection.feeds.includes(feed));
  if (present !== undefined) {
    // A number is about the feeds that are named.
    refuseUnseen({ selected: ofFeeds }, { count: seen.count });
    refuseUnseen(present, { tokens: seen.tokens });
  }
  const here = await readHere(tx, config);
  const before = await entriesById(tx, selection.ids);
  const note = reason === undefined ? {} : { reason };
  const acted = await ACTIONS[action](tx, selection, actor, note, configuredFeeds(config, feeds));
  // An outcome may add an entry after the comparison.
  const byName = acted.filter(({ feed }) => selection.feeds.includes(feed)).length;
  if (present !== undefined && byName !== sumOf(ofFeeds)) throw new RefusedError(CHANGED, true);
  const done = new Set(acted.map((entry) => entry.id));
  const after = await entriesById(tx, selection.ids);
  const entries = selection.ids.flatMap((id): readonly EntryReport[] => {
    const state = after.get(id) ?? before.get(id);
    // Resolved since it was selected.
    if (state === undefined) return [];
    const { feed, key } = state;
    if (done.has(id)) return [{ entry: id, feed, key, result: 'done', message: operationWords(action).done }];
    return [{ entry: id, feed, key, result: 'not_applicable', message: whyNot(action, after.get(id), here) }];
  });
  return { kind: 'acted', entries, feeds: await reportFeeds(tx, action, selection.feeds, acted, here), acted };
}

/**
 * What a decision about these entries is bound to. With feeds, what the action would change; otherwise the entries as they are, as one
 * of them may get into a state that the action is for.
 */
export async function presentFor(
  db: Queryable,
  config: FeedsConfig,
  action: BulkAction,
  selection: Selection,
): Promise<Present> {
  const { ids, feeds } = selection;
  if (feeds.length > 0) {
    const chosen = await countChosen(db, action, selection, configuredFeeds(config, await feedsOf(db, selection)));
    return { selected: chosen };
  }
  await lockChanges(db, ids);
  for (const id of ids) await lockRecord(db, id);
  const named = await findEntries(db, ids);
  return {
    selected: named.map(({ feed, state, mark }) => ({ feed, kind: state, n: 1, mark })),
    ids,
    named: named.map((entry) => ({ id: entry.id, token: tokenOfChange(entry) })),
  };
}

/** What keeps a whole decision from being made, whatever else is selected: nothing else is sent beside what can't be. */
const WHOLE: readonly Circumstance[] = ['elsewhere', 'kept', 'undecided'];

/** Why nothing is done with the selection: a question comes first, or some of it may not be sent. `undefined`: nothing. */
export async function whyNotAtAll(
  db: Queryable,
  config: FeedsConfig,
  action: BulkAction,
  selection: Selection,
): Promise<Message | undefined> {
  if (isAskedFirst(action)) {
    const questioned = concerning(action, await questionedAmong(db, selection));
    const question = answerFirst(questioned.filter(({ kind }) => selection.kinds?.includes(kind) ?? true));
    if (question !== undefined) return question;
  }
  const bars = WHOLE.filter((each) => conditionsOf(action).unless.includes(each));
  if (bars.length === 0) return undefined;
  const configured = configuredFeeds(config, await feedsOf(db, selection));
  // A feed whose failed deletes are kept still has others to be sent again.
  const chosen = { ...selection, feeds: action === 'retry' ? [] : selection.feeds };
  const barred =
    (await firstBarred(db, action, bars, chosen, configured)) ??
    (await firstBarred(db, action, ['elsewhere'], selection, configured));
  const why = barred && whyNotAllowed(action, factsOfEntry(barred, await readHere(db, config)));
  const isOnly = selection.ids.length === 1 && selection.feeds.length === 0;
  const name = isOnly || barred === undefined ? '' : `entry ${barred.id} of feed ${barred.feed}: `;
  return why && reword(why, (text) => `${name}${text}. Nothing was changed`);
}

/** A running pull treats the records as discarded: it must not commit after they are reopened. */
async function beingPulled(tx: Queryable, selection: Selection): Promise<string | undefined> {
  for (const feed of await feedsToReadAgain(tx, selection)) {
    if (await keepPullsOut(tx, feed)) continue;
    return `feed ${feed} is being pulled right now; try again when that has ended. Nothing was reopened.`;
  }
  return undefined;
}

async function reportFeeds(
  tx: Queryable,
  action: BulkAction,
  feeds: readonly FeedName[],
  acted: readonly ActedEntry[],
  here: Here,
): Promise<FeedReport[]> {
  const counts = new Map<FeedName, number>();
  for (const { feed } of acted) counts.set(feed, (counts.get(feed) ?? 0) + 1);
  const left = action in LEFT ? await countAlike(tx, feeds, LEFT[action as keyof typeof LEFT]) : [];
  const { done: words } = operationWords(action);
  return feeds.map((feed) => {
    const done = counts.get(feed) ?? 0;
    const own = left.filter((each) => each.feed === feed);
    const inDoubt = sumOf(own.filter(({ state }) => state === 'in_doubt'));
    const ofFeed = acted.flatMap((entry) =>
      entry.feed === feed && entry.kind != null ? { kind: entry.kind, n: 1 } : [],
    );
    const kinds = ofFeed.length === 0 ? undefined : countByKind(ofFeed);
    const which = kinds === undefined ? '' : ` (${describeKinds(kinds)})`;
    const parts = [done === 0 ? `nothing to ${action}` : `${done} ${words}${which}`];
    if (action === 'retry') {
      for (const [bars, why] of NOT_RETRIED) {
        const isBarred = (each: AlikeChanges) =>
          bars.some((bar) => bar === barOf(action, factsOf(each, each.circumstances, here)));
        const n = sumOf(own.filter(isBarred));
        if (n > 0) parts.push(`${n} not retried: ${why}`);
      }
    }
    if (action === 'discard' && inDoubt > 0) parts.push(`${inDoubt} not discarded: in doubt, to be resolved instead`);
    return { feed, done, message: parts.join('; '), ...(kinds === undefined ? {} : { kinds }) };
  });
}

/** The states of entries that an action says it has left. */
const LEFT = { retry: ['rejected', 'failed'], discard: ['in_doubt'] } as const;

/** What keeps entries of a feed from being sent again, of those whose state allows it. */
const NOT_RETRIED: readonly (readonly [readonly Circumstance[], string])[] = [
  [['invalid'], 'content that breaks rules of the site'],
  [['missing'], 'the feed no longer has them'],
  [['kept', 'undecided'], 'deletes that the feed, as it is configured now, keeps or has not decided about'],
];

const entriesById = async (tx: Queryable, ids: readonly number[]): Promise<Map<number, EntryState>> =>
  new Map((await findEntries(tx, ids)).map((entry) => [entry.id, entry]));
