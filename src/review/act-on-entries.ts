// Retries, approves, discards or reopens many entries at once, and reports the result for each.
import type { BulkAction } from '../plan/action.ts';
import { type Message, messageOf } from '../plan/message.ts';
import type { FeedName, PostingKey, SiteName } from '../posting/identifiers.ts';
import type { EntryKind } from '../store/backlog/entry-kind.ts';
import { questionedAmong } from '../store/backlog/open-question.ts';
import {
  type ActedEntry,
  approveChanges,
  type ChosenCount,
  type ConfiguredFeed,
  countDiscardable,
  countHeld,
  countPassedOver,
  discardEntries,
  type EntryState,
  entriesElsewhere,
  entriesKept,
  feedsOf,
  feedsToReadAgain,
  findEntries,
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
import { answerFirst, decidesDeletes } from './answer-first.ts';
import { KINDS_OF_ACTION } from './bulk/kinds-of-action.ts';
import { isStale, STALE } from './entry-version.ts';
import { keptNow, whyNot } from './why-not.ts';

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
  /** The site of each feed, as this process is configured: nothing is sent for entries of another one. */
  readonly sites?: ReadonlyMap<FeedName, SiteName>;
  /** What decides about deletes, as this process is configured: those that it keeps are not sent. */
  readonly configured?: readonly ConfiguredFeed[];
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
/** What an action did, after the number of entries. */
export const DONE = {
  retry: 'ready to be sent again',
  approve: 'approved, ready to be deleted',
  discard: 'discarded',
  reopen: 'reopened, waiting for review again',
} as const satisfies Record<BulkAction, string>;

/** Whether the action has something sent. */
export const isSent = (action: BulkAction): boolean => action === 'retry' || action === 'approve';

const noteOf = ({ reason }: ActionOptions) => (reason === undefined ? {} : { reason });

/** Rolls the transaction back. */
class RefusedError extends Error {
  readonly refusal: Message;
  constructor(refusal: Message) {
    super('refused');
    this.refusal = refusal;
  }
}

/** Acts on all entries in one transaction. */
export async function actOnEntries(
  db: Database,
  action: BulkAction,
  selection: Selection,
  options: ActionOptions,
): Promise<ActionReport> {
  try {
    return await db.transaction((tx) => actWithin(tx, action, selection, options));
  } catch (error) {
    if (error instanceof RefusedError) return { kind: 'refused', message: error.refusal };
    throw error;
  }
}

async function actWithin(
  tx: Queryable,
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
  if (decidesDeletes(action)) await lockOutcomesShared(tx, await feedsOf(tx, selection));
  const question = await questionAbout(tx, action, selection);
  if (question !== undefined) return { kind: 'refused', message: question };
  const elsewhere = await ofOtherSites(tx, action, selection, options);
  if (elsewhere !== undefined) return { kind: 'refused', message: elsewhere };
  const kept = await keptByConfiguration(tx, action, selection, options);
  if (kept !== undefined) return { kind: 'refused', message: kept };
  const otherwise = await chosenOtherwise(tx, selection, options);
  if (otherwise !== undefined) return { kind: 'refused', message: otherwise };
  if (await areOthersHeld(tx, selection, options)) return { kind: 'refused', message: HELD_OTHERWISE };
  const before = await entriesById(tx, selection.ids);
  const acted = await ACTIONS[action](tx, selection, options.actor, noteOf(options), options.configured);
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
    if (done.has(id)) return [{ entry: id, feed, key, result: 'done', message: DONE[action] }];
    return [{ entry: id, feed, key, result: 'not_applicable', message: whyNot(action, after.get(id)) }];
  });
  return { kind: 'acted', entries, feeds: await reportFeeds(tx, action, selection.feeds, acted, options), acted };
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
async function areOthersHeld(tx: Queryable, selection: Selection, { expectDeletes }: ActionOptions): Promise<boolean> {
  if (expectDeletes === undefined) return false;
  await lockOutcomesShared(tx, await feedsOf(tx, selection));
  return JSON.stringify(await countHeld(tx, selection.feeds)) !== JSON.stringify(expectDeletes);
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

/** What has to be answered before the action may decide about the selection; `undefined`: nothing. */
export async function questionAbout(
  db: Queryable,
  action: BulkAction,
  selection: Selection,
): Promise<Message | undefined> {
  if (!decidesDeletes(action)) return undefined;
  const questioned = await questionedAmong(db, selection);
  const concerns = (kind: EntryKind) =>
    KINDS_OF_ACTION[action].includes(kind) && (selection.kinds?.includes(kind) ?? true);
  return answerFirst(questioned.filter(({ kind }) => concerns(kind)));
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

/** Explains that nothing would be sent for some of the entries. */
async function ofOtherSites(
  tx: Queryable,
  action: BulkAction,
  selection: Selection,
  { sites }: ActionOptions,
): Promise<string | undefined> {
  if (sites === undefined || !isSent(action)) return undefined;
  const [first] = await entriesElsewhere(tx, selection, sites);
  if (first === undefined) return undefined;
  const { feed, site } = first;
  return `feed ${feed} is configured for site ${sites.get(feed)} now, and its entries are of site ${site}, so nothing is sent for them. Nothing was changed`;
}

/** Explains that the present configuration keeps some of the jobs. */
async function keptByConfiguration(
  tx: Queryable,
  action: BulkAction,
  selection: Selection,
  { configured }: ActionOptions,
): Promise<string | undefined> {
  if (configured === undefined || !isSent(action)) return undefined;
  const kept = await entriesKept(tx, selection, configured);
  const [first] = action === 'approve' ? kept : kept.filter(({ id }) => selection.ids.includes(id));
  return first === undefined ? undefined : `${keptNow(first)}. Nothing was changed`;
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
  { configured = [] }: ActionOptions,
): Promise<FeedReport[]> {
  const counts = new Map<FeedName, number>();
  for (const { feed } of acted) counts.set(feed, (counts.get(feed) ?? 0) + 1);
  const passedOver = new Map((await countPassedOver(tx, feeds, configured)).map((row) => [row.feed, row]));
  return feeds.map((feed) => {
    const done = counts.get(feed) ?? 0;
    const { invalid = 0, in_doubt = 0, missing = 0, kept = 0 } = passedOver.get(feed) ?? {};
    const kinds = countKinds(acted.filter((entry) => entry.feed === feed));
    const which = kinds === undefined ? '' : ` (${describeKinds(kinds)})`;
    const parts = [done === 0 ? `nothing to ${action}` : `${done} ${DONE[action]}${which}`];
    if (action === 'retry' && invalid > 0) parts.push(`${invalid} not retried: content that breaks rules of the site`);
    if (action === 'retry' && missing > 0) parts.push(`${missing} not retried: the feed no longer has them`);
    if (action === 'retry' && kept > 0)
      parts.push(`${kept} not retried: deletes that the feed, as it is configured now, keeps or has not decided about`);
    const leftInDoubt = action === 'discard' && in_doubt > 0 ? { leftInDoubt: in_doubt } : {};
    return { feed, done, message: parts.join('; '), ...leftInDoubt, ...(kinds === undefined ? {} : { kinds }) };
  });
}

const entriesById = async (tx: Queryable, ids: readonly number[]): Promise<Map<number, EntryState>> =>
  new Map((await findEntries(tx, ids)).map((entry) => [entry.id, entry]));
