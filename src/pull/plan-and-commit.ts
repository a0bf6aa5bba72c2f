// Plans the records of a pull in one transaction, and commits it.
import type { FeedReading } from '../feed/feed-reading.ts';
import type { Database } from '../store/postgres/database.ts';
import { type PullSubject, PullTransaction } from '../store/pull/pull-transaction.ts';
import { crossStep } from '../telemetry/steps.ts';
import type { FeedSetup } from './feed-setup.ts';
import { mergeAndCommit } from './merge-pull.ts';
import type { RecordPlanner } from './record-planner.ts';

export interface CommittedPull {
  readonly kind: 'committed';
  readonly pull: number;
  readonly complete: boolean;
  /** Likely mistakes of the mapping, if this pull was the first to read the feed with it. */
  readonly warnings?: readonly string[];
}

/** Plans the records that wait, and commits the changes. */
export async function planAndCommit(
  setup: FeedSetup,
  pullTx: PullTransaction,
  recordPlanner: RecordPlanner,
  reading: Extract<FeedReading, { kind: 'read' }>,
): Promise<CommittedPull> {
  await recordPlanner.finish();
  const { complete, warnings } = await mergeAndCommit(setup, pullTx, recordPlanner, reading);
  crossStep('pull-committed');
  return { kind: 'committed', pull: pullTx.subject.pull, complete, warnings };
}

/** Opens the transaction of a pull for `work`, which ends it. An error undoes it. */
export async function inPullTransaction<T>(
  db: Database,
  subject: PullSubject,
  work: (pullTx: PullTransaction) => Promise<T>,
): Promise<T> {
  const pullTx = await PullTransaction.open(db, subject);
  try {
    return await work(pullTx);
  } catch (error) {
    await pullTx.abandon();
    throw error;
  }
}
