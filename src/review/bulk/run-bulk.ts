// Carries out an action on many review entries in batches. Each batch and its progress are one transaction, so that each entry is
// acted on exactly once, however often a person stops the action and lets it go on, and by however many processes.
import type { Config } from '../../config/config.ts';
import { pause } from '../../flow/pause.ts';
import { textOf } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { auditAction } from '../../store/access/audit.ts';
import { type ActedEntry, feedsToReadAgain } from '../../store/change/act-in-review.ts';
import { blockPullsIfIdle } from '../../store/change/edit.ts';
import { lockOutcomesShared } from '../../store/locks/advisory-locks.ts';
import type { Database, Queryable } from '../../store/postgres/database.ts';
import { withRetry } from '../../store/postgres/transient-error.ts';
import {
  type BulkRow,
  findBulk,
  lockBulk,
  lockUnaltered,
  nextFeedOfBulk,
  nextOfBulk,
  recordBatch,
  setBulkState,
} from '../../store/review/bulk-actions.ts';
import { noteGroupCounts } from '../../store/review/review-groups.ts';
import { type EntriesActed, entryActor } from '../act-on-entries.ts';

export interface BulkOptions {
  /** Ends the work after the present batch; the action stays open. */
  readonly signal: AbortSignal;
  readonly onProgress?: (bulk: BulkRow, waitsFor: FeedName | undefined) => void;
  readonly batch?: number;
  /** Only the entries of these feeds, for actions that ask no site; the action stays open for the others. */
  readonly among?: readonly FeedName[];
}

export interface BulkRun {
  /** The action as it is now. */
  readonly bulk: BulkRow;
  /** What this run acted on. */
  readonly acted: readonly ActedEntry[];
}

/** Why an action leaves an entry alone. */
export const CHANGED_SINCE_SELECTED = 'it has changed since it was selected';

const BATCH = 1_000;
/** Each one takes several statements, and the outcomes of the others wait. */
const DOUBT_BATCH = 100;
/** A pull of the feed, which an edit keeps out, starts between two batches: it asks more often, see `lockFeed`. */
const PAUSE_MS = 60;
/** While all of its feeds are being pulled. */
const WAIT_MS = 250;

type BatchEnd =
  | { readonly kind: 'acted'; readonly feed: FeedName; readonly acted: readonly ActedEntry[] }
  /** The feed is being pulled. */
  | { readonly kind: 'waits'; readonly feed: FeedName }
  /** Nothing is left to do, or a person stopped it. */
  | { readonly kind: 'over' };

/** Carries out the action until it is done, a person stops it, or `signal` is aborted. `undefined`: there is no such action. */
export async function runBulk(
  db: Database,
  config: Config,
  id: number,
  { signal, onProgress, batch, among }: BulkOptions,
): Promise<BulkRun | undefined> {
  const act = entryActor(config);
  const acted: ActedEntry[] = [];
  // The feeds that were found being pulled since the last batch.
  const pulled = new Set<FeedName>();
  for (let last: FeedName | '' = ''; ; ) {
    const after: FeedName | '' = last;
    const end: BatchEnd = signal.aborted
      ? { kind: 'over' }
      : await withRetry(() => db.transaction((tx) => runBatch(tx, id, after, act, { batch, among })), signal);
    const bulk = await findBulk(db, id);
    if (bulk === undefined) return undefined;
    if (end.kind === 'over') {
      if (acted.length > 0) await noteGroupCounts(db);
      return { bulk, acted };
    }
    last = end.feed;
    const known = end.kind === 'waits' && pulled.has(end.feed);
    if (end.kind === 'acted') {
      acted.push(...end.acted);
      pulled.clear();
    } else pulled.add(end.feed);
    if (!known) onProgress?.(bulk, end.kind === 'waits' ? end.feed : undefined);
    await pause(known ? WAIT_MS : PAUSE_MS, signal).catch(() => undefined);
  }
}

/** Acts on some entries of one feed, so that pulls of other feeds are neither waited for nor kept out. */
async function runBatch(
  tx: Queryable,
  id: number,
  after: FeedName | '',
  act: ReturnType<typeof entryActor>,
  { batch, among }: { readonly batch: number | undefined; readonly among: BulkOptions['among'] },
): Promise<BatchEnd> {
  const bulk = await lockBulk(tx, id);
  const feed = bulk?.state === 'open' ? await nextFeedOfBulk(tx, id, after, among) : undefined;
  if (bulk === undefined || feed === undefined) return { kind: 'over' };
  const limit = batch ?? (bulk.action === 'missing' ? DOUBT_BATCH : BATCH);
  if (!(await keepOthersOut(tx, bulk, feed, limit))) return { kind: 'waits', feed };
  // None if the feed was renamed before its locks were taken.
  const ids = await nextOfBulk(tx, id, feed, limit);
  const unaltered = await lockUnaltered(tx, bulk, ids);
  const chosen = ids.filter((entry) => unaltered.has(entry));
  const result = await actAs(tx, bulk, chosen, act);
  const altered = ids.filter((entry) => !unaltered.has(entry)).map((entry) => ({ entry, why: CHANGED_SINCE_SELECTED }));
  await recordBatch(tx, id, {
    done: result.acted.map((entry) => entry.id),
    remaining: result.remaining,
    skipped: [...result.left.map(({ entry, why }) => ({ entry, why: textOf(why) })), ...altered],
  });
  return { kind: 'acted', feed, acted: result.acted };
}

/** Takes the locks of the feed before those of entries. Returns false if it is being pulled, and that must not go on. */
async function keepOthersOut(tx: Queryable, bulk: BulkRow, feed: FeedName, limit: number): Promise<boolean> {
  const next = bulk.action === 'reopen' ? await nextOfBulk(tx, bulk.id, feed, limit) : [];
  if (bulk.action === 'edit' || (await feedsToReadAgain(tx, next)).length > 0) return blockPullsIfIdle(tx, feed);
  await lockOutcomesShared(tx, [feed]);
  return true;
}

function actAs(
  tx: Queryable,
  { id, action, actor, rule, detail: { edit, reason } }: BulkRow,
  ids: readonly number[],
  act: ReturnType<typeof entryActor>,
): Promise<EntriesActed> {
  if (action === 'adopt') throw new Error('adopting asks the site about each job: see adopt-found.ts');
  const note = { bulk: id, ...(rule === null ? {} : { rule }), ...(reason === undefined ? {} : { reason }) };
  return act(tx, { action, edit, actor, note }, ids);
}

/** After its present batch; what it did stays. Returns false if it is done or unknown. */
export const stopBulk = (db: Database, id: number, actor: string): Promise<boolean> => set(db, id, actor, 'stop');

/** Somebody has to carry it out. Returns false if it is done or unknown. */
export const continueBulk = (db: Database, id: number, actor: string): Promise<boolean> =>
  set(db, id, actor, 'continue');

const STATES = { stop: 'stopped', continue: 'open' } as const;

const set = (db: Database, id: number, actor: string, to: keyof typeof STATES): Promise<boolean> =>
  db.transaction(async (tx) => {
    if (!(await setBulkState(tx, id, STATES[to]))) return false;
    await auditAction(tx, { actor, action: `${to} bulk`, detail: { bulk: id } });
    return true;
  });
