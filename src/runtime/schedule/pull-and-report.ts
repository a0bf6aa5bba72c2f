// Pulls a feed once in `start`, and logs its report when its changes are sent.
import { pullFeed } from '../../../jobs/pull-feed.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { inReportSlot } from '../../pull/pull-slots.ts';
import { announcePull } from '../../telemetry/events.ts';
import type { App } from '../app.ts';
import { awaitQuiet } from '../await-quiet.ts';
import { type ConcludedEnd, concludePull, pullReportJson } from '../conclude-pull.ts';
import type { Engine } from '../engine.ts';
import type { RunEnd } from './scheduled-runs.ts';

interface PullOptions {
  readonly signal: AbortSignal;
  /** How many other reports wait in this process. */
  readonly besides: () => number;
  /** Receives the pull's number as soon as it has one. */
  readonly onPull?: (pull: number) => void;
}

/**
 * Resolves when the pull is committed, so the next one may start; `reported` when its changes are sent. `again`: another process
 * pulls the feed, or a person has paused its pulls, as `paused` says.
 */
export async function pullAndReport(
  app: App,
  engine: Engine,
  setup: FeedSetup,
  { signal, besides, onPull }: PullOptions,
): Promise<{ end: RunEnd; paused?: Message; reported: Promise<void> }> {
  const { db } = app;
  const startedAt = performance.now();
  const end = await pullFeed(setup, { db, log: app.log, signal, onPull });
  if (end.kind === 'busy') {
    app.log.info({ feed: setup.feed }, 'pull postponed: another process pulls this feed');
    return { end: 'again', reported: Promise.resolve() };
  }
  if (end.kind === 'paused') return { end: 'again', paused: end.message, reported: Promise.resolve() };
  return { end: 'over', reported: reportWhenSent(app, engine, setup, { signal, besides }, { end, startedAt }) };
}

/** Has the changes of a pull, or of the undo of one, sent; then concludes and reports it. */
export function reportWhenSent(
  app: App,
  engine: Engine,
  setup: FeedSetup,
  { signal, besides }: Omit<PullOptions, 'onPull'>,
  { end, startedAt }: { readonly end: ConcludedEnd; readonly startedAt: number },
): Promise<void> {
  engine.wake();
  const report = async () => {
    const rest = await awaitQuiet(app, engine, setup.site, [setup.feed], { signal, besides });
    const blocker = rest.kind === 'waiting' ? ({ ...rest, worth: 'if_unsent' } as const) : undefined;
    const durationMs = performance.now() - startedAt;
    const summary = await inReportSlot(() => concludePull(app.db, setup.feed, end, blocker, durationMs));
    const { status, seen, bytes } = summary;
    announcePull({ feed: setup.feed, status, seen, bytes, durationMs });
    const level = summary.status === 'failed' || summary.status === 'incomplete' ? 'error' : 'info';
    app.log[level](pullReportJson(summary, app.writeAction), 'pull ended');
    for (const warning of summary.warnings) {
      app.log.warn({ feed: setup.feed, pull: summary.pull }, `the mapping may be wrong: ${warning}`);
    }
  };
  return report().catch((error: unknown) => {
    app.log.error({ err: error, feed: setup.feed }, 'pull could not be reported');
  });
}
