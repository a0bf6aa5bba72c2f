// Undoes a pull: plans the reverse of it from what is stored, shows that without committing, or commits it. Sends nothing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOnlyOf } from '../plan/create-only-fields.ts';
import type { Message } from '../plan/message.ts';
import { auditAction } from '../store/access/audit.ts';
import { readFeedState, refuseOvertaken, stopFeed } from '../store/feed/feed-state.ts';
import { lockFeed } from '../store/locks/feed-locks.ts';
import { commitPull } from '../store/pull/pull-commit.ts';
import { failPull, findPull, type PullRow, startPull } from '../store/pull/pull-row.ts';
import type { PullTransaction } from '../store/pull/pull-transaction.ts';
import { concludeFormerPulls } from '../store/status/pull-summary.ts';
import { crossStep } from '../telemetry/steps.ts';
import type { FeedSetup, PullContext } from './feed-setup.ts';
import { mergeUndo, type UndoFindings, undoLines } from './merge-undo.ts';
import { inPullTransaction } from './plan-and-commit.ts';
import { type PlanLine, printSpool, spoolLines } from './plan-lines.ts';
import { inPlanTransaction } from './undone-pull.ts';
import { whyNotUndo } from './why-not-undo.ts';

/** The pull to undo, with what must not have changed since it was shown. */
export interface UndoOptions {
  readonly pull: number;
  /** How long former documents are kept, for messages. */
  readonly keptDays: number;
}

export type UndoPlan =
  | {
      readonly kind: 'planned';
      readonly pull: PullRow;
      readonly findings: UndoFindings;
      /** The feed's current pull when this was planned. */
      readonly currentPull: number | undefined;
    }
  | { readonly kind: 'refused'; readonly message: Message }
  | { readonly kind: 'busy' };

/** Plans the undo and rolls it back. `print` receives the lines once the database and the feed's lock are released. */
export async function planUndo(
  setup: FeedSetup,
  { db }: Pick<PullContext, 'db'>,
  options: UndoOptions,
  print: (line: PlanLine) => void | Promise<void>,
): Promise<UndoPlan> {
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-undo-'));
  try {
    const spool = join(folder, 'changes.jsonl');
    const plan = await underLock(setup, { db }, options, (pull) =>
      inPlanTransaction(setup, { db }, async (pullTx): Promise<UndoPlan> => {
        const currentPull = (await readFeedState(db, setup.feed))?.currentPull;
        const findings = await mergeUndo(setup, pullTx, options.pull);
        await spoolLines(spool, undoLines(pullTx, createOnlyOf(setup.mapping)));
        return { kind: 'planned', pull, findings, currentPull };
      }),
    );
    if (plan.kind === 'planned') await printSpool(spool, print);
    return plan;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** How an undo ended, before anything was sent. */
export type UndoEnd =
  /** The backlog is committed, and the feed is stopped. `pull`: the number of the undo, which counts like a pull. */
  | { readonly kind: 'undone'; readonly pull: number; readonly undone: number; readonly findings: UndoFindings }
  | { readonly kind: 'refused'; readonly message: Message }
  | { readonly kind: 'busy' };

/** Commits the undo, unless the feed was pulled since it was planned: then more may have changed than was shown. */
export async function undoPull(
  setup: FeedSetup,
  context: Pick<PullContext, 'db' | 'onPull'>,
  options: UndoOptions & { readonly currentPull: number | undefined; readonly actor: string },
): Promise<UndoEnd> {
  const { db } = context;
  return underLock(setup, context, options, async (): Promise<UndoEnd> => {
    if ((await readFeedState(db, setup.feed))?.currentPull !== options.currentPull) {
      return { kind: 'refused', message: `feed ${setup.feed} was pulled meanwhile: look at the undo again` };
    }
    const pull = await startPull(db, setup.feed, setup.site, options.pull);
    context.onPull?.(pull);
    crossStep('undo-started');
    try {
      await concludeFormerPulls(db, setup.feed, pull);
      const { feed, site, policy } = setup;
      const subject = { pull, feed, site, createOnly: createOnlyOf(setup.mapping), policy };
      const findings = await inPullTransaction(db, subject, (pullTx) => mergeAndCommit(setup, pullTx, options));
      crossStep('undo-committed');
      return { kind: 'undone', pull, undone: options.pull, findings };
    } catch (error) {
      await failPull(db, pull, error instanceof Error ? error.message : String(error), 0).catch(() => undefined);
      throw error;
    }
  });
}

async function mergeAndCommit(
  setup: FeedSetup,
  pullTx: PullTransaction,
  { pull: undone, actor }: { readonly pull: number; readonly actor: string },
): Promise<UndoFindings> {
  const { session, subject } = pullTx;
  const findings = await mergeUndo(setup, pullTx, undone);
  // The process may have been stopped since it compared the current pull, and have lost the lock.
  await refuseOvertaken(session, subject.feed, subject.pull);
  await stopFeed(session, subject.feed, subject.pull);
  const { leftOut, withdrawn, deletes } = findings;
  const detail = { pull: undone, by: subject.pull, restored: findings.restored, deletes, withdrawn, leftOut };
  await auditAction(session, { actor, action: 'undo pull', feed: subject.feed, detail });
  crossStep('undo-merged');
  // Nothing was read: an undo proves nothing of its feed, and the next pull reads all of it.
  const counts = {
    unchanged: 0,
    duplicates: 0,
    unreadable: 0,
    skipped: 0,
    expired: 0,
    grace: 0,
    bytes: 0,
    shortfalls: [],
    weak: undefined,
  };
  await commitPull(
    pullTx,
    { ...counts, complete: false, seen: findings.restored, gone: findings.deletes },
    { version: undefined, keyRule: undefined },
  );
  return findings;
}

/** Calls `work` with the pull under the feed's lock, if the pull can be undone. */
async function underLock<End>(
  setup: FeedSetup,
  { db }: Pick<PullContext, 'db'>,
  { pull: number, keptDays }: UndoOptions,
  work: (pull: PullRow) => Promise<End>,
): Promise<End | { readonly kind: 'refused'; readonly message: Message } | { readonly kind: 'busy' }> {
  const lock = await lockFeed(db, setup.feed);
  if (lock === undefined) return { kind: 'busy' };
  try {
    const pull = await findPull(db, number);
    // Renamed meanwhile, or too old.
    if (pull?.feed !== setup.feed) return { kind: 'refused', message: noSuchPull(number) };
    const message = await whyNotUndo(db, pull, setup, keptDays);
    return message === undefined ? await work(pull) : { kind: 'refused', message };
  } finally {
    await lock.release();
  }
}

export const noSuchPull = (pull: number): string => `no pull ${pull} is recorded in the database`;
