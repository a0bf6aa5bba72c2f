// Undoes a pull of a configured feed: plans it, or commits it and leaves it to be sent.
import { type Message, messageOf, reword } from '../plan/message.ts';
import type { FeedSetup } from '../pull/feed-setup.ts';
import type { PlanLine } from '../pull/preview/trial-counts.ts';
import { noSuchPull, planUndo, type UndoEnd, type UndoPlan, undoPull, whyNotUndo } from '../pull/undo-pull.ts';
import { findPull, type PullRow } from '../store/pull/pull-history.ts';
import type { App } from './app.ts';
import { setupOfFeed } from './feed-setups.ts';

type Refused = { readonly kind: 'unknown' | 'refused'; readonly message: Message };

export type PlannedUndo = Extract<UndoPlan, { kind: 'planned' }> & { readonly setup: FeedSetup };

/** Plans the undo without committing it. `print` receives each change, then each posting that is left out. */
export async function planUndoOf(
  app: App,
  pull: number,
  print: (line: PlanLine) => void | Promise<void>,
): Promise<PlannedUndo | Refused> {
  const found = await setupOf(app, pull);
  if (found.kind !== 'found') return { ...found, message: unchanged(found.message) };
  const plan = await planUndo(found.setup, app, { pull, keptDays: app.config.retentionDays.undo }, print);
  return plan.kind === 'planned' ? { ...plan, setup: found.setup } : notDone(found.setup, plan);
}

export interface CommittedUndo {
  readonly kind: 'undone';
  readonly setup: FeedSetup;
  readonly end: Extract<UndoEnd, { kind: 'undone' }>;
  /** On the clock of `performance`. */
  readonly startedAt: number;
}

/** What a person was shown: only that is done. */
export type ShownUndo = { readonly seen: string } | { readonly currentPull: number | undefined };

/** Commits the undo. Its changes are ready to be sent, and its feed is stopped. */
export async function commitUndoOf(
  app: App,
  pull: number,
  shown: ShownUndo,
  actor: string,
): Promise<CommittedUndo | Refused> {
  const startedAt = performance.now();
  const found = await setupOf(app, pull);
  if (found.kind !== 'found') return { ...found, message: unchanged(found.message) };
  const keptDays = app.config.retentionDays.undo;
  const end = await undoPull(found.setup, { db: app.db }, { pull, keptDays, actor, ...shown });
  return end.kind === 'undone' ? { kind: 'undone', setup: found.setup, end, startedAt } : notDone(found.setup, end);
}

/** Why nobody can undo this pull; `undefined`: it can be undone, unless its feed is being pulled. */
export async function whyNotUndoOf(app: App, pull: PullRow): Promise<Message | undefined> {
  const found = await setupOf(app, pull.id);
  if (found.kind !== 'found') return found.message;
  return whyNotUndo(app.db, pull, found.setup, app.config.retentionDays.undo);
}

async function setupOf({ db, config }: App, number: number): Promise<{ kind: 'found'; setup: FeedSetup } | Refused> {
  const pull = await findPull(db, number);
  if (pull === undefined) return { kind: 'unknown', message: noSuchPull(number) };
  if (!config.feeds.has(pull.feed)) {
    const why = config.brokenFeeds.has(pull.feed)
      ? 'whose configuration is wrong'
      : 'which is not in the configuration';
    return { kind: 'refused', message: `pull ${number} is of feed ${pull.feed}, ${why}` };
  }
  const setup = setupOfFeed(config, pull.feed, 'send');
  if (typeof setup !== 'string') return { kind: 'found', setup };
  return { kind: 'refused', message: `pull ${number} can't be undone: ${setup}` };
}

function notDone({ feed }: FeedSetup, end: Exclude<UndoPlan, { kind: 'planned' }>): Refused {
  if (end.kind === 'refused') return { kind: 'refused', message: unchanged(end.message) };
  const busy = `feed ${feed} is being pulled right now; try again when that has ended`;
  return { kind: 'refused', message: unchanged(busy) };
}

/** The advice of the message comes after its text. */
const unchanged = (message: Message): Message =>
  typeof message === 'string'
    ? messageOf(`${message}. Nothing was changed`)
    : reword(message, (text) => `${text}; nothing was changed`);
