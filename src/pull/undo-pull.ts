// Undoes a pull: plans the reverse of it from what is stored, shows that without committing, or commits it. Sends nothing.
import { hash } from 'node:crypto';
import { heldBecause, judgeDeletes } from '../plan/delete-guard.ts';
import {
  type CreateOnlyFields,
  createOnlyOf,
  type DesiredChange,
  messageOfReason,
  type Reason,
} from '../plan/desired-change.ts';
import { type Message, messageOf, plural } from '../plan/message.ts';
import { type UndoLeftOut, undoPosting } from '../plan/undo-posting.ts';
import { type PostingKey, postingKey } from '../posting/identifiers.ts';
import { auditAction } from '../store/access/audit.ts';
import { plannedChanges } from '../store/backlog/planned-changes.ts';
import { deleteLoad, renewUndone } from '../store/change/merge/mark-missing.ts';
import { mergeChanges } from '../store/change/merge/merge-planned.ts';
import {
  collectLeftOut,
  collectUndone,
  countUndoDeletes,
  deleteUndone,
  leaveOthersUncounted,
  openUndo,
  readLeftOut,
  restartGrace,
  undoSubjects,
  withdrawUndone,
} from '../store/change/merge/undo-changes.ts';
import { doubtCreatesWithJobs } from '../store/change/recognise-jobs.ts';
import { endRekeyWithoutNew } from '../store/change/rekey/collect-rekey.ts';
import { readFeedState, refuseOvertaken, stopFeed } from '../store/feed/feed-state.ts';
import { lockOutcomes } from '../store/locks/advisory-locks.ts';
import { lockFeed } from '../store/locks/feed-locks.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { commitPull, takeOver } from '../store/pull/pull-commit.ts';
import {
  failPull,
  findPull,
  findUndoOf,
  forgetUncommitted,
  type PullRow,
  startPull,
} from '../store/pull/pull-history.ts';
import type { PullTransaction } from '../store/pull/pull-transaction.ts';
import { unreadHash } from '../store/pull/record-hashes.ts';
import { concludeFormerPulls } from '../store/status/pull-summary.ts';
import { crossStep } from '../telemetry/times.ts';
import type { FeedSetup, PullContext } from './feed-setup.ts';
import { inPullTransaction } from './merge-pull.ts';
import { type PlanLine, spoolLines, withSpool } from './preview/trial-counts.ts';
import { inPlanTransaction } from './preview/undone-pull.ts';

/** The pull to undo, with what must not have changed since it was shown. */
interface UndoOptions {
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
      /** Another text if the undo would do anything else. */
      readonly seen: string;
    }
  | { readonly kind: 'refused'; readonly message: Message }
  | { readonly kind: 'busy' };

/** Plans the undo and rolls it back. `print` receives the lines once the database and the feed's lock are released. */
export function planUndo(
  setup: FeedSetup,
  { db }: Pick<PullContext, 'db'>,
  options: UndoOptions,
  print: (line: PlanLine) => void | Promise<void>,
): Promise<UndoPlan> {
  const planInto = (spool: string, pull: PullRow): Promise<UndoPlan> =>
    inPlanTransaction(setup, { db }, async (pullTx) => {
      const currentPull = (await readFeedState(db, setup.feed))?.currentPull;
      const findings = await mergeUndo(setup, pullTx, options.pull);
      const mark = new UndoMark(findings);
      await spoolLines(spool, mark.marking(undoLines(pullTx, createOnlyOf(setup.mapping))));
      return { kind: 'planned', pull, findings, currentPull, seen: mark.seen };
    });
  return withSpool((spool) => underLock(setup, { db }, options, (pull) => planInto(spool, pull)), print);
}

/** How an undo ended, before anything was sent. */
export type UndoEnd =
  /** The backlog is committed, and the feed is stopped. `pull`: the number of the undo, which counts like a pull. */
  | { readonly kind: 'undone'; readonly pull: number; readonly undone: number; readonly findings: UndoFindings }
  | { readonly kind: 'refused'; readonly message: Message }
  | { readonly kind: 'busy' };

/** Tells whether an undo does what was shown, in whichever order it does so. */
class UndoMark {
  readonly #findings: UndoFindings;
  #sum = 0n;

  constructor(findings: UndoFindings) {
    this.#findings = findings;
  }

  /** Passes the lines on. */
  async *marking(lines: AsyncIterable<PlanLine>): AsyncGenerator<PlanLine> {
    for await (const line of lines) {
      this.#sum = BigInt.asUintN(
        128,
        this.#sum + BigInt(`0x${hash('sha256', JSON.stringify(line), 'hex').slice(0, 32)}`),
      );
      yield line;
    }
  }

  get seen(): string {
    return hash('sha256', `${JSON.stringify(this.#findings)} ${this.#sum}`, 'base64url').slice(0, 22);
  }
}

/** Nothing of the undo is committed. */
class UndoAlteredError extends Error {
  override name = 'UndoAlteredError';
}

/**
 * Commits the undo, unless the feed was pulled since it was planned: then more may have changed than was shown. With `seen`, also unless it
 * would do anything else than was shown.
 */
export async function undoPull(
  setup: FeedSetup,
  context: Pick<PullContext, 'db' | 'onPull'>,
  options: UndoOptions & { readonly actor: string } & (
      | { readonly currentPull: number | undefined; readonly seen?: undefined }
      | { readonly seen: string }
    ),
): Promise<UndoEnd> {
  const { db } = context;
  return underLock(setup, context, options, async (): Promise<UndoEnd> => {
    if ('currentPull' in options && (await readFeedState(db, setup.feed))?.currentPull !== options.currentPull) {
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
      if (error instanceof UndoAlteredError) {
        await forgetUncommitted(db, pull);
        return { kind: 'refused', message: error.message };
      }
      await failPull(db, pull, error instanceof Error ? error.message : String(error), 0).catch(() => undefined);
      throw error;
    }
  });
}

async function mergeAndCommit(
  setup: FeedSetup,
  pullTx: PullTransaction,
  { pull: undone, actor, seen }: { readonly pull: number; readonly actor: string; readonly seen?: string | undefined },
): Promise<UndoFindings> {
  const { session, subject } = pullTx;
  const findings = await mergeUndo(setup, pullTx, undone);
  if (seen !== undefined) {
    const mark = new UndoMark(findings);
    for await (const _ of mark.marking(undoLines(pullTx, createOnlyOf(setup.mapping))));
    if (mark.seen !== seen)
      throw new UndoAlteredError(`what undoing pull ${undone} does has changed since it was shown: look at it again`);
  }
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

// Merges the undo of a pull in a pull's transaction: the reverse of each change, within the delete guard.

/** What an undo does, in postings. */
export interface UndoFindings {
  /** Set back, or created again, once requests in flight have ended. */
  readonly restored: number;
  /** How many of them have no job now: they get new job IDs. */
  readonly createdAgain: number;
  /** Creates wait until a person has decided about the changed keys of the feed. */
  readonly createsWait: boolean;
  /** Jobs that the pull created, or may have created. */
  readonly deletes: number;
  /** Changes that were not sent, and are not any more. */
  readonly withdrawn: number;
  readonly leftOut: number;
  /** Why the deletes are held; `undefined`: they are not. */
  readonly holdReason: Message | undefined;
}

/** The caller holds the feed's lock, and commits or rolls back. */
async function mergeUndo(setup: FeedSetup, pullTx: PullTransaction, undone: number): Promise<UndoFindings> {
  const { session, subject } = pullTx;
  await lockOutcomes(session, subject.feed);
  await takeOver(pullTx);
  await openUndo(pullTx, undone);
  const counts = await planUndone(pullTx, undone);
  await renewUndone(pullTx);
  const withdrawn = await withdrawUndone(pullTx);
  const deletes = await countUndoDeletes(pullTx);
  const reason = await holdDeletes(setup, pullTx, deletes);
  if (deletes > 0) await deleteUndone(pullTx, reason);
  await mergeChanges(pullTx);
  const createsWait = await endRekeyWithoutNew(pullTx);
  await leaveOthersUncounted(pullTx);
  await restartGrace(pullTx, undone);
  const { feed, site, referenceField, places } = setup;
  await doubtCreatesWithJobs(session, feed, site, { referenceField, ...places }, pullTx.subject.pull);
  const holdReason = reason === undefined ? undefined : messageOfReason(reason);
  return { ...counts, withdrawn, deletes, createsWait, holdReason };
}

/** The guard counts the deletes of an undo like those of a pull. */
async function holdDeletes(
  { guard }: FeedSetup,
  pullTx: PullTransaction,
  deletes: number,
): Promise<Reason | undefined> {
  if (deletes === 0) return undefined;
  const load = { ...(await deleteLoad(pullTx)), added: deletes, emptied: false, skipped: 0 };
  const verdict = judgeDeletes(guard, load);
  return verdict.kind === 'hold' ? heldBecause('guard', verdict.reason) : undefined;
}

/** Collects what becomes of each posting. */
async function planUndone(
  pullTx: PullTransaction,
  undone: number,
): Promise<Pick<UndoFindings, 'restored' | 'createdAgain' | 'leftOut'>> {
  const { session, subject } = pullTx;
  const counts = { restored: 0, createdAgain: 0, leftOut: 0 };
  for await (const postings of undoSubjects(session, subject.feed, undone)) {
    const restored: DesiredChange[] = [];
    const keys: Record<'undo_withdrawal' | 'undo_delete', PostingKey[]> = { undo_withdrawal: [], undo_delete: [] };
    const leftOut: { key: PostingKey; why: UndoLeftOut }[] = [];
    for (const posting of postings) {
      const { key } = posting;
      const step = undoPosting(posting);
      switch (step.kind) {
        case 'left_out':
          leftOut.push({ key, why: step.why });
          if (step.why === 'found_in_doubt') keys.undo_withdrawal.push(key);
          break;
        case 'withdraw':
          keys.undo_withdrawal.push(key);
          break;
        case 'delete':
          keys.undo_delete.push(key);
          break;
        case 'restore': {
          const { kind: _, ...desired } = step;
          restored.push({
            desired: 'present',
            key,
            ...desired,
            recordHash: unreadHash('undone', key),
            target: 'ready',
          });
          if (step.operation === 'create') counts.createdAgain++;
          break;
        }
        default:
          step satisfies never;
      }
    }
    counts.restored += restored.length;
    counts.leftOut += leftOut.length;
    await pullTx.addSuperseding(restored);
    await collectUndone(pullTx, 'undo_withdrawal', keys.undo_withdrawal);
    await collectUndone(pullTx, 'undo_delete', keys.undo_delete);
    await collectLeftOut(pullTx, leftOut);
  }
  return counts;
}

const REASONS: Readonly<Record<UndoLeftOut, string>> = {
  changed_since: 'it has changed since that pull, or a later change of it waits',
  found_in_doubt: 'its job was found while its create was in doubt, so that pull may not have made it',
  content_unknown: 'what its job had before that pull is not known',
};

/** The lines of a merged undo: each change, then each posting that is left out. */
async function* undoLines(
  { session, subject: { feed, pull } }: PullTransaction,
  createOnly: CreateOnlyFields,
): AsyncGenerator<PlanLine> {
  yield* plannedChanges(session, feed, createOnly, pull);
  for await (const rows of readLeftOut(session)) {
    for (const { key, why } of rows)
      yield {
        feed,
        key: postingKey(key),
        operation: 'none',
        fields: {},
        kind: 'left_out',
        reason: REASONS[why],
        problems: [],
      };
  }
}

/** Why a pull cannot be undone; `undefined` if it can. @param keptDays how long former documents are kept */
export async function whyNotUndo(
  db: Queryable,
  pull: PullRow,
  { site }: Pick<FeedSetup, 'site'>,
  keptDays: number,
): Promise<Message | undefined> {
  const { id, feed } = pull;
  if (pull.site !== site) {
    return `pull ${id} of feed ${feed} was mirrored into site ${pull.site}, and the feed is configured for site ${site} now`;
  }
  if (pull.committedAt === undefined) {
    const why = pull.status === 'running' ? 'is still reading its feed' : 'failed';
    return messageOf(`pull ${id} of feed ${feed} ${why} and has changed nothing, so there is nothing to undo`, [
      { words: 'see the pulls of the feed', action: { kind: 'list_pulls', feed } },
    ]);
  }
  const last = await newestUndo(db, id);
  if (last !== undefined) return alreadyUndone(pull, last);
  if (!pull.undoable) {
    return (
      `pull ${id} of feed ${feed} is too old: what the site had before is kept for ${plural(keptDays, 'day')} ` +
      '(retention: undo_days), and only since this version'
    );
  }
  return undefined;
}

/** The undo of the pull, the undo of that one, and so on: the number of the last, and how many there are. */
async function newestUndo(db: Queryable, pull: number): Promise<{ undo: number; depth: number } | undefined> {
  let found: { undo: number; depth: number } | undefined;
  for (let id: number | undefined = await findUndoOf(db, pull); id !== undefined; id = await findUndoOf(db, id)) {
    found = { undo: id, depth: (found?.depth ?? 0) + 1 };
  }
  return found;
}

function alreadyUndone(
  { id, feed }: PullRow,
  { undo, depth }: { readonly undo: number; readonly depth: number },
): Message {
  const isUndone = depth % 2 === 1;
  return messageOf(
    isUndone
      ? `pull ${id} of feed ${feed} was undone by ${undo} already; what of it is still to be sent is sent by the next sync, start or work`
      : `the undo of pull ${id} of feed ${feed} was undone by ${undo}`,
    [{ words: isUndone ? 'to take that back' : 'to undo it again', action: { kind: 'undo_pull', pull: undo } }],
  );
}
