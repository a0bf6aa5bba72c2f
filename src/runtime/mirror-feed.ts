// Mirrors one feed once: pulls it, has its changes sent, and reports what became of each posting.

import { type PullEnd, pullFeed } from '../../jobs/pull-feed.ts';
import type { FeedSetup } from '../pull/feed-setup.ts';
import { countUnsent } from '../store/backlog/progress.ts';
import { withRetry } from '../store/postgres/with-retry.ts';
import { readSiteState } from '../store/site/site-state.ts';
import { formatBytes, formatSeconds, type Progress, seldom } from '../telemetry/progress.ts';
import type { App } from './app.ts';
import { awaitQuiet, describePause, INTERRUPTED } from './await-quiet.ts';
import type { Engine } from './engine.ts';
import { UserError } from './exit-status.ts';
import { type Blocker, type PullReport, reportPull } from './pull-report.ts';

export interface MirrorOptions {
  readonly signal: AbortSignal;
  readonly progress?: Progress;
  /** Told the pull's number as soon as it has one. */
  readonly onPull?: (pull: number) => void;
  /** Ends the sending of this process; asked for after an interruption, so that what was in flight is in the report. */
  readonly stopSending?: () => Promise<void>;
}

const BUSY_RETRY_MS = 1_000;

/**
 * Pulls, sends and reports one feed. Waits while another process pulls the same feed.
 * @param sending starts sending, or gives what sends already. It is asked for once the pull has ended, so that what was
 * left over is sent as the feed wants it now, and counts towards this pull.
 */
export async function mirrorFeed(
  app: App,
  sending: () => Promise<Engine>,
  setup: FeedSetup,
  options: MirrorOptions,
): Promise<PullReport> {
  const startedAt = performance.now();
  const end = await pullWhenFree(app, setup, options);
  const blocker = await sendAll(app, sending, setup, options);
  if (options.signal.aborted) await options.stopSending?.();
  const report = () => reportPull(app.db, setup.feed, end, blocker, performance.now() - startedAt);
  return withRetry(report, options.signal);
}

async function pullWhenFree(
  app: App,
  setup: FeedSetup,
  { signal, progress, onPull }: MirrorOptions,
): Promise<Exclude<PullEnd, { kind: 'busy' }>> {
  const startedAt = performance.now();
  for (;;) {
    const end = await pullFeed(setup, {
      db: app.db,
      log: app.log,
      signal,
      onPull,
      onProgress: ({ bytes, records, compressedBytes, totalCompressedBytes }) => {
        const seconds = (performance.now() - startedAt) / 1000;
        const share = totalCompressedBytes === undefined ? undefined : compressedBytes / totalCompressedBytes;
        const left = share === undefined || share === 0 ? '' : `, ${formatSeconds(seconds / share - seconds)} left`;
        progress?.show(
          `${setup.feed}: reading, ${records} records, ${formatBytes(bytes)}, ${formatBytes(bytes / seconds)}/s${left}`,
        );
      },
    });
    if (end.kind !== 'busy') return end;
    progress?.show(`${setup.feed}: another process pulls this feed, waiting for it`);
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
  }
}

/** Sends until nothing is left that makes sense to wait for. A queue that can't be used leaves everything to the next run. */
async function sendAll(
  app: App,
  sending: () => Promise<Engine>,
  setup: FeedSetup,
  { signal, progress }: MirrorOptions,
): Promise<Blocker | undefined> {
  // What was stopped is not started again.
  if (signal.aborted) return { worth: 'if_unsent', message: INTERRUPTED };
  let engine: Engine;
  try {
    engine = await sending();
  } catch (error) {
    if (error instanceof UserError) return { worth: 'always', message: error.message };
    throw error;
  }
  engine.wake();
  const onCheck = progress === undefined ? undefined : await showSending(app, setup, progress, signal);
  const rest = await awaitQuiet(app, engine, setup.site, [setup.feed], { signal, onCheck });
  if (rest.kind === 'waiting') return { worth: 'if_unsent', message: rest.message };
  const state = await withRetry(
    () => readSiteState(app.db, setup.site, engine.siteContexts.get(setup.site)?.tokenDigest),
    signal,
  );
  if (state.pausedSince === undefined) return undefined;
  return { worth: state.movedTo === undefined ? 'always' : 'decisive', message: describePause(setup.site, state) };
}

/** Gives what shows how many changes are left. A million are not counted at every look. */
async function showSending(
  { db }: App,
  { feed }: FeedSetup,
  progress: Progress,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const startedAt = performance.now();
  const first = await withRetry(() => countUnsent(db, [feed]), signal);
  return seldom(async () => {
    const left = await countUnsent(db, [feed]);
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = (first - left) / seconds;
    const estimate = rate > 0 ? `, ${formatSeconds(left / rate)} left` : '';
    progress.show(`${feed}: sending, ${left} of ${first} left, ${rate.toFixed(0)}/s${estimate}`);
  });
}
