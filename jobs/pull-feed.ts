// Pulls one feed once: reads it, plans the changes and commits them to the backlog. Sends nothing.

import { type OpenedFeed, openFeed } from '../src/feed/read-feed.ts';
import type { Wait } from '../src/feed/source/gathered-body.ts';
import { requestDigest } from '../src/feed/source/request-digest.ts';
import { kindOf } from '../src/feed/source/sources.ts';
import type { Message } from '../src/plan/message.ts';
import type { FeedSetup, PullContext } from '../src/pull/feed-setup.ts';
import { mergePull } from '../src/pull/merge-pull.ts';
import { asSmallFeed, asStreamingFeed, briefly } from '../src/pull/pull-slots.ts';
import { RecordPlanner } from '../src/pull/record-planner.ts';
import { refuseFeed } from '../src/pull/refuse-feed.ts';
import { pullUnchanged } from '../src/pull/unchanged-feed.ts';
import { type FeedState, readFeedState } from '../src/store/feed/feed-state.ts';
import { lockFeed } from '../src/store/locks/feed-locks.ts';
import type { Database } from '../src/store/postgres/database.ts';
import { isPassing } from '../src/store/postgres/transient-error.ts';
import { withRetry } from '../src/store/postgres/with-retry.ts';
import { commitUnmodified } from '../src/store/pull/pull-commit.ts';
import { closeAbandonedPulls, failPull, startPull } from '../src/store/pull/pull-row.ts';
import { type PullSubject, PullTransaction } from '../src/store/pull/pull-transaction.ts';
import { crossStep } from '../src/telemetry/steps.ts';

/** A feed of a few hundred postings; up to this size it is buffered in memory before planning starts. */
const SMALL_FEED_BYTES = 256 * 1024;

/** How a pull ended, before anything was sent. */
export type PullEnd =
  /** The backlog is committed. */
  | { readonly kind: 'committed'; readonly pull: number; readonly complete: boolean }
  /** The source says that nothing has changed since the last complete pull. */
  | { readonly kind: 'not_modified'; readonly pull: number }
  /** Nothing could be read; nothing was changed. */
  | { readonly kind: 'failed'; readonly pull: number; readonly message: Message }
  /** Another process is pulling this feed. */
  | { readonly kind: 'busy' };

/**
 * Pulls one feed. If the database goes away meanwhile, for example in a failover, the pull restarts from the beginning.
 * Throws only if the database is unusable for minutes or the pull's counts do not add up.
 */
export function pullFeed(setup: FeedSetup, context: PullContext): Promise<PullEnd> {
  return withRetry(() => pullOnce(setup, context), context.signal, {
    worthAgain: (error) => kindOf(setup.source.from).isRepeatable && isPassing(error),
    onRetry: (error) =>
      context.log.warn({ err: error, feed: setup.feed }, 'pull interrupted by a database failure, starting again'),
  });
}

async function pullOnce(setup: FeedSetup, context: PullContext): Promise<PullEnd> {
  const { db, log, signal } = context;
  const { feed } = setup;
  const lock = await briefly(signal, () => lockFeed(db, feed));
  if (lock === undefined) return { kind: 'busy' };
  try {
    const started = await briefly(signal, () => beginPull(setup, context));
    const { pull } = started;
    crossStep('pull-started');
    try {
      // Stop reading when the lock is lost: another process may pull the feed by now.
      const guarded = { ...context, signal: AbortSignal.any([signal, lock.lost]) };
      const end = await readAndMerge(setup, guarded, started);
      log.info({ feed, pull, end: end.kind }, 'feed read');
      return end;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await failPull(db, pull, message, 0).catch(() => undefined);
      throw error;
    }
  } finally {
    await lock.release();
  }
}

/** A pull that has been started and numbered. */
interface StartedPull {
  readonly pull: number;
  readonly state: FeedState | undefined;
  /** Why the feed must not be pulled with its present configuration. */
  readonly refusal: Message | undefined;
}

async function beginPull(setup: FeedSetup, { db, onPull }: PullContext): Promise<StartedPull> {
  const { feed, site } = setup;
  const pull = await startPull(db, feed, site);
  onPull?.(pull);
  await closeAbandonedPulls(db, feed, pull);
  const state = await readFeedState(db, feed);
  return { pull, state, refusal: await refuseFeed(db, state, setup) };
}

/** Holds no connection and no pull slot while waiting for the source: a thousand feeds may wait at once. */
async function readAndMerge(
  setup: FeedSetup,
  context: PullContext,
  { pull, state, refusal }: StartedPull,
): Promise<PullEnd> {
  const { db, signal } = context;
  const { feed, site, source } = setup;
  if (refusal !== undefined) return fail(db, pull, refusal, 0);
  const opened = await openFeed(source, { version: state?.version, request: requestDigest(source, setup), signal });
  if (opened.kind === 'failed') return briefly(signal, () => fail(db, pull, opened.message, opened.bytes));
  const subject = { pull, feed, site };
  if (opened.kind === 'not_modified') {
    await briefly(signal, () => commitUnmodified(db, subject));
    return { kind: 'not_modified', pull };
  }
  try {
    signal.throwIfAborted();
    const whole = await opened.gather(SMALL_FEED_BYTES);
    if (!whole) return await asStreamingFeed(signal, (wait) => plan(setup, context, subject, opened, wait));
    return await asSmallFeed(signal, async () => {
      if (!(await pullUnchanged(setup, db, subject, opened))) return plan(setup, context, subject, opened);
      crossStep('pull-committed');
      return { kind: 'committed', pull, complete: true };
    });
  } finally {
    opened.close();
  }
}

/** Plans the changes between feed and site, and commits them. */
async function plan(
  setup: FeedSetup,
  context: PullContext,
  subject: PullSubject,
  opened: OpenedFeed,
  wait?: Wait,
): Promise<PullEnd> {
  const { db, signal, onProgress } = context;
  const pullTx = await PullTransaction.open(db, subject);
  try {
    const recordPlanner = await RecordPlanner.open(setup, pullTx, db);
    const reading = await opened.read(recordPlanner, {
      onProgress,
      prefetchMapping: recordPlanner.prefetchMapping,
      wait,
    });
    signal.throwIfAborted();
    crossStep('records-read');
    if (reading.kind === 'failed') {
      await pullTx.abandon();
      return await fail(db, subject.pull, reading.message, reading.bytes);
    }
    await recordPlanner.finish();
    const { complete } = await mergePull(setup, pullTx, recordPlanner, reading);
    crossStep('pull-committed');
    return { kind: 'committed', pull: subject.pull, complete };
  } catch (error) {
    await pullTx.abandon();
    throw error;
  }
}

async function fail(db: Database, pull: number, message: Message, bytes: number): Promise<PullEnd> {
  await failPull(db, pull, message, bytes);
  return { kind: 'failed', pull, message };
}
