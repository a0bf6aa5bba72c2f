// Plans one feed as a pull would, reports what would be sent, and rolls everything back.

import { formatOf } from '../../feed/format/formats.ts';
import { openFeed } from '../../feed/read-feed.ts';
import { requestDigest } from '../../feed/source/request-digest.ts';
import { kindOf } from '../../feed/source/sources.ts';
import { createOnlyOf } from '../../plan/desired-change.ts';
import type { Message } from '../../plan/message.ts';
import type { CommonReason } from '../../plan/set-up-suspicion.ts';
import { interpretedHash } from '../../posting/hash.ts';
import { dateConditionsOf } from '../../posting/paths/mapping-paths.ts';
import type { PlannedCounts } from '../../store/backlog/planned-changes.ts';
import { commonReason, countPlanned } from '../../store/backlog/planned-changes.ts';
import { type UnmappedPosting, unmappedPostings } from '../../store/backlog/unmapped-postings.ts';
import { readFeedState } from '../../store/feed/feed-state.ts';
import { lockFeed, lockPlanning } from '../../store/locks/feed-locks.ts';
import type { PullFindings } from '../../store/pull/pull-history.ts';
import { clearRecordProblems, noteUnreadable } from '../../store/pull/record-problems.ts';
import { type FeedSetup, type PullContext, sourceAccess } from '../feed-setup.ts';
import { type PlanLine, planLines, spoolLines, withSpool } from './trial-counts.ts';
import { type DryRun, inDryRun, mergeList, UNSTORED_PULL, whyNotPlan, withPlannedList } from './undone-pull.ts';

/** The result of planning a feed. */
export type PlanEnd =
  | ({
      readonly kind: 'planned';
      /** The most frequent reason for not sending a posting. */
      readonly common: CommonReason | undefined;
      readonly holdReason: Message | undefined;
      /** Likely mistakes of the mapping, if no earlier pull has read the feed with it. */
      readonly warnings: readonly string[];
    } & PlannedCounts &
      Pick<
        PullFindings,
        'seen' | 'unchanged' | 'unreadable' | 'duplicates' | 'skipped' | 'expired' | 'grace' | 'shortfalls'
      >)
  | { readonly kind: 'failed'; readonly message: Message }
  | { readonly kind: 'busy' };

/** Plans one feed. `print` receives the lines once the database and the feed's lock are released. */
export function planFeed(
  setup: FeedSetup,
  context: PullContext,
  print: (line: PlanLine) => void | Promise<void>,
): Promise<PlanEnd> {
  const plan = setup.source.details === undefined ? planStreaming : planWithDetails;
  return withSpool((spool) => plan(spool, setup, context), print);
}

/** Plans while the feed streams. */
async function planStreaming(spool: string, setup: FeedSetup, context: PullContext): Promise<PlanEnd> {
  const lock = await lockFeed(context.db, setup.feed);
  if (lock === undefined) return BUSY;
  try {
    return await inDryRun(setup, context, (dryRun) => planInto(spool, setup, dryRun));
  } finally {
    await lock.release();
  }
}

/**
 * Plans a list whose details are requested before the transaction. While a pull of the feed requests details, the plan requests
 * none, so that the source's rate is kept.
 */
async function planWithDetails(spool: string, setup: FeedSetup, context: PullContext): Promise<PlanEnd> {
  const { db, signal } = context;
  const refusal = await whyNotPlan(setup, context);
  if (refusal !== undefined) return { kind: 'failed', message: refusal };
  const lock = await lockFeed(db, setup.feed);
  const before = (await readFeedState(db, setup.feed))?.currentPull;
  try {
    await lock?.openToEdits();
    const planned = await withPlannedList(setup, context, lock !== undefined, async (list, reading) => {
      const own = lock ?? (await lockPlanning(db, setup.feed, signal));
      if (own === undefined) return BUSY;
      try {
        await lock?.closeToEdits(signal);
        // What was known when the list was read may belong to other records by now.
        if ((await readFeedState(db, setup.feed))?.currentPull !== before) return OVERTAKEN;
        return await mergeList(setup, context, list, reading, (dryRun) => planInto(spool, setup, dryRun));
      } finally {
        if (lock === undefined) await own.release();
      }
    });
    if (planned.kind !== 'overtaken') return planned;
  } finally {
    await lock?.release();
  }
  return planWithDetails(spool, setup, context);
}

const BUSY = { kind: 'busy' } as const;
/** Another pull was committed while the plan waited for it. */
const OVERTAKEN = { kind: 'overtaken' } as const;

/** Writes the lines of the plan to a file. */
async function planInto(
  spool: string,
  { feed, mapping }: FeedSetup,
  { session, recordPlanner, findings, holdReason, advice }: DryRun,
): Promise<PlanEnd> {
  const { records } = recordPlanner.unusable.unreadable();
  // Replace the entries within the rolled-back transaction, so only the records of this reading are counted.
  await clearRecordProblems(session, feed, { unreadable: [], others: [] });
  await noteUnreadable(
    session,
    feed,
    UNSTORED_PULL,
    records.map((each) => ({ records: each, entry: undefined })),
  );
  await spoolLines(spool, planLines(session, feed, createOnlyOf(mapping), records));
  const counts = await countPlanned(session, feed);
  const common = await commonReason(session, feed);
  const warnings = advice === undefined ? (recordPlanner.mistakes() ?? []) : [advice];
  return { kind: 'planned', ...findings, ...counts, common, holdReason, warnings };
}

// Reads a feed to adopt jobs, and writes nothing: the postings that have no job, or whether the feed still has a record
// as it was read.

type ReadUnmappedEnd =
  /**
   * `shortfalls`: why the feed may have further postings; empty if it has none. `version`: of the source, for its next opening;
   * `undefined` if it has none.
   */
  | {
      readonly kind: 'read';
      readonly seen: number;
      readonly shortfalls: readonly Message[];
      readonly version: string | undefined;
    }
  | { readonly kind: 'failed'; readonly message: Message };

/**
 * The caller holds the feed's pull lock. `take` receives the postings in portions: also those that have expired, as the site may have
 * jobs of them that the database does not know.
 */
export function readUnmapped(
  setup: FeedSetup,
  context: PullContext,
  take: (postings: readonly UnmappedPosting[]) => Promise<void>,
): Promise<ReadUnmappedEnd> {
  return inDryRun({ ...setup, expireAfterDays: undefined }, context, async ({ session, findings, version }) => {
    for await (const postings of unmappedPostings(session, setup.feed)) await take(postings);
    return { kind: 'read', seen: findings.seen, shortfalls: findings.shortfalls, version } as const;
  });
}

// Finds out, without planning the feed, whether it still has a record as it was read: by the version of the source, or by the record's bytes.

/** A record as it was read before. */
export interface EarlierRecord {
  /** As it is stored; see `interpretedHash`. */
  readonly recordHash: Buffer;
  /** The version of the source; `undefined` if it has none. */
  readonly version: string | undefined;
}

export type AsReadEnd =
  | { readonly kind: 'same' }
  /** The record is another one by now, or this cannot be told without reading the feed as a pull does. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly message: Message };

/** The caller holds the feed's pull lock. Stops reading at the record. */
export async function stillAsRead(
  setup: FeedSetup,
  context: PullContext,
  { recordHash, version }: EarlierRecord,
): Promise<AsReadEnd> {
  const { source, interpretation } = setup;
  if (!tellsByRecord(setup)) return { kind: 'unknown' };
  const refusal = await whyNotPlan(setup, context);
  if (refusal !== undefined) return { kind: 'failed', message: refusal };
  const found = new AbortController();
  const signal = AbortSignal.any([context.signal, found.signal]);
  // As the postings without a job were read (`readUnmapped`).
  const request = requestDigest(source, { ...setup, expireAfterDays: undefined });
  const opened = await openFeed(source, { version, request, signal, ...(await sourceAccess(setup, context)) });
  if (opened.kind === 'not_modified') return { kind: 'same' };
  if (opened.kind === 'failed') return opened;
  try {
    const reading = await opened.read(
      {
        take(batch) {
          for (let record = 0; record < batch.count; record++)
            if (interpretedHash(batch.hashes, batch.hashAt(record), interpretation).equals(recordHash)) found.abort();
        },
        drain: () => undefined,
      },
      // A thread would hand over records later than they arrive.
      { threadsFromBytes: Number.POSITIVE_INFINITY },
    );
    if (found.signal.aborted) return { kind: 'same' };
    return reading.kind === 'failed' ? reading : { kind: 'unknown' };
  } catch (error) {
    context.signal.throwIfAborted();
    if (found.signal.aborted) return { kind: 'same' };
    throw error;
  } finally {
    opened.close();
  }
}

/** Whether an unchanged record means an unchanged posting: not with details, nor where a record is no posting any more after some time. */
const tellsByRecord = ({ source, mapping }: FeedSetup): boolean =>
  source.details === undefined &&
  formatOf(source.format).dependsOnTime !== true &&
  dateConditionsOf(mapping).length === 0 &&
  kindOf(source.from).isRepeatable;
