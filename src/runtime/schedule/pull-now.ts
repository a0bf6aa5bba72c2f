// Pulls feeds of `start` when somebody asks, besides their schedules.
import { pullFeed } from '../../../jobs/pull-feed.ts';
import { namedFeeds } from '../../config/config.ts';
import { endsWithin, pause } from '../../flow/pause.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { inReportSlot } from '../../pull/pull-slots.ts';
import { feedsToPullYet } from '../../store/access/audit.ts';
import { listPulls } from '../../store/pull/pull-history.ts';
import { announcePull } from '../../telemetry/events.ts';
import type { App } from '../app.ts';
import { awaitSending } from '../await-quiet.ts';
import { concludePull, type PullEndToConclude, pullReportJson } from '../conclude-pull.ts';
import type { Engine } from '../engine.ts';
import type { CommittedUndo } from '../undo-feed-pull.ts';
import type { RunEnd } from './scheduled-runs.ts';

/** What became of a request to pull a feed. */
export type PullStart =
  | { readonly kind: 'started'; readonly pull: number }
  /** The feed is being pulled already: by this pull, if it is known. */
  | { readonly kind: 'busy'; readonly pull: number | undefined }
  /** A person has paused its pulls. */
  | { readonly kind: 'paused'; readonly message: Message }
  /** This process can't pull it. */
  | { readonly kind: 'unusable'; readonly message: string };

/** What became of a notice that a feed has changed. */
export type PullSoon = Exclude<PullStart, { kind: 'busy' | 'paused' }> | { readonly kind: 'queued' };

interface PullNow {
  pull(feed: FeedName): Promise<PullStart>;
  /**
   * A pull that runs may have read the feed before it changed, so another one follows it, as one follows a pause. However many ask, one
   * follows.
   */
  soon(feed: FeedName): Promise<PullSoon>;
  /** Sends, concludes and reports it. */
  undone(undo: CommittedUndo): void;
  /** Starts no more pulls; resolves when those that run have ended. Whoever follows pulls what is queued. */
  leave(): Promise<void>;
  /** Waits up to `graceMs` for running pulls, which the signal has cut off. */
  stop(graceMs: number): Promise<void>;
}

/** How long after a pull that was in the way the next one begins, at the earliest. */
const AGAIN_MS = 5_000;

/** @param signal ends running pulls */
export function pullNow(
  app: App,
  engine: Engine,
  setups: readonly FeedSetup[],
  signal: AbortSignal,
  againMs = AGAIN_MS,
): PullNow {
  const byName = new Map(setups.map((setup) => [setup.feed, setup]));
  const running = new Set<Promise<unknown>>();
  const queued = new Set<FeedName>();
  /** The feeds that {@link follow} pulls until they are no longer queued. */
  const followed = new Set<FeedName>();
  let left = false;
  const track = (work: Promise<unknown>): void => {
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
  };
  const pull = async (feed: FeedName): Promise<PullStart> => {
    const setup = byName.get(feed);
    if (setup === undefined) {
      const isNamed = namedFeeds(app.config).has(feed);
      const message = isNamed
        ? `the configuration of feed ${feed} is wrong`
        : `feed ${feed} is not in the configuration that this process uses`;
      return { kind: 'unusable', message };
    }
    if (signal.aborted) return { kind: 'unusable', message: 'the process is stopping' };
    if (left) return { kind: 'unusable', message: 'the configuration was read again; try again' };
    return new Promise<PullStart>((resolve, reject) => {
      const onPull = (number: number) => resolve({ kind: 'started', pull: number });
      const pulled = pullAndReport(app, engine, setup, { signal, besides: () => running.size, onPull })
        .then(async ({ end, paused, reported }) => {
          if (paused !== undefined) resolve({ kind: 'paused', message: paused });
          else if (end === 'again') resolve(await busyWith(app, feed));
          await reported;
        })
        .catch((error: unknown) => {
          if (!signal.aborted) app.log.error({ err: error, feed }, 'pull failed');
          reject(error);
        });
      track(pulled);
    });
  };
  const follow = async (feed: FeedName): Promise<void> => {
    followed.add(feed);
    while (queued.has(feed)) {
      await pause(againMs, signal);
      if (signal.aborted || left) break;
      // Before the pull: what changes from now on needs another one.
      queued.delete(feed);
      // A pull that fails is reported where it runs.
      const start = await pull(feed).catch(() => undefined);
      if (start?.kind === 'busy' || start?.kind === 'paused') queued.add(feed);
    }
    followed.delete(feed);
  };
  const queue = (feed: FeedName): void => {
    queued.add(feed);
    if (!followed.has(feed)) track(follow(feed));
  };
  /** What was queued, or being pulled, in a process that ended before. */
  const resume = async (): Promise<void> => {
    for (const feed of await feedsToPullYet(app.db, [...byName.keys()])) queue(feed);
  };
  track(
    resume().catch((error: unknown) => {
      if (!signal.aborted) app.log.warn({ err: error }, 'pulls that were asked for before could not be looked for');
    }),
  );
  return {
    pull,
    async soon(feed) {
      const start = queued.has(feed) ? undefined : await pull(feed);
      if (start !== undefined && start.kind !== 'busy' && start.kind !== 'paused') return start;
      queue(feed);
      return { kind: 'queued' };
    },
    undone({ setup, end, startedAt }) {
      track(reportWhenSent(app, engine, setup, { signal, besides: () => running.size }, { end, startedAt }));
    },
    async leave() {
      left = true;
      await Promise.all(running);
    },
    async stop(graceMs) {
      await endsWithin(Promise.all(running), graceMs);
    },
  };
}

async function busyWith({ db }: App, feed: FeedName): Promise<PullStart> {
  const [newest] = await listPulls(db, feed, 1);
  return { kind: 'busy', pull: newest?.status === 'running' ? newest.id : undefined };
}

// Pulls a feed once in `start`, and logs its report when its changes are sent.

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
function reportWhenSent(
  app: App,
  engine: Engine,
  setup: FeedSetup,
  { signal, besides }: Omit<PullOptions, 'onPull'>,
  { end, startedAt }: { readonly end: PullEndToConclude; readonly startedAt: number },
): Promise<void> {
  engine.wake();
  const report = async () => {
    const rest = await awaitSending(app, engine, setup.site, [setup.feed], { signal, besides });
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
