// The sums of a pull: what its postings became, which must add up to what it saw and to what was gone.
import { AccountingError, checkAccounts, type GoneCounts, type SeenCounts } from '../plan/accounting.ts';
import { countOpen, countOutcomes } from '../store/backlog/open-counts.ts';
import type { Database } from '../store/postgres/database.ts';
import type { PullEffect } from '../store/pull/pull-history.ts';
import { findPull, type PullRow } from '../store/pull/pull-row.ts';

export interface PullSums {
  readonly pull: PullRow;
  readonly seen: SeenCounts;
  /** `undefined`: the pull is not proven complete, so no posting counts as gone. */
  readonly gone: GoneCounts | undefined;
  readonly requests: number;
  /** What it has changed on the site so far. */
  readonly effects: Readonly<Record<PullEffect, number>>;
  /** Why the counts do not add up, which is a bug in jobmirror. */
  readonly fault: string | undefined;
}

/**
 * As of now, or, if a later pull took the feed over, as of that moment. Returns `undefined` if there is no such pull. Before a
 * pull is committed nothing became of its postings, so the sums of one are all zero.
 */
export async function readPullSums(db: Database, id: number): Promise<PullSums | undefined> {
  return db.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read read only');
    const pull = await findPull(tx, id);
    if (pull === undefined) return undefined;
    const isCounted = pull.committedAt !== undefined;
    const open = isCounted ? (pull.takenOver?.leftOpen ?? (await countOpen(tx, pull.feed))) : undefined;
    const outcomes = await countOutcomes(tx, id);
    const { created = 0, updated = 0, deleted = 0, dropped = 0, nothing = 0, requests = 0 } = outcomes;
    const seen: SeenCounts = {
      seen: pull.seen,
      unchanged: pull.unchanged + nothing,
      created,
      updated,
      rejected: open?.rejected ?? 0,
      in_doubt: open?.in_doubt ?? 0,
      pending: open?.pending ?? 0,
      failed: open?.failed ?? 0,
      duplicates: pull.duplicates,
      unreadable: pull.unreadable,
      skipped: pull.skipped,
    };
    const gone: GoneCounts | undefined = pull.complete
      ? {
          gone: pull.gone - dropped,
          deleted,
          held: open?.held ?? 0,
          grace: pull.grace,
          kept: open?.kept ?? 0,
          pendingDeletes: open?.pendingDeletes ?? 0,
          failedDeletes: open?.failedDeletes ?? 0,
        }
      : undefined;
    const effects = { created, updated, deleted };
    return { pull, seen, gone, requests, effects, fault: isCounted ? faultOf(seen, gone) : undefined };
  });
}

function faultOf(seen: SeenCounts, gone: GoneCounts | undefined): string | undefined {
  try {
    checkAccounts(seen, gone);
    return undefined;
  } catch (error) {
    if (error instanceof AccountingError) return error.message;
    throw error;
  }
}
