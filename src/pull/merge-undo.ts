// Merges the undo of a pull in a pull's transaction: the reverse of each change, within the delete guard.
import type { CreateOnlyFields } from '../plan/create-only-fields.ts';
import { heldBecause, judgeDeletes } from '../plan/delete-guard.ts';
import { type DesiredChange, messageOfReason, type Reason } from '../plan/desired-change.ts';
import type { Message } from '../plan/message.ts';
import { type UndoLeftOut, undoPosting } from '../plan/undo-posting.ts';
import { type PostingKey, postingKey } from '../posting/identifiers.ts';
import { plannedChanges } from '../store/backlog/planned-changes.ts';
import { renewUndone } from '../store/change/merge/expire-in-pull.ts';
import { deleteLoad } from '../store/change/merge/mark-missing.ts';
import { mergeChanges } from '../store/change/merge/merge-planned.ts';
import {
  collectLeftOut,
  collectUndone,
  countUndoDeletes,
  deleteUndone,
  leaveOthersUncounted,
  openUndo,
  readLeftOut,
  undoSubjects,
  withdrawUndone,
} from '../store/change/merge/undo-changes.ts';
import { doubtCreatesWithJobs } from '../store/change/recognise-jobs.ts';
import { endRekeyWithoutNew } from '../store/change/rekey/collect-rekey.ts';
import { lockOutcomes } from '../store/locks/advisory-locks.ts';
import { takeOver } from '../store/pull/pull-commit.ts';
import type { PullTransaction } from '../store/pull/pull-transaction.ts';
import { unreadHash } from '../store/pull/unread-hash.ts';
import type { FeedSetup } from './feed-setup.ts';
import type { PlanLine } from './plan-lines.ts';

/** What an undo does, in postings. */
export interface UndoFindings {
  /** Set back, or created again, once requests in flight have ended. */
  readonly restored: number;
  /** Those of them that have no job now: they get new job IDs. */
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
export async function mergeUndo(setup: FeedSetup, pullTx: PullTransaction, undone: number): Promise<UndoFindings> {
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
export async function* undoLines(
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
