// Pulls one feed once: reads it, plans what differs, and commits the backlog. Sends nothing.

import { type OpenedFeed, openFeed } from '../src/feed/read-feed.ts';
import type { Wait } from '../src/feed/source/gathered-body.ts';
import { requestDigest } from '../src/feed/source/request-digest.ts';
import { PullLedger } from '../src/plan/pull-ledger.ts';
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
import { crossStep } from '../src/telemetry/fault-hook.ts';

/** A feed of some hundred postings. It is in memory as a whole before anything is done about it. */
const SMALL_FEED_BYTES = 256 * 1024;

/** How a pull ended, before anything was sent. */
export type PullEnd =
  /** The backlog is committed. */
  | { readonly kind: 'committed'; readonly pull: number; readonly complete: boolean }
  /** The source says that nothing has changed since the last complete pull. */
  | { readonly kind: 'not_modified'; readonly pull: number }
  /** Nothing could be read; nothing was changed. */
  | { readonly kind: 'failed'; readonly pull: number; readonly message: string }
  /** Another process pulls this feed right now. */
  | { readonly kind: 'busy' };

/**
 * Pulls one feed. Where the database goes away in the middle, such as in a failover, it pulls again from the start. Throws
 * only where the database can't be used for minutes or the accounts don't add up.
 */
export function pullFeed(setup: FeedSetup, context: PullContext): Promise<PullEnd> {
  return withRetry(() => pullOnce(setup, context), context.signal, {
    // Standard input was read, and is gone.
    worthAgain: (error) => setup.source.location !== '-' && isPassing(error),
    onRetry: (error) =>
      context.log.warn({ err: error, feed: setup.feed }, 'the database interrupted the pull, which starts again'),
  });
}

async function pullOnce(setup: FeedSetup, context: PullContext): Promise<PullEnd> {
  const { db, log, signal } = context;
  const { feed } = setup;
  const lock = await briefly(signal, () => lockFeed(db, feed));
  if (lock === undefined) return { kind: 'busy' };
  try {
    const begun = await briefly(signal, () => beginPull(setup, context));
    const { pull } = begun;
    crossStep('pull-started');
    try {
      // What is read without the lock is of no use: somebody else may pull the feed by now.
      const guarded = { ...context, signal: AbortSignal.any([signal, lock.lost]) };
      const end = await readAndMerge(setup, guarded, begun);
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

/** A pull that has its number. */
interface BegunPull {
  readonly pull: number;
  readonly state: FeedState | undefined;
  /** Why the feed must not be pulled as it is configured. */
  readonly refusal: string | undefined;
}

async function beginPull(setup: FeedSetup, { db, onPull }: PullContext): Promise<BegunPull> {
  const { feed, site } = setup;
  const pull = await startPull(db, feed, site);
  onPull?.(pull);
  await closeAbandonedPulls(db, feed, pull);
  const state = await readFeedState(db, feed);
  return { pull, state, refusal: await refuseFeed(db, state, setup) };
}

/** While it waits for the source it holds no connection and no place: a thousand feeds may. */
async function readAndMerge(
  setup: FeedSetup,
  context: PullContext,
  { pull, state, refusal }: BegunPull,
): Promise<PullEnd> {
  const { db, signal } = context;
  const { feed, site, source } = setup;
  if (refusal !== undefined) return fail(db, pull, refusal, 0);
  const validators = state?.validators?.request === requestDigest(source, setup) ? state.validators : undefined;
  const opened = await openFeed(source, { validators, signal });
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

/** Plans what differs between the feed and the site, and commits it. */
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
    const ledger = new PullLedger(await pullTx.loadIndex(), setup.interpretation);
    const recordPlanner = await RecordPlanner.open(setup, pullTx, ledger, db);
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

async function fail(db: Database, pull: number, message: string, bytes: number): Promise<PullEnd> {
  await failPull(db, pull, message, bytes);
  return { kind: 'failed', pull, message };
}
