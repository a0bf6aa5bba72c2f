// Reads and merges a feed as a pull would, in a transaction that is undone.
import type { FeedReading } from '../../feed/feed-reading.ts';
import { openFeed, readFeed } from '../../feed/read-feed.ts';
import { requestDigest } from '../../feed/source/request-digest.ts';
import { rateLimiterFor } from '../../flow/rate-limiter.ts';
import type { Message } from '../../plan/message.ts';
import { hasPlaces } from '../../posting/places.ts';
import { readFeedState } from '../../store/feed/feed-state.ts';
import type { Session } from '../../store/postgres/database.ts';
import type { PullFindings } from '../../store/pull/pull-history.ts';
import { PullTransaction } from '../../store/pull/pull-transaction.ts';
import { pullClock, setupAtTime } from '../dated-records.ts';
import { type DetailedList, withDetailedList } from '../detailed-list.ts';
import { type FeedSetup, type PullContext, sourceAccess } from '../feed-setup.ts';
import { mergeWithoutCommit } from '../merge-pull.ts';
import { RecordPlanner } from '../record-planner.ts';
import { failedReading, refuseFeed } from '../refuse-feed.ts';

type Read = Extract<FeedReading, { kind: 'read' }>;

interface FailedRun {
  readonly kind: 'failed';
  readonly message: Message;
}

/** Not the number of any pull. */
export const UNSTORED_PULL = 0;

/** A feed that was read and merged in a transaction that is not committed. */
export interface DryRun {
  readonly session: Session;
  readonly recordPlanner: RecordPlanner;
  readonly findings: PullFindings;
  readonly holdReason: Message | undefined;
  /** Advice of the reading itself. */
  readonly advice: string | undefined;
  /** The version of the source, if it was read without details and has versions. */
  readonly version: string | undefined;
}

type Inspect<End> = (dryRun: DryRun) => Promise<End>;

/**
 * Reads and merges a feed as a pull would, lets `inspect` read the result, and rolls everything back. The caller holds the
 * feed's pull lock.
 */
export async function inDryRun<End>(
  setup: FeedSetup,
  context: PullContext,
  inspect: Inspect<End>,
): Promise<End | FailedRun> {
  const { db, signal, onProgress } = context;
  const { source } = setup;
  const refusal = await whyNotPlan(setup, context);
  if (refusal !== undefined) return { kind: 'failed', message: refusal };
  if (source.details !== undefined) {
    return withPlannedList(setup, context, true, (list, reading) => mergeList(setup, context, list, reading, inspect));
  }
  const access = await sourceAccess(setup, context);
  const clock = await pullClock(db, setup);
  const timed = setupAtTime(setup, clock);
  return inPlanTransaction(setup, context, async (pullTx) => {
    const recordPlanner = await RecordPlanner.open(timed, pullTx, db);
    const { prefetchMapping } = recordPlanner;
    const request = requestDigest(source, setup);
    const reading = await readFeed(source, recordPlanner, {
      request,
      signal,
      clock,
      onProgress,
      prefetchMapping,
      ...access,
    });
    signal.throwIfAborted();
    if (reading.kind !== 'read') return failedReading(reading);
    return merge(timed, pullTx, recordPlanner, reading, inspect);
  });
}

const OTHERS_REQUEST = 'a pull or another plan of this feed is running, which may be requesting them';

/** Calls `work` with the list, once it was read and its details were looked up or, if they may be, requested. */
export async function withPlannedList<End>(
  setup: FeedSetup,
  asked: PullContext,
  mayRequest: boolean,
  work: (list: DetailedList, reading: Read) => Promise<End>,
): Promise<End | FailedRun> {
  const { source } = setup;
  const access = await sourceAccess(setup, asked);
  const context = { ...asked, ...access };
  const limiter = source.details && rateLimiterFor(source.details.requestsPerSecond);
  const clock = await pullClock(context.db, setup);
  const opened = await openFeed(source, { signal: context.signal, limiter, clock, ...access });
  if (opened.kind !== 'opened') return failedReading(opened);
  try {
    const refusal = mayRequest ? undefined : OTHERS_REQUEST;
    const listContext = { ...context, limiter, refusal, mayStore: false };
    return await withDetailedList<End | FailedRun>(
      setupAtTime(setup, clock),
      listContext,
      opened,
      async (list, reading) => (reading.kind === 'failed' ? failedReading(reading) : work(list, reading)),
    );
  } finally {
    opened.close();
  }
}

/** Why the feed must not be planned. */
export async function whyNotPlan(setup: FeedSetup, { db }: PullContext): Promise<Message | undefined> {
  return refuseFeed(db, await readFeedState(db, setup.feed), setup);
}

/** Opens a transaction that is undone. */
export async function inPlanTransaction<End>(
  { feed, site, policy, expireAfterDays, mapping }: FeedSetup,
  { db }: Pick<PullContext, 'db'>,
  work: (pullTx: PullTransaction) => Promise<End>,
): Promise<End> {
  const subject = { pull: UNSTORED_PULL, feed, site, policy, expireAfterDays, hasPlaces: hasPlaces(mapping) };
  const pullTx = await PullTransaction.open(db, subject);
  try {
    return await work(pullTx);
  } finally {
    await pullTx.abandon();
  }
}

/** Reads and merges the records of a list whose details were requested. The caller holds the feed's pull lock. */
export function mergeList<End>(
  setup: FeedSetup,
  context: PullContext,
  list: DetailedList,
  reading: Read,
  inspect: Inspect<End>,
): Promise<End> {
  const timed = { ...setup, clock: list.clock };
  return inPlanTransaction(setup, context, async (pullTx) =>
    merge(timed, pullTx, await RecordPlanner.ofList(timed, pullTx, context.db, list), reading, inspect),
  );
}

async function merge<End>(
  setup: FeedSetup,
  pullTx: PullTransaction,
  recordPlanner: RecordPlanner,
  reading: Read,
  inspect: Inspect<End>,
): Promise<End> {
  await recordPlanner.finish();
  const { findings, holdReason } = await mergeWithoutCommit(setup, pullTx, recordPlanner, reading);
  const { advice, version } = reading;
  return inspect({ session: pullTx.session, recordPlanner, findings, holdReason, advice, version });
}
