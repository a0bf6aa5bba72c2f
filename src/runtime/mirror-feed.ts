// Mirrors one feed once, for `sync`: pulls it, has its changes sent, and reports the outcome counts.
import { type PullEnd, pullFeed } from '../../jobs/pull-feed.ts';
import { pause } from '../flow/pause.ts';
import { plural } from '../plan/message.ts';
import { pausesOf } from '../plan/pause-words.ts';
import type { FeedSetup } from '../pull/feed-setup.ts';
import { addressOf } from '../site/http/job-address.ts';
import { countUnsent, hasWork, readDoubtProgress } from '../store/backlog/backlog.ts';
import { openSearches } from '../store/change/site-search.ts';
import { listPauses } from '../store/locks/pauses.ts';
import { withRetry } from '../store/postgres/transient-error.ts';
import { rulesInForce } from '../store/review/rules.ts';
import { readSiteState } from '../store/site/site-state.ts';
import { formatBytes, formatSeconds, type ProgressLine, throttled } from '../telemetry/print.ts';
import { type App, noticeOtherPlace } from './app.ts';
import { awaitSending, describePause, INTERRUPTED } from './await-quiet.ts';
import type { PullReport } from './conclude-pull.ts';
import { concludePull, type PullEndToConclude, pausedReport, type SendingBlocker } from './conclude-pull.ts';
import type { Engine } from './engine.ts';
import { tokenDigests } from './open-site-client.ts';
import { UserError } from './stop-signal.ts';

export interface MirrorOptions {
  readonly signal: AbortSignal;
  readonly progress?: ProgressLine;
  /** Receives the pull's number as soon as it has one. */
  readonly onPull?: (pull: number) => void;
  /**
   * Stops sending in this process; called after an interruption, so the report includes requests that were in flight.
   */
  readonly stopSending?: () => Promise<void>;
}

/** How often to ask whether the feed is free, while another process pulls it. */
const BUSY_POLL_MS = 1_000;

/**
 * Pulls, sends and reports one feed. Waits while another process pulls the same feed.
 * @param sending starts sending, or returns the running engine. Called after the pull, so leftover changes are sent in
 * their new desired state, and count towards this pull.
 */
export async function mirrorFeed(
  app: App,
  sending: () => Promise<Engine>,
  setup: FeedSetup,
  options: MirrorOptions,
): Promise<PullReport> {
  const startedAt = performance.now();
  const end = await pullWhenFree(app, setup, options);
  if (end.kind === 'paused') return pausedReport(setup.feed, end.message, performance.now() - startedAt);
  return sendAndConclude(app, sending, setup, options, { end, startedAt });
}

/** Sends and reports what a pull, or the undo of one, has left to send. @param begun how that ended, and when it began */
export async function sendAndConclude(
  app: App,
  sending: () => Promise<Engine>,
  setup: FeedSetup,
  options: MirrorOptions,
  { end, startedAt }: { readonly end: PullEndToConclude; readonly startedAt: number },
): Promise<PullReport> {
  await decideByRules(app, setup, options);
  let blocker = await sendAll(app, sending, setup, options);
  // The site may have rejected what a rule decides. Each rule takes an entry once, so this ends.
  while (await decideByRules(app, setup, options)) blocker = await sendAll(app, sending, setup, options);
  if (options.signal.aborted) await options.stopSending?.();
  const report = () => concludePull(app.db, setup.feed, end, blocker, performance.now() - startedAt);
  return withRetry(report, options.signal);
}

/** Returns whether rules decided new entries of the feed. */
async function decideByRules(app: App, { feed }: FeedSetup, { signal }: MirrorOptions): Promise<boolean> {
  if (signal.aborted || (await rulesInForce(app.db)).length === 0) return false;
  const { applyRules } = await import('../review/rules.ts');
  return (await applyRules(app.db, app.config, [feed], signal)).length > 0;
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
      onDetails: (done, all) => progress?.show(`${setup.feed}: requesting details, ${done} of ${all}`),
    });
    if (end.kind !== 'busy') return end;
    progress?.show(`${setup.feed}: waiting for another process that pulls this feed`);
    signal.throwIfAborted();
    await pause(BUSY_POLL_MS, signal);
  }
}

/**
 * Whether a worker would find nothing to do at the site, and nothing to find out about it: most scheduled pulls end so, and starting
 * one takes longer than the pull. A queue on Redis is opened all the same, so that its absence is reported.
 */
async function isIdle(app: App, { feed, site: name }: FeedSetup): Promise<boolean> {
  const { config, db } = app;
  const site = config.sites.get(name);
  if (site === undefined || config.queue.kind === 'redis' || (await noticeOtherPlace(app))) return false;
  const state = await readSiteState(db, name, (await tokenDigests(db, config)).get(name));
  if (state.pausedSince !== undefined || state.address !== addressOf(site.options)) return false;
  if (pausesOf(await listPauses(db), { site: name, feed }).length > 0) return false;
  const feeds = [...config.feeds.values()].flatMap((own) => (own.siteName === name ? [own.name] : []));
  return !(await hasWork(db, name, feeds));
}

/** Sends until nothing is left worth waiting for. If the queue is unusable, everything is left to the next run. */
async function sendAll(
  app: App,
  sending: () => Promise<Engine>,
  setup: FeedSetup,
  { signal, progress }: MirrorOptions,
): Promise<SendingBlocker | undefined> {
  // Do not start sending after an interruption.
  if (signal.aborted) return { worth: 'if_unsent', message: INTERRUPTED };
  if (await withRetry(() => isIdle(app, setup), signal)) return undefined;
  let engine: Engine;
  try {
    engine = await sending();
  } catch (error) {
    if (error instanceof UserError) return { worth: 'always', message: error.message };
    throw error;
  }
  engine.wake();
  const onCheck = progress === undefined ? undefined : await showSending(app, { setup, engine }, progress, signal);
  const rest = await awaitSending(app, engine, setup.site, [setup.feed], { signal, onCheck });
  if (rest.kind === 'waiting') {
    const { message, isPaused } = rest;
    return isPaused === true ? { worth: 'always', message, isPaused } : { worth: 'if_unsent', message };
  }
  const state = await withRetry(
    () => readSiteState(app.db, setup.site, engine.siteContexts.get(setup.site)?.tokenDigest),
    signal,
  );
  if (state.pausedSince === undefined) return undefined;
  return { worth: state.movedTo === undefined ? 'always' : 'decisive', message: describePause(setup.site, state) };
}

/** Returns a function that shows how many changes are left, or what they wait for. It counts seldom, because there may be a million. */
async function showSending(
  app: App,
  { setup, engine }: { readonly setup: FeedSetup; readonly engine: Engine },
  progress: ProgressLine,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { feed } = setup;
  const startedAt = performance.now();
  const first = await withRetry(() => countUnsent(app.db, [feed]), signal);
  return throttled(async () => {
    const left = await countUnsent(app.db, [feed]);
    const awaited = await whatIsAwaited(app, setup, engine, left);
    if (awaited !== undefined) return progress.show(`${feed}: ${awaited}`);
    if (left === 0) return;
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = (first - left) / seconds;
    const estimate = rate > 0 ? `, ${formatSeconds(left / rate)} left` : '';
    progress.show(`${feed}: sending, ${left} of ${first} left, ${rate.toFixed(0)}/s${estimate}`);
  });
}

/** Why nothing is sent for a while; `undefined`: something is. */
async function whatIsAwaited(
  { db }: App,
  { feed, site }: FeedSetup,
  engine: Engine,
  left: number,
): Promise<string | undefined> {
  if (left === 0) {
    const { open, nextDueMs = 0 } = await readDoubtProgress(db, site, [feed]);
    const when = nextDueMs > 0 ? `is read in ${formatSeconds(nextDueMs / 1000)}` : 'is being read';
    return open === 0 ? undefined : `${plural(open, 'create')} in doubt; the list of site ${site} ${when}`;
  }
  const waiting = `${plural(left, 'change')} ${left === 1 ? 'waits' : 'wait'}`;
  const { waitsMs, unreachableStreak } = await readSiteState(db, site, engine.siteContexts.get(site)?.tokenDigest);
  if (waitsMs > 0 && unreachableStreak > 0)
    return `${waiting}, as site ${site} is out of reach; the next try is in ${formatSeconds(waitsMs / 1000)}`;
  if (waitsMs > 0) return `${waiting}, as site ${site} asks for ${formatSeconds(waitsMs / 1000)}`;
  const isSearched = (await openSearches(db, [feed], new Date())).length > 0;
  return isSearched ? `${waiting} until site ${site} is searched for jobs that exist` : undefined;
}
