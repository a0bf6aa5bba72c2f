// Turns the tables into the summary of a feed's pull: what `sync --json` prints, and whether it adds up.
import { checkAccounts } from '../../plan/accounting.ts';
import { type CommonReason, mirroredNothing } from '../../plan/nothing-mirrored.ts';
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import { countOpen, countOutcomes } from '../change/open-counts.ts';
import { commonReason } from '../change/planned-changes.ts';
import type { Database, Queryable } from '../postgres/database.ts';
import { newestHoldReason } from '../review/overview.ts';
import { countNoted, countRepaired } from './posting-notes.ts';
import { findPull } from './pull-row.ts';

/** Counts of one pull (README, "What sync prints"). Seen: unchanged to unreadable; gone: deleted to failed_deletes. */
export interface PullSummary {
  readonly feed: FeedName;
  readonly pull: number;
  readonly complete: boolean;
  readonly seen: number;
  readonly unchanged: number;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly rejected: number;
  readonly held: number;
  readonly in_doubt: number;
  readonly pending: number;
  readonly failed: number;
  readonly duplicates: number;
  readonly unreadable: number;
  readonly gone: number;
  readonly grace: number;
  readonly kept: number;
  readonly pending_deletes: number;
  readonly failed_deletes: number;
  /** Of the rejected and the unreadable: discarded by a person, so the site does not have them as the feed does. */
  readonly discarded: number;
  readonly requests: number;
  readonly bytes: number;
  readonly shortfalls: readonly string[];
  /** Entries of the feed that wait for a person. */
  readonly review: number;
  /** Postings of the feed, as read last, in which something was changed on the way: characters removed. */
  readonly cleaned: number;
  /** Key of one of them. */
  readonly cleaned_example?: PostingKey;
  /** Postings of the feed, as read last, whose records were not well-formed and were repaired (`lenient`). */
  readonly repaired: number;
  /** Key of one of them. */
  readonly repaired_example?: PostingKey;
}

/** How a committed pull stands. */
export interface PullState {
  readonly summary: PullSummary;
  /** Changes of the feed that are to be sent or are being sent, whichever pull they count towards by now. */
  readonly unsent: number;
  /** Where the pull mirrored nothing: why, mostly, and how many jobs of earlier pulls there are. */
  readonly nothingMirrored: { readonly common: CommonReason | undefined; readonly live: number } | undefined;
  /** Why deletes are held, if any are. */
  readonly holdReason: string | undefined;
  /** A later pull to which the summary's open changes count since then. */
  readonly takenOverBy: number | undefined;
}

/**
 * Summarises a committed pull as things stand now; one that a later pull has taken over, as things stood then. Throws an
 * AccountingError where law 2 does not hold.
 */
export async function summarisePull(db: Database, pull: number): Promise<PullState> {
  return db.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read read only');
    const row = await findPull(tx, pull);
    if (row === undefined) throw new Error(`there is no pull ${pull}`);
    const now = await countOpen(tx, row.feed);
    const open = row.takenOver?.leftOpen ?? now;
    const outcomeCounts = await countOutcomes(tx, pull);
    const [waiting] = await tx.query<{ n: number; discarded: number }>(
      `select (select count(*) from change where feed = $1 and state in ('rejected', 'failed', 'held', 'in_doubt'))
         + (select count(*) from record_problem where feed = $1 and not discarded) as n,
         (select coalesce(sum(records), 0) from record_problem
           where feed = $1 and discarded and kind = 'unreadable') as discarded`,
      [row.feed],
    );
    const noted = await countNoted(tx, row.feed);
    const repaired = await countRepaired(tx, row.feed);
    const { created = 0, updated = 0, deleted = 0, dropped = 0, nothing = 0, requests = 0 } = outcomeCounts;
    const { pending, in_doubt, rejected, failed, held, kept, pendingDeletes, failedDeletes } = open;
    const { seen, duplicates, unreadable, grace } = row;
    const unchanged = row.unchanged + nothing;
    const gone = row.gone - dropped;
    checkAccounts(
      { seen, unchanged, created, updated, rejected, in_doubt, pending, failed, duplicates, unreadable },
      row.complete ? { gone, deleted, held, kept, grace, pendingDeletes, failedDeletes } : undefined,
    );
    const summary = {
      feed: row.feed,
      pull,
      complete: row.complete,
      seen,
      unchanged,
      created,
      updated,
      deleted,
      rejected,
      held,
      in_doubt,
      pending,
      failed,
      duplicates,
      unreadable,
      gone,
      grace,
      kept,
      pending_deletes: pendingDeletes,
      failed_deletes: failedDeletes,
      discarded: (open.discarded ?? 0) + Math.min(unreadable, waiting?.discarded ?? 0),
      requests,
      bytes: row.bytes,
      shortfalls: row.shortfalls,
      review: waiting?.n ?? 0,
      cleaned: noted.count,
      ...(noted.example === undefined ? {} : { cleaned_example: noted.example }),
      repaired: repaired.count,
      ...(repaired.example === undefined ? {} : { repaired_example: repaired.example }),
    };
    const unsent = now.pending + now.pendingDeletes - now.doubtfulDeletes;
    const nothingMirrored = mirroredNothing(summary) ? await whyNothing(tx, row.feed) : undefined;
    const holdReason = held === 0 ? undefined : await newestHoldReason(tx, row.feed);
    return { summary, unsent, nothingMirrored, holdReason, takenOverBy: row.takenOver?.by };
  });
}

async function whyNothing(tx: Queryable, feed: FeedName): Promise<PullState['nothingMirrored']> {
  const [row] = await tx.query<{ live: number }>('select count(*) as live from mapping where feed = $1', [feed]);
  return { common: await commonReason(tx, feed), live: row?.live ?? 0 };
}
