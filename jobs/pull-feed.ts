// Pulls one feed once: reads it, plans the changes and commits them to the backlog. Sends nothing.

import { type OpenedFeed, openFeed } from '../src/feed/read-feed.ts';
import { requestDigest } from '../src/feed/source/request-digest.ts';
import type { WaitForBytes } from '../src/feed/source/several-source.ts';
import { kindOf } from '../src/feed/source/sources.ts';
import { type RateLimiter, rateLimiterFor } from '../src/flow/rate-limiter.ts';
import { createOnlyOf } from '../src/plan/desired-change.ts';
import type { Message } from '../src/plan/message.ts';
import { tellPauses, tellStopped } from '../src/plan/pause-words.ts';
import { membershipRule } from '../src/posting/fingerprint.ts';
import { hasPlaces } from '../src/posting/places.ts';
import { anyDateDue, pullClock, setupAtTime } from '../src/pull/dated-records.ts';
import { anyDetailDue, withDetailedList } from '../src/pull/detailed-list.ts';
import { type FeedSetup, type PullContext, sourceAccess } from '../src/pull/feed-setup.ts';
import { type CommittedPull, inPullTransaction, planAndCommit } from '../src/pull/merge-pull.ts';
import { inBriefSlot, inDetailedFeedSlot, inSmallFeedSlot, inStreamingFeedSlot } from '../src/pull/pull-slots.ts';
import { RecordPlanner } from '../src/pull/record-planner.ts';
import { refuseFeed } from '../src/pull/refuse-feed.ts';
import { pullUnchanged } from '../src/pull/unchanged-feed.ts';
import { type FeedState, readFeedState } from '../src/store/feed/feed-state.ts';
import { type FeedLock, lockFeed } from '../src/store/locks/feed-locks.ts';
import { readPausesOf } from '../src/store/locks/pauses.ts';
import type { Database } from '../src/store/postgres/database.ts';
import { isPassing, withRetry } from '../src/store/postgres/transient-error.ts';
import { anyExpiryDue } from '../src/store/pull/posting-expiry.ts';
import { commitUnmodified } from '../src/store/pull/pull-commit.ts';
import { failPull, startPull } from '../src/store/pull/pull-history.ts';
import type { PullSubject } from '../src/store/pull/pull-transaction.ts';
import { concludeFormerPulls } from '../src/store/status/pull-summary.ts';
import { inSpan } from '../src/telemetry/spans.ts';
import { crossStep, formatTime } from '../src/telemetry/times.ts';

/** A feed of a few hundred postings with long descriptions; up to this size it is buffered in memory before planning starts. */
const SMALL_FEED_BYTES = 512 * 1024;

/** How a pull ended, before anything was sent. */
export type PullEnd =
  /** The backlog is committed. */
  | CommittedPull
  /** The source says that nothing has changed since the last complete pull. */
  | { readonly kind: 'not_modified'; readonly pull: number }
  /** Nothing could be read; nothing was changed. */
  | { readonly kind: 'failed'; readonly pull: number; readonly message: Message }
  /** Another process is pulling this feed. */
  | { readonly kind: 'busy' }
  /** A person has paused its pulls; nothing was read. */
  | { readonly kind: 'paused'; readonly message: Message };

/**
 * Pulls one feed. If the database goes away meanwhile, for example in a failover, the pull restarts from the beginning.
 * Throws only if the database is unusable for minutes or the pull's counts do not add up.
 */
export function pullFeed(setup: FeedSetup, context: PullContext): Promise<PullEnd> {
  const { feed, source } = setup;
  const pull = () => inSpan('pull feed', { 'jobmirror.feed': feed }, () => pullOnce(setup, context));
  return withRetry(pull, context.signal, {
    worthAgain: (error) => kindOf(source.from).isRepeatable && isPassing(error),
    onRetry: (error) =>
      context.log.warn({ err: error, feed }, 'pull interrupted by a database failure, starting again'),
  });
}

async function pullOnce(setup: FeedSetup, context: PullContext): Promise<PullEnd> {
  const { db, log, signal } = context;
  const { feed, site } = setup;
  const pauses = (await readPausesOf(db, { feed, site })).filter(({ stopsPulls }) => stopsPulls);
  if (pauses.length > 0) return { kind: 'paused', message: tellPauses(pauses, formatTime) };
  const lock = await inBriefSlot(signal, () => lockFeed(db, feed));
  if (lock === undefined) return { kind: 'busy' };
  try {
    const started = await inBriefSlot(signal, () => beginPull(setup, context));
    const { pull } = started;
    crossStep('pull-started');
    try {
      // Stop reading when the lock is lost: another process may pull the feed by now.
      const access = await sourceAccess(setup, context);
      const guarded = { ...context, ...access, signal: AbortSignal.any([signal, lock.lost]) };
      const end = await readAndMerge(setup, guarded, started, lock);
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
  await concludeFormerPulls(db, feed, pull);
  const state = await readFeedState(db, feed);
  const stopped = state?.stopped && tellStopped(feed, state.stopped);
  return { pull, state, refusal: stopped ?? (await refuseFeed(db, state, setup)) };
}

/** Holds no connection and no pull slot while waiting for the source: a thousand feeds may wait at once. */
async function readAndMerge(
  configured: FeedSetup,
  context: PullContext,
  { pull, state, refusal }: StartedPull,
  lock: FeedLock,
): Promise<PullEnd> {
  const { db, signal, network, uploads } = context;
  const { feed, site, source } = configured;
  if (refusal !== undefined) return fail(db, pull, refusal, 0);
  const limiter = source.details && rateLimiterFor(source.details.requestsPerSecond);
  const clock = await pullClock(db, configured);
  const setup = setupAtTime(configured, clock);
  // Details that are due are requested, postings expire, and dates pass, even if the list is unchanged.
  const isDue =
    (await anyDetailDue(db, setup)) ||
    (await anyExpiryDue(db, feed, setup.expireAfterDays)) ||
    (await anyDateDue(db, setup));
  // Some sources derive their ETag or Last-Modified from the newest posting only, so "not modified" may hide a change.
  const mayAnswerNotModified = state?.isReadDaily === true || kindOf(source.from).hasOwnVersions === true;
  const version = isDue || !mayAnswerNotModified ? undefined : state?.version;
  const request = requestDigest(source, setup);
  const opened = await openFeed(source, { version, request, signal, limiter, clock, network, uploads });
  if (opened.kind === 'failed') return inBriefSlot(signal, () => fail(db, pull, opened.message, opened.bytes));
  const subject = {
    pull,
    feed,
    site,
    createOnly: createOnlyOf(setup.mapping),
    policy: setup.policy,
    membership: membershipRule(setup),
    expireAfterDays: setup.expireAfterDays,
    hasPlaces: hasPlaces(setup.mapping),
  };
  if (opened.kind === 'not_modified') {
    await inBriefSlot(signal, () => commitUnmodified(db, subject));
    return { kind: 'not_modified', pull };
  }
  // The stored warnings of a feed without records may be about the feed, which has records again.
  const samplesKnown = state?.sawNothing === true;
  try {
    signal.throwIfAborted();
    const whole = await opened.gather(SMALL_FEED_BYTES);
    const planSlowly = () =>
      source.details === undefined
        ? inStreamingFeedSlot(signal, (wait) => plan(setup, context, subject, opened, { wait, samplesKnown }))
        : planWithDetails(setup, context, subject, opened, lock, { limiter, samplesKnown });
    if (!whole) return await planSlowly();
    const end = await inSmallFeedSlot(signal, async (): Promise<PullEnd | undefined> => {
      if (isDue || samplesKnown || !(await pullUnchanged(setup, db, subject, opened))) {
        // Waiting for details must not hold up the small feeds.
        return source.details === undefined ? plan(setup, context, subject, opened, { samplesKnown }) : undefined;
      }
      crossStep('pull-committed');
      return { kind: 'committed', pull, complete: true };
    });
    return end ?? (await planSlowly());
  } finally {
    opened.close();
  }
}

/** Plans the changes between feed and site while the feed streams, and commits them. */
function plan(
  setup: FeedSetup,
  { db, signal, onProgress }: PullContext,
  subject: PullSubject,
  opened: OpenedFeed,
  { wait, samplesKnown }: { readonly wait?: WaitForBytes; readonly samplesKnown: boolean },
): Promise<PullEnd> {
  return inPullTransaction(db, subject, async (pullTx): Promise<PullEnd> => {
    const recordPlanner = await RecordPlanner.open(setup, pullTx, db, samplesKnown);
    const { prefetchMapping } = recordPlanner;
    const reading = await opened.read(recordPlanner, { onProgress, prefetchMapping, wait });
    signal.throwIfAborted();
    crossStep('records-read');
    if (reading.kind === 'failed') {
      await pullTx.abandon();
      return fail(db, subject.pull, reading.message, reading.bytes);
    }
    return planAndCommit(setup, pullTx, recordPlanner, reading);
  });
}

/** The same for a list whose details are requested before the transaction: people edit and plan while the source answers. */
async function planWithDetails(
  setup: FeedSetup,
  context: PullContext,
  subject: PullSubject,
  opened: OpenedFeed,
  lock: FeedLock,
  how: { readonly limiter?: RateLimiter; readonly samplesKnown: boolean },
): Promise<PullEnd> {
  const { db, signal } = context;
  await lock.openToEdits();
  return inDetailedFeedSlot(signal, () =>
    withDetailedList(
      setup,
      { ...context, ...how, pull: subject.pull, mayStore: true },
      opened,
      async (list, reading) => {
        if (reading.kind === 'failed') return fail(db, subject.pull, reading.message, reading.bytes);
        return inStreamingFeedSlot(signal, async (wait) => {
          await wait(lock.closeToEdits(signal));
          return inPullTransaction(db, subject, async (pullTx) => {
            const recordPlanner = await RecordPlanner.ofList(setup, pullTx, db, list);
            signal.throwIfAborted();
            return planAndCommit(setup, pullTx, recordPlanner, reading);
          });
        });
      },
    ),
  );
}

async function fail(db: Database, pull: number, message: Message, bytes: number): Promise<PullEnd> {
  await failPull(db, pull, message, bytes);
  return { kind: 'failed', pull, message };
}
