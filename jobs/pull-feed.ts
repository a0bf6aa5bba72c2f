// Pulls one feed once: reads it, plans what differs, and commits the backlog. Sends nothing.
import type { Logger } from 'pino';
import type { FeedReading } from '../src/feed/feed-reading.ts';
import { type FeedProgress, readFeed } from '../src/feed/read-feed.ts';
import { requestDigest } from '../src/feed/request-digest.ts';
import { PullLedger } from '../src/plan/pull-ledger.ts';
import type { Database } from '../src/store/database.ts';
import { readFeedState, refuseOvertaken } from '../src/store/feed-state.ts';
import { lockKey, seizeFeed, tryLock } from '../src/store/locks.ts';
import { isPassing } from '../src/store/passing-error.ts';
import { patiently } from '../src/store/patience.ts';
import { closeAbandonedPulls, failPull, startPull } from '../src/store/pull.ts';
import { PullBooks } from '../src/store/pull-books.ts';
import { commitUnmodified } from '../src/store/pull-commit.ts';
import { crossStep } from './fault-hook.ts';
import type { FeedSetup } from './feed-setup.ts';
import { mergePull } from './merge-pull.ts';
import { RecordDesk } from './record-desk.ts';
import { refuseFeed } from './refuse-feed.ts';

export interface PullContext {
  readonly db: Database;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: FeedProgress) => void;
  /** Told the pull's number as soon as it has one. */
  readonly onPull?: (pull: number) => void;
}

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
  return patiently(() => pullOnce(setup, context), context.signal, {
    // Standard input was read, and is gone.
    worthAgain: (error) => setup.source.location !== '-' && isPassing(error),
    onRetry: (error) =>
      context.log.warn({ err: error, feed: setup.feed }, 'pull broken off by the database, it begins again'),
  });
}

async function pullOnce(setup: FeedSetup, context: PullContext): Promise<PullEnd> {
  const { db, log } = context;
  const { feed, site } = setup;
  const lock = await tryLock(db, lockKey('pull', feed));
  if (lock === undefined) return { kind: 'busy' };
  try {
    const pull = await startPull(db, feed, site);
    context.onPull?.(pull);
    await closeAbandonedPulls(db, feed, pull);
    crossStep('pull-started');
    try {
      const end = await readAndMerge(setup, context, pull);
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

async function readAndMerge(setup: FeedSetup, context: PullContext, pull: number): Promise<PullEnd> {
  const { db, signal, onProgress } = context;
  const { feed, site, source, interpretation } = setup;
  const state = await readFeedState(db, feed);
  const refusal = await refuseFeed(db, state, setup);
  if (refusal !== undefined) return fail(db, pull, refusal, 0);

  const books = await PullBooks.open(db, { pull, feed, site });
  try {
    const ledger = new PullLedger(await books.loadIndex(), interpretation);
    const desk = await RecordDesk.open(setup, books, ledger, db);
    const validators = state?.validators?.request === requestDigest(source, setup) ? state.validators : undefined;
    const reading = await readFeed(source, desk, { validators, signal, onProgress, readAheadBy: desk.readAheadBy });
    signal.throwIfAborted();
    crossStep('records-read');
    return await conclude(setup, context, books, desk, reading);
  } catch (error) {
    await books.abandon();
    throw error;
  }
}

async function conclude(
  setup: FeedSetup,
  context: PullContext,
  books: PullBooks,
  desk: RecordDesk,
  reading: FeedReading,
): Promise<PullEnd> {
  const { pull, feed } = books.subject;
  switch (reading.kind) {
    case 'failed':
      await books.abandon();
      return fail(context.db, pull, reading.message, reading.bytes);
    case 'not_modified':
      await seizeFeed(books.session, feed);
      await refuseOvertaken(books.session, feed, pull);
      await commitUnmodified(books);
      return { kind: 'not_modified', pull };
    case 'read': {
      await desk.finish();
      const { complete } = await mergePull(setup, books, desk, reading);
      crossStep('pull-committed');
      return { kind: 'committed', pull, complete };
    }
    default:
      return reading satisfies never;
  }
}

async function fail(db: Database, pull: number, message: string, bytes: number): Promise<PullEnd> {
  await failPull(db, pull, message, bytes);
  return { kind: 'failed', pull, message };
}
