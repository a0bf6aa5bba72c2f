// Waits until everything that can be sent for some feeds is sent, perhaps by this process, or until waiting longer makes no sense.
import { pause } from '../flow/pause.ts';
import { type Advice, adviceOf, type Message, messageOf, textOf } from '../plan/message.ts';
import { type PersonsPause, pausesOf, tellPauses } from '../plan/pause-words.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import { UNREACHABLE_LIMIT } from '../review/health/assess-health.ts';
import { type Progress, readDoubtProgress, readProgress } from '../store/backlog/backlog.ts';
import { databaseTime, openSearches } from '../store/change/site-search.ts';
import { listPauses } from '../store/locks/pauses.ts';
import { refuseNewerSchema } from '../store/postgres/migrate.ts';
import { withRetry } from '../store/postgres/transient-error.ts';
import { readSiteState, type SiteState } from '../store/site/site-state.ts';
import { formatTime } from '../telemetry/times.ts';
import type { App } from './app.ts';
import type { Engine } from './engine.ts';
import { STOP_WITHIN_MS, stopSignal } from './stop-signal.ts';

/** Why the wait ended. */
export type WaitEnd =
  | { readonly kind: 'quiet' }
  /** Something remains to be sent; `message` says why waiting ended, and what to do. */
  | {
      readonly kind: 'waiting';
      readonly message: Message;
      /** A person has paused what remains. */
      readonly isPaused?: true;
    };

export interface AwaitOptions {
  readonly signal: AbortSignal;
  /** Called regularly, to show progress. */
  readonly onCheck?: () => Promise<void> | void;
  /** How many other waits run in this process: the more, the less often each one checks. */
  readonly besides?: () => number;
  /** By the database clock: creates that were sent before, and are in doubt, are left to the next run. */
  readonly doubtsSince?: Date;
}

export const INTERRUPTED = 'interrupted: the next run sends the rest';

const CHECK_MS = 100;
const LONGEST_CHECK_MS = 1_000;
/** Minimum time between two checks of this process, for whatever feed. */
const CHECK_APART_MS = 20;
const MOST_FOLLOW_UP_CHECKS = 50;
/** A retry due later than this is left to the next run. */
const LONGEST_RETRY_WAIT_MS = 30_000;
/** Longest wait for a site that asks to wait. */
const LONGEST_THROTTLE_MS = 5 * 60_000;
/** Give up after this long without progress, whatever the reason. */
const STANDSTILL_MS = 3 * 60_000;
/** Give up after this long while a request is being sent, perhaps by another process: longer than any request takes. */
const SENDING_STANDSTILL_MS = 10 * 60_000;

/** Waits for some feeds of one site. */
export async function awaitSending(
  app: App,
  engine: Engine,
  site: SiteName,
  feeds: readonly FeedName[],
  options: AwaitOptions,
): Promise<WaitEnd> {
  let recorded = -1;
  let movedAt = performance.now();
  const doubts = watchDoubts(app, engine, site, feeds, options.doubtsSince);
  let pauseSeen = false;
  let searchNote: string | undefined;
  // Of the failures in a row, those that may be from before: the site may answer again.
  let formerStreak = Number.POSITIVE_INFINITY;
  const since = await withRetry(() => databaseTime(app.db), options.signal);
  for (let checkMs = CHECK_MS; ; checkMs = Math.min(LONGEST_CHECK_MS, checkMs * 1.2)) {
    if (options.signal.aborted) return { kind: 'waiting', message: INTERRUPTED };
    await withRetry(() => refuseNewerSchema(app.db.prepared), options.signal);
    const pauses = await withRetry(() => listPauses(app.db.prepared), options.signal);
    const open = feeds.filter((feed) => pausesOf(pauses, { site, feed }).length === 0);
    // Of paused feeds, only what was in flight still goes on.
    const asked = open.length === 0 ? feeds : open;
    const progress = await withRetry(
      () => readProgress(app.db.prepared, asked, engine.self.worker, options.doubtsSince),
      options.signal,
    );
    if (progress.inDoubt) await withRetry(() => doubts.begin(), options.signal);
    if (progress.recorded !== recorded) {
      recorded = progress.recorded;
      movedAt = performance.now();
    }
    await withRetry(async () => options.onCheck?.(), options.signal);
    const mayGoOn = open.length > 0 && (progress.due || progress.nextDueMs !== undefined);
    if (!mayGoOn && !progress.sending) {
      const end = endOf(site, feeds, pauses);
      const isEnd = open.length === 0 || !progress.inDoubt || !mayDoubtsResolve(engine, site);
      if (isEnd || (await withRetry(() => doubts.haveStopped(), options.signal))) {
        await followUps(engine, site, options.signal);
        return end;
      }
    } else {
      doubts.startAnew();
      const state = await withRetry(
        () => readSiteState(app.db.prepared, site, engine.siteContexts.get(site)?.tokenDigest),
        options.signal,
      );
      const paused = state.pausedSince !== undefined;
      const searches = await withRetry(() => openSearches(app.db, feeds, since), options.signal);
      const notes = JSON.stringify(searches.map(({ note }) => note ?? null));
      if (notes !== searchNote) movedAt = performance.now();
      searchNote = notes;
      const failed = paused ? undefined : searches.find(({ failure }) => failure !== undefined)?.failure;
      if (failed !== undefined && !progress.sending) return { kind: 'waiting', message: failed };
      formerStreak = Math.min(formerStreak, state.unreachableStreak);
      const message = whyWait(site, state, progress, performance.now() - movedAt, formerStreak);
      // An attempt that started just before the pause may not have been visible yet; after the pause none starts.
      if (message !== undefined && paused === pauseSeen) return { kind: 'waiting', message };
      pauseSeen = paused;
    }
    const waitMs = Math.max(checkMs, CHECK_APART_MS * (options.besides?.() ?? 0));
    await pause(waitMs, options.signal);
  }
}

/** What a new job tells about the site follows the recorded outcome, and belongs to the report; but other feeds may send without end. */
async function followUps(engine: Engine, site: SiteName, signal: AbortSignal): Promise<void> {
  const inFlight = engine.siteContexts.get(site)?.inFlight;
  for (let left = MOST_FOLLOW_UP_CHECKS; left > 0 && (inFlight?.taken ?? 0) > 0; left--)
    await pause(CHECK_APART_MS, signal);
}

/** Nothing more is sent for these feeds: either all is, or a person has paused some. */
function endOf(site: SiteName, feeds: readonly FeedName[], pauses: readonly PersonsPause[]): WaitEnd {
  const own = pauses.filter((pause) => feeds.some((feed) => pausesOf([pause], { site, feed }).length > 0));
  return own.length === 0
    ? { kind: 'quiet' }
    : { kind: 'waiting', message: tellPauses(own, formatTime), isPaused: true };
}

function whyWait(
  site: SiteName,
  state: SiteState,
  progress: Progress,
  standstillMs: number,
  formerStreak: number,
): Message | undefined {
  if (progress.sending && standstillMs <= SENDING_STANDSTILL_MS) return undefined;
  if (state.pausedSince !== undefined) return describePause(site, state);
  const hasTried = state.unreachableStreak > formerStreak || state.waitsMs > LONGEST_RETRY_WAIT_MS;
  if (state.unreachableStreak >= UNREACHABLE_LIMIT && hasTried) {
    return `site ${site} is unreachable: ${textOf(state.lastMessage ?? 'no reason recorded')}. The next run sends the rest`;
  }
  if (state.waitsMs > LONGEST_THROTTLE_MS) {
    return `site ${site} asked to wait ${Math.round(state.waitsMs / 1000)} s. The next run sends the rest`;
  }
  // A site that keeps asking for a little more time gets no longer than one that asks for all of it at once.
  if (state.waitsMs > 0 && standstillMs <= LONGEST_THROTTLE_MS) return undefined;
  if (!progress.due && (progress.nextDueMs ?? 0) > LONGEST_RETRY_WAIT_MS) {
    return `the next attempt is due in ${Math.round((progress.nextDueMs ?? 0) / 1000)} s. The next run makes it`;
  }
  if (standstillMs > STANDSTILL_MS) {
    if ((state.askedToWaitMsAgo ?? Number.POSITIVE_INFINITY) < standstillMs)
      return `site ${site} has asked to wait, again and again, for ${Math.round(standstillMs / 1000)} s. The next run sends the rest`;
    const text = `no progress for ${Math.round(standstillMs / 1000)} s although changes are due`;
    return messageOf(text, [{ words: 'check with', action: { kind: 'show_status' } }]);
  }
  return undefined;
}

/** Why a site is paused, and how to continue; the cause of a site that moved already says how. */
export function describePause(site: SiteName, { pauseCause = 'no reason recorded', movedTo }: SiteState): Message {
  const resume: Advice = { words: 'once that is fixed, run', action: { kind: 'resume_site', site } };
  const next = [...adviceOf(pauseCause), ...(movedTo === undefined ? [resume] : [])];
  return messageOf(`site ${site} is paused: ${textOf(pauseCause)}`, next);
}

function mayDoubtsResolve(engine: Engine, site: SiteName): boolean {
  return engine.siteContexts.get(site)?.policy.canList === true;
}

/**
 * Consecutive list checks that only explained why the doubts remain; then a person or the next run has to deal with
 * them. If all were explained before this run, one check tells that the reasons still hold.
 */
const MOST_EXPLAINED = 3;

/**
 * Detects that doubts no longer resolve by themselves. Counts list checks instead of time: a busy machine or a slow
 * site is no reason to involve a person.
 */
function watchDoubts({ db }: App, engine: Engine, site: SiteName, feeds: readonly FeedName[], since?: Date) {
  /** How many doubts an earlier run has explained. */
  let known: number | undefined;
  let mark: string | undefined;
  let markedAt = 0;
  let open = 0;
  let explanations = 0;
  return {
    async begin(): Promise<void> {
      known ??= (await readDoubtProgress(db, site, feeds, since)).explained;
    },
    startAnew(): void {
      mark = undefined;
    },
    async haveStopped(): Promise<boolean> {
      const progress = await readDoubtProgress(db, site, feeds, since);
      if (progress.mark !== mark) {
        // Where doubts were resolved, a reason may be that of an earlier check, even of another run.
        const explains = progress.explained === progress.open && progress.open >= open;
        explanations = explains && mark !== undefined ? explanations + 1 : 0;
        ({ mark, open } = progress);
        markedAt = performance.now();
      }
      const uncheckedMs = performance.now() - markedAt;
      // A check may cover only some doubts.
      const isExplained = progress.due === 0 && explanations >= (open <= (known ?? 0) ? 1 : MOST_EXPLAINED);
      if (isExplained || uncheckedMs > STANDSTILL_MS + checkedWithinMs(engine, site)) return true;
      // Nobody checks the list of a paused site.
      return (
        uncheckedMs > checkedWithinMs(engine, site) &&
        (await readSiteState(db, site, engine.siteContexts.get(site)?.tokenDigest)).pausedSince !== undefined
      );
    },
  };
}

/** The time within which all list checks of a doubt are due. */
function checkedWithinMs(engine: Engine, site: SiteName): number {
  const policy = engine.siteContexts.get(site)?.policy;
  if (policy === undefined) return 0;
  return policy.doubts.resolveAfterMs * (1 + policy.doubts.listChecks * 0.5) + 2 * policy.timeoutMs;
}

/** Sends in this process, alongside any others, until the feeds are quiet. Returns what a person has paused, so that it waits. */
export async function sendWaiting(app: App, feeds: readonly FeedName[]): Promise<readonly Message[]> {
  const bySite = new Map<SiteName, FeedName[]>();
  for (const name of feeds) {
    const site = app.config.feeds.get(name)?.siteName;
    if (site !== undefined) bySite.set(site, [...(bySite.get(site) ?? []), name]);
  }
  if (bySite.size === 0) return [];
  const stopping = stopSignal();
  // Whoever decides about one create need not wait until the others are decided.
  const doubtsSince = await databaseTime(app.db);
  // Loaded here: whoever sends nothing needs none of it.
  const { startEngine } = await import('./engine.ts');
  const engine = await startEngine(app, new Set(bySite.keys()));
  try {
    const ends = await Promise.all(
      [...bySite].map(([site, names]) =>
        awaitSending(app, engine, site, names, { signal: stopping.signal, doubtsSince }),
      ),
    );
    return ends.flatMap((end) => (end.kind === 'waiting' && end.isPaused === true ? [end.message] : []));
  } finally {
    await engine.stop(STOP_WITHIN_MS);
    stopping.release();
  }
}
