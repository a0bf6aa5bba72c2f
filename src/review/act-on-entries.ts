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
import { type Message, messageOf, reword } from '../plan/message.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import { questionedAmong } from '../store/backlog/open-question.ts';
import {
  type ActedEntry,
  type AlikeChanges,
  approveChanges,
  type ChosenCount,
  countAlike,
  countDiscardable,
  countHeld,
  discardEntries,
  type EntryState,
  feedsOf,
  feedsToReadAgain,
  findEntries,
  firstBarred,
  type HeldCount,
  reopenEntries,
  retryChanges,
  type Selection,
} from '../store/change/act-in-review.ts';
import { keepPullsOut } from '../store/change/edit.ts';
import { lockChanges } from '../store/change/open-change.ts';
import { lockOutcomesShared } from '../store/locks/advisory-locks.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { lockRecord } from '../store/review/review-entry.ts';
import { answerFirst, concerning } from './answer-first.ts';
import { configuredFeeds, type FeedsConfig, readHere } from './configured-policy.ts';
import { factsOfEntry, whyNot } from './entry-facts.ts';
import { isStale, STALE } from './entry-version.ts';

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

/** The result of an action, before anything is sent. */
export interface ActResult {
  readonly entries: readonly EntryReport[];
  readonly feeds: readonly FeedReport[];
  /** Every entry that was changed. */
  readonly acted: readonly ActedEntry[];
}

export type ActionReport =
  | ({ readonly kind: 'acted' } & ActResult)
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly message: Message; readonly stale?: true };

export interface ActionOptions {
  /** Who acts, for the audit log. */
  readonly actor: string;
  /** Why, for the audit log. */
  readonly reason?: string | undefined;
  /**
   * Approve only if exactly this many deletes are held in the named feeds, so a person approves exactly what they saw.
   */
  readonly expectHeld?: number;
  /** Approve only if exactly these deletes are held in the named feeds: the ones that the person was shown. */
  readonly expectDeletes?: readonly HeldCount[];
  /** Discard only if exactly these entries would be discarded: the ones that the person confirmed. */
  readonly expectChosen?: readonly ChosenCount[];
  /** Act only on this version of the only entry, or on these of each: the ones that the person saw. */
  readonly version?: string | ReadonlyMap<number, string> | undefined;
}

export const ACTIONS = {
  retry: retryChanges,
  approve: approveChanges,
  discard: discardEntries,
  reopen: reopenEntries,
} as const;
const noteOf = ({ reason }: ActionOptions) => (reason === undefined ? {} : { reason });

/** Rolls the transaction back. */
class RefusedError extends Error {
  readonly refusal: Message;
  constructor(refusal: Message) {
    super('refused');
    this.refusal = refusal;
  }
}

/**
 * Acts on all entries in one transaction.
 * @param config what this process is configured to do: nothing is sent for entries of other sites, and for deletes that it keeps
 */
export async function actOnEntries(
  db: Database,
  config: FeedsConfig,
  action: BulkAction,
  selection: Selection,
  options: ActionOptions,
): Promise<ActionReport> {
  try {
    return await db.transaction((tx) => actWithin(tx, config, action, selection, options));
  } catch (error) {
    if (error instanceof RefusedError) return { kind: 'refused', message: error.refusal };
    throw error;
  }
}

async function actWithin(
  tx: Queryable,
  config: FeedsConfig,
  action: BulkAction,
  selection: Selection,
  options: ActionOptions,
): Promise<ActionReport> {
  // Before any other lock: a pull takes those after its own.
  const pulled = action === 'reopen' ? await beingPulled(tx, selection) : undefined;
  if (pulled !== undefined) return { kind: 'refused', message: pulled };
  if (options.version !== undefined && (await isOtherVersion(tx, selection, options.version))) {
    return { kind: 'refused', message: STALE, stale: true };
  }
  // A pull opens the question under this lock: nothing that is decided here is in question before it is committed.
  if (isAskedFirst(action)) await lockOutcomesShared(tx, await feedsOf(tx, selection));
  const refusal = await whyNotAtAll(tx, config, action, selection);
  if (refusal !== undefined) return { kind: 'refused', message: refusal };
  const otherwise = await chosenOtherwise(tx, selection, options);
  if (otherwise !== undefined) return { kind: 'refused', message: otherwise };
  if (await areOthersHeld(tx, config, selection, options)) return { kind: 'refused', message: HELD_OTHERWISE };
  const here = await readHere(tx, config);
  const before = await entriesById(tx, selection.ids);
  const acted = await ACTIONS[action](
    tx,
    selection,
    options.actor,
    noteOf(options),
    configuredFeeds(config, await feedsOf(tx, selection)),
  );
  refuseOtherCount(selection.feeds, acted, options);
  refuseOtherHeld(selection.feeds, acted, options);
  refuseOtherChosen(acted, options);
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

/** Counts what was approved in the named feeds, as an outcome may hold another delete after any earlier count. */
function refuseOtherCount(
  feeds: readonly FeedName[],
  acted: readonly ActedEntry[],
  { expectHeld }: ActionOptions,
): void {
  const held = acted.filter((entry) => feeds.includes(entry.feed)).length;
  if (expectHeld === undefined || held === expectHeld) return;
  const [feed] = feeds;
  const deletes = held === 1 ? '1 delete is' : `${held} deletes are`;
  throw new RefusedError(
    messageOf(`${deletes} held now, not ${expectHeld}`, [
      { words: 'check again', action: { kind: 'list_entries', ...(feed === undefined ? {} : { feed }) } },
      { words: 'Nothing was approved.' },
    ]),
  );
}

/** Whether other deletes are held than the person was shown. Those that are the same can't change any more. */
async function areOthersHeld(
  tx: Queryable,
  config: FeedsConfig,
  selection: Selection,
  { expectDeletes }: ActionOptions,
): Promise<boolean> {
  if (expectDeletes === undefined) return false;
  await lockOutcomesShared(tx, await feedsOf(tx, selection));
  const held = await countHeld(tx, selection.feeds, configuredFeeds(config, selection.feeds));
  return JSON.stringify(held) !== JSON.stringify(expectDeletes);
}

/** An outcome may hold another delete after the comparison. */
function refuseOtherHeld(
  feeds: readonly FeedName[],
  acted: readonly ActedEntry[],
  { expectDeletes }: ActionOptions,
): void {
  if (expectDeletes === undefined) return;
  const expected = expectDeletes.reduce((sum, { n }) => sum + n, 0);
  if (acted.filter((entry) => feeds.includes(entry.feed)).length !== expected) throw new RefusedError(HELD_OTHERWISE);
}

const HELD_OTHERWISE = 'the held deletes have changed since they were shown; run it again. Nothing was approved.';

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

/** Nobody changes the entry between this and the action. */
async function isOtherVersion(
  tx: Queryable,
  selection: Selection,
  version: NonNullable<ActionOptions['version']>,
): Promise<boolean> {
  await lockOutcomesShared(tx, await feedsOf(tx, selection));
  await lockChanges(tx, selection.ids);
  for (const id of selection.ids) {
    await lockRecord(tx, id);
    if (await isStale(tx, id, typeof version === 'string' ? version : version.get(id))) return true;
  }
  return false;
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
  return CHOSEN_OTHERWISE;
}

/** An outcome may add an entry after the comparison. */
function refuseOtherChosen(acted: readonly ActedEntry[], { expectChosen }: ActionOptions): void {
  const expected = expectChosen?.reduce((sum, { n }) => sum + n, 0);
  if (expected !== undefined && expected !== acted.length) throw new RefusedError(CHOSEN_OTHERWISE);
}

const CHOSEN_OTHERWISE = 'the entries have changed since they were counted; list them again. Nothing was discarded.';

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
    const kinds = countKinds(acted.filter((entry) => entry.feed === feed));
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
    const leftInDoubt = action === 'discard' && inDoubt > 0 ? { leftInDoubt: inDoubt } : {};
    return { feed, done, message: parts.join('; '), ...leftInDoubt, ...(kinds === undefined ? {} : { kinds }) };
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

const sumOf = (counts: readonly AlikeChanges[]): number => counts.reduce((sum, { n }) => sum + n, 0);

const entriesById = async (tx: Queryable, ids: readonly number[]): Promise<Map<number, EntryState>> =>
  new Map((await findEntries(tx, ids)).map((entry) => [entry.id, entry]));
