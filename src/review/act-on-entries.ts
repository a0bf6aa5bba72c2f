// Acts on review entries: one engine for a single entry, for several that are named, and for each batch of an action on many.
import type { Config } from '../config/config.ts';
import type { BulkAction } from '../plan/action.ts';
import {
  type Circumstance,
  type ConfiguredHere,
  conditionsOf,
  factsOf,
  isAskedFirst,
  operationWords,
  refusingCircumstance,
  whyNotAllowed,
} from '../plan/allowed.ts';
import { type Message, reword } from '../plan/message.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import { ENTRY_KINDS, questionedAmong } from '../store/backlog/open-counts.ts';
import {
  ACTIONS,
  type ActedEntry,
  type AlikeChanges,
  type AuditNote,
  countAlike,
  countChosen,
  type EntryState,
  feedsOf,
  feedsToReadAgain,
  findEntries,
  findRefusedEntry,
  type SelectedCount,
} from '../store/change/act-in-review.ts';
import { blockPulls } from '../store/change/edit.ts';
import { lockChanges } from '../store/change/open-change.ts';
import { lockOutcomesShared } from '../store/locks/advisory-locks.ts';
import type { Database, Queryable, Transaction } from '../store/postgres/database.ts';
import type { BulkEdit, SelectedAction } from '../store/review/bulk-actions.ts';
import type { EntryQuery } from '../store/review/found-entries.ts';
import { lockRecord } from '../store/review/review-entries.ts';
import { selectedIds } from '../store/review/review-totals.ts';
import { countByKind, describeKinds } from './describe-selected.ts';
import { entryEditor } from './edit-posting.ts';
import { factsOfEntry, whyNothingDone } from './entry-facts.ts';
import { configuredFeeds, type FeedsConfig, readConfiguredHere } from './health/configured-policy.ts';
import { answerFirst, deletesConcernedBy } from './held-offer.ts';
import { resolveEntries } from './resolve-entry.ts';
import {
  CHANGED,
  CHANGED_SINCE_SHOWN,
  type PresentSelection,
  type Seen,
  sumOf,
  tokenOfChange,
  whyNotSeen,
} from './seen.ts';
import type { EditOfFeeds, EditTrial } from './try-edit.ts';

/** What is done to entries. */
interface EntryAct {
  readonly action: SelectedAction;
  /** What an edit sets. */
  readonly edit?: BulkEdit | undefined;
  readonly actor: string;
  /** What the audit says besides. */
  readonly note: AuditNote;
}

/** What became of entries that were acted on together. */
export interface EntriesActed {
  readonly acted: readonly ActedEntry[];
  /** How many of them are still rejected. */
  readonly remaining: number;
  readonly left: readonly { readonly entry: number; readonly why: Message }[];
}

/**
 * Acts on each of these entries whose state allows it, and tells why the others are left alone. The transaction has taken what keeps
 * pulls out, if the action needs it. What an edit needs of a feed is compiled once for all calls.
 */
export function entryActor(config: Config) {
  const editor = entryEditor(config);
  return async (tx: Queryable, act: EntryAct, ids: readonly number[]): Promise<EntriesActed> => {
    const { action } = act;
    switch (action) {
      case 'edit': {
        const { planned, left } = await editor.edit(tx, ids, act.edit ?? {}, act);
        const acted = planned.map(({ change: { id, feed } }) => ({ id, feed }));
        return { acted, remaining: planned.filter(({ edited }) => edited.reason !== undefined).length, left };
      }
      case 'missing':
      case 'check':
        return { ...(await resolveEntries(tx, config, action, ids, act)), remaining: 0 };
      default:
        return decide(tx, config, action, act, ids);
    }
  };
}

const apply = async (
  tx: Queryable,
  config: FeedsConfig,
  action: BulkAction,
  { actor, note }: Pick<EntryAct, 'actor' | 'note'>,
  ids: readonly number[],
): Promise<readonly ActedEntry[]> =>
  ACTIONS[action](tx, ids, actor, note, configuredFeeds(config, await feedsOf(tx, ids)));

async function decide(
  tx: Queryable,
  config: FeedsConfig,
  action: BulkAction,
  by: Pick<EntryAct, 'actor' | 'note'>,
  ids: readonly number[],
): Promise<EntriesActed> {
  const acted = await apply(tx, config, action, by, ids);
  const done = new Set(acted.map(({ id }) => id));
  const here = await readConfiguredHere(tx, config);
  const left = await findEntries(
    tx,
    ids.filter((id) => !done.has(id)),
  );
  return {
    acted,
    remaining: 0,
    left: left.map((entry) => ({ entry: entry.id, why: whyNothingDone(action, entry, here) })),
  };
}

/** Selects entries that a person names: by their numbers, or all of a feed. */
export type NamedQuery = Pick<EntryQuery, 'kinds'> &
  (
    | { readonly ids: readonly number[]; readonly feed?: undefined }
    | { readonly feed: FeedName; readonly ids?: undefined }
  );

/** What several such queries select for an action. */
export interface Named {
  readonly action: BulkAction;
  /** All numbers, of whatever entries. */
  readonly numbers: readonly number[];
  readonly feeds: readonly FeedName[];
  /** Entries whose kind the action is for, by their numbers and by their feeds. */
  readonly byNumber: readonly number[];
  readonly byFeed: readonly number[];
}

export async function readNamed(db: Queryable, action: BulkAction, queries: readonly NamedQuery[]): Promise<Named> {
  const { states } = conditionsOf(action);
  const isReopen = action === 'reopen';
  const select = async (some: readonly NamedQuery[]): Promise<number[]> => {
    const ids = new Set<number>();
    for (const { kinds = ENTRY_KINDS, ...query } of some) {
      const those = isReopen ? kinds : kinds.filter((kind) => states.includes(kind));
      for (const id of await selectedIds(db, { ...query, kinds: those, discarded: isReopen })) ids.add(id);
    }
    return [...ids];
  };
  return {
    action,
    numbers: queries.flatMap(({ ids }) => ids ?? []),
    feeds: queries.flatMap(({ feed }) => feed ?? []),
    byNumber: await select(queries.filter(({ ids }) => ids !== undefined)),
    byFeed: await select(queries.filter(({ ids }) => ids === undefined)),
  };
}

const allOf = ({ byNumber, byFeed }: Named): number[] => [...new Set([...byNumber, ...byFeed])];

const isOnlyOne = ({ numbers, feeds }: Named): boolean => numbers.length === 1 && feeds.length === 0;

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
  /** Of an edit that was tried, or that covers several feeds. */
  readonly edit?: EditTrial | EditOfFeeds;
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
  constructor(message: Message, stale?: true, edit?: Refused['edit']) {
    super('refused');
    this.refused = { kind: 'refused', message, ...(stale && { stale }), ...(edit && { edit }) };
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
 * Decides all entries that any of the queries selects, in one transaction.
 * @param config what this process is configured to do: nothing is sent for entries of other sites, and for deletes that it keeps
 */
export const actOnEntries = (
  db: Database,
  config: FeedsConfig,
  action: BulkAction,
  queries: readonly NamedQuery[],
  options: ActionOptions,
): Promise<ActionReport> => decideWithin(db, (tx) => actWithin(tx, config, action, queries, options));

async function actWithin(
  tx: Queryable,
  config: FeedsConfig,
  action: BulkAction,
  queries: readonly NamedQuery[],
  { actor, reason, seen = {} }: ActionOptions,
): Promise<ActionReport> {
  const named = await readNamed(tx, action, queries);
  const { numbers, feeds } = named;
  // Before any other lock: a pull takes those after its own.
  const pulled = action === 'reopen' ? await beingPulled(tx, allOf(named)) : undefined;
  if (pulled !== undefined) throw new RefusedError(pulled);
  const isBound = seen.count !== undefined || seen.tokens !== undefined;
  // A pull opens the question under this lock: nothing that is decided here is in question before it is committed.
  if (isBound || isAskedFirst(action)) await lockOutcomesShared(tx, await feedsOfNamed(tx, named));
  const refuseUnseen = (present: PresentSelection, { count, tokens }: Seen) => {
    // An entry that is resolved is not changed but missing.
    if (feeds.length === 0 && present.selected.length === 0) return;
    const why = whyNotSeen({ count, tokens }, present);
    if (why !== undefined) throw new RefusedError(isOnlyOne(named) ? CHANGED_SINCE_SHOWN : why, true);
  };
  if (isBound && feeds.length === 0) refuseUnseen(await presentFor(tx, config, named), seen);
  const refusal = await whySelectionRefused(tx, config, named);
  if (refusal !== undefined) throw new RefusedError(refusal);
  const present = isBound && feeds.length > 0 ? await presentFor(tx, config, named) : undefined;
  const ofFeeds = (present?.selected ?? []).filter(({ feed }) => feeds.includes(feed));
  if (present !== undefined) {
    // A number is about the feeds that are named.
    refuseUnseen({ selected: ofFeeds }, { count: seen.count });
    refuseUnseen(present, { tokens: seen.tokens });
  }
  const before = await entriesById(tx, numbers);
  const note = reason === undefined ? {} : { reason };
  const acted = await apply(tx, config, action, { actor, note }, allOf(named));
  // One of them may have been resolved since they were compared.
  const byName = acted.filter(({ feed }) => feeds.includes(feed)).length;
  if (present !== undefined && byName !== sumOf(ofFeeds)) throw new RefusedError(CHANGED, true);
  const here = await readConfiguredHere(tx, config);
  const done = new Set(acted.map((entry) => entry.id));
  const after = await entriesById(tx, numbers);
  const entries = numbers.flatMap((id): readonly EntryReport[] => {
    const state = after.get(id) ?? before.get(id);
    // Resolved since it was selected.
    if (state === undefined) return [];
    const { feed, key } = state;
    if (done.has(id)) return [{ entry: id, feed, key, result: 'done', message: operationWords(action).done }];
    return [{ entry: id, feed, key, result: 'not_applicable', message: whyNothingDone(action, after.get(id), here) }];
  });
  return { kind: 'acted', entries, feeds: await reportFeeds(tx, action, feeds, acted, here), acted };
}

const feedsOfNamed = async (db: Queryable, { numbers, feeds }: Named): Promise<FeedName[]> => [
  ...new Set([...feeds, ...(await feedsOf(db, numbers))]),
];

/** An entry that a decision would change, counted. */
interface NamedCount extends SelectedCount {
  /** It is selected by the name of its feed. */
  readonly byName: boolean;
}

/** Counts exactly the entries that the action would change. */
export async function countNamed(db: Queryable, config: FeedsConfig, named: Named): Promise<NamedCount[]> {
  const configured = configuredFeeds(config, await feedsOfNamed(db, named));
  const counted = await countChosen(db, named.action, allOf(named), configured);
  return counted.map((each) => ({ ...each, byName: named.feeds.includes(each.feed) }));
}

/**
 * What a decision about these entries is bound to. With feeds, what the action would change; otherwise the entries as they are, as one
 * of them may get into a state that the action is for.
 */
export async function presentFor(db: Queryable, config: FeedsConfig, named: Named): Promise<PresentSelection> {
  const { numbers: ids, feeds } = named;
  if (feeds.length > 0) return { selected: await countNamed(db, config, named) };
  await lockChanges(db, ids);
  for (const id of ids) await lockRecord(db, id);
  const entries = await findEntries(db, ids);
  return {
    selected: entries.map(({ feed, state, mark }) => ({ feed, kind: state, n: 1, mark })),
    ids,
    named: entries.map((entry) => ({ id: entry.id, token: tokenOfChange(entry) })),
  };
}

/** What keeps a whole decision from being made, whatever else is selected: nothing else is sent beside what can't be. */
const WHOLE: readonly Circumstance[] = ['elsewhere', 'kept', 'undecided'];

/** Why nothing is done with the selection: a question comes first, or some of it may not be sent. `undefined`: nothing. */
export async function whySelectionRefused(
  db: Queryable,
  config: FeedsConfig,
  named: Named,
): Promise<Message | undefined> {
  const { action } = named;
  const ids = allOf(named);
  const question = isAskedFirst(action)
    ? answerFirst(deletesConcernedBy(action, await questionedAmong(db, ids)))
    : undefined;
  if (question !== undefined) return question;
  const bars = WHOLE.filter((each) => conditionsOf(action).unless.includes(each));
  if (bars.length === 0) return undefined;
  const configured = configuredFeeds(config, await feedsOfNamed(db, named));
  // A feed whose failed deletes are kept still has others to be sent again.
  const chosen = action === 'retry' ? named.byNumber : ids;
  const barred =
    (await findRefusedEntry(db, action, bars, chosen, configured)) ??
    (await findRefusedEntry(db, action, ['elsewhere'], ids, configured));
  const why = barred && whyNotAllowed(action, factsOfEntry(barred, await readConfiguredHere(db, config)));
  const name = isOnlyOne(named) || barred === undefined ? '' : `entry ${barred.id} of feed ${barred.feed}: `;
  return why && reword(why, (text) => `${name}${text}. Nothing was changed`);
}

/** A running pull treats the records as discarded: it must not commit after they are reopened. */
async function beingPulled(tx: Queryable, ids: readonly number[]): Promise<string | undefined> {
  for (const feed of await feedsToReadAgain(tx, ids)) {
    if (await blockPulls(tx, feed)) continue;
    return `feed ${feed} is being pulled right now; try again when that has ended. Nothing was reopened.`;
  }
  return undefined;
}

async function reportFeeds(
  tx: Queryable,
  action: BulkAction,
  feeds: readonly FeedName[],
  acted: readonly ActedEntry[],
  here: ConfiguredHere,
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
          bars.some((bar) => bar === refusingCircumstance(action, factsOf(each, each.circumstances, here)));
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
