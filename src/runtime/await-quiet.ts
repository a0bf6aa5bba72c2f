// Waits until everything that can be sent for some feeds is sent, or until waiting any longer makes no sense.
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import { type Progress, readDoubtProgress, readProgress } from '../store/backlog/progress.ts';
import { withRetry } from '../store/postgres/with-retry.ts';
import { databaseTime, openSearches } from '../store/site/site-search.ts';
import { readSiteState, type SiteState } from '../store/site/site-state.ts';
import type { App } from './app.ts';
import type { Engine } from './engine.ts';

/** Why the wait ended. */
export type Rest =
  | { readonly kind: 'quiet' }
  /** Something was still to be sent; `message` says why it was not waited for, and what to do. */
  | { readonly kind: 'waiting'; readonly message: string };

export interface AwaitOptions {
  readonly signal: AbortSignal;
  /** Called now and then, with what moved. */
  readonly onCheck?: () => Promise<void> | void;
  /** How many others this process waits for: the more there are, the less often it looks for each. */
  readonly besides?: () => number;
}

export const INTERRUPTED = 'interrupted: what is left is sent by the next run';

const CHECK_MS = 100;
const LONGEST_CHECK_MS = 1_000;
/** Between two looks of this process, whatever they are for. */
const CHECK_APART_MS = 20;
/** A retry that is further off than this is left to the next run. */
const LONGEST_RETRY_WAIT_MS = 30_000;
/** A site that asks to wait is waited for this long. */
const LONGEST_THROTTLE_MS = 5 * 60_000;
/** Attempts in a row that found the site out of reach. */
const UNREACHABLE_LIMIT = 4;
/** Without anything moving, whatever the reason. */
const STANDSTILL_MS = 3 * 60_000;

/** Feeds of one site. */
export async function awaitQuiet(
  app: App,
  engine: Engine,
  site: SiteName,
  feeds: readonly FeedName[],
  options: AwaitOptions,
): Promise<Rest> {
  let recorded = -1;
  let movedAt = performance.now();
  const doubts = watchDoubts(app, engine, site, feeds);
  let pauseSeen = false;
  let searchNote: string | undefined;
  const since = await withRetry(() => databaseTime(app.db), options.signal);
  for (let checkMs = CHECK_MS; ; checkMs = Math.min(LONGEST_CHECK_MS, checkMs * 1.2)) {
    if (options.signal.aborted) return { kind: 'waiting', message: INTERRUPTED };
    const progress = await withRetry(() => readProgress(app.db, feeds), options.signal);
    if (progress.recorded !== recorded) {
      recorded = progress.recorded;
      movedAt = performance.now();
    }
    await withRetry(async () => options.onCheck?.(), options.signal);
    const unsent = progress.due || progress.sending || progress.nextDueMs !== undefined;
    if (!unsent) {
      if (!progress.inDoubt || !mayDoubtsResolve(engine, site)) return { kind: 'quiet' };
      if (await withRetry(() => doubts.haveStopped(), options.signal)) return { kind: 'quiet' };
    } else {
      doubts.startAnew();
      const state = await withRetry(
        () => readSiteState(app.db, site, engine.siteContexts.get(site)?.tokenDigest),
        options.signal,
      );
      const paused = state.pausedSince !== undefined;
      const searches = await withRetry(() => openSearches(app.db, feeds, since), options.signal);
      const notes = searches.map(({ note }) => note).join();
      if (notes !== searchNote) movedAt = performance.now();
      searchNote = notes;
      const failed = paused ? undefined : searches.find(({ failure }) => failure !== undefined)?.failure;
      if (failed !== undefined && !progress.sending) return { kind: 'waiting', message: failed };
      const message = whyWait(site, state, progress, performance.now() - movedAt);
      // What began just before the pause may not have been to be seen yet; after it nothing begins.
      if (message !== undefined && paused === pauseSeen) return { kind: 'waiting', message };
      pauseSeen = paused;
    }
    const waitMs = Math.max(checkMs, CHECK_APART_MS * (options.besides?.() ?? 0));
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

function whyWait(site: SiteName, state: SiteState, progress: Progress, standstillMs: number): string | undefined {
  if (progress.sending) return undefined;
  if (state.pausedSince !== undefined) return describePause(site, state);
  if (state.unreachableStreak >= UNREACHABLE_LIMIT) {
    return `site ${site} is out of reach: ${state.lastMessage}. What is left is sent by the next run`;
  }
  if (state.waitsMs > LONGEST_THROTTLE_MS) {
    return `site ${site} asked to wait ${Math.round(state.waitsMs / 1000)} s. What is left is sent by the next run`;
  }
  // One that asks for a little more time again and again is waited for no longer than one that says it all at once.
  if (state.waitsMs > 0 && standstillMs <= LONGEST_THROTTLE_MS) return undefined;
  if (!progress.due && (progress.nextDueMs ?? 0) > LONGEST_RETRY_WAIT_MS) {
    return `the next attempt is due in ${Math.round((progress.nextDueMs ?? 0) / 1000)} s. It is left to the next run`;
  }
  if (standstillMs > STANDSTILL_MS) {
    return `nothing moved for ${Math.round(standstillMs / 1000)} s, though changes are due; see how all stands: jobmirror status`;
  }
  return undefined;
}

/** Why a paused site is, and how to go on; the cause of a site that moved says that itself. */
export function describePause(site: SiteName, { pauseCause, movedTo }: SiteState): string {
  const goOn = movedTo === undefined ? `; once that is fixed, go on with: jobmirror resume ${site}` : '';
  return `site ${site} is paused: ${pauseCause}${goOn}`;
}

function mayDoubtsResolve(engine: Engine, site: SiteName): boolean {
  return engine.siteContexts.get(site)?.policy.canList === true;
}

/** List checks in a row that only said why the doubts remain: by then it is for a person, or for the next run. */
const MOST_EXPLAINED = 3;

/**
 * Tells when doubts do not resolve themselves any more. List checks are counted, and not the time that they take: a busy
 * machine or a slow site is no reason to call a person.
 */
function watchDoubts({ db }: App, engine: Engine, site: SiteName, feeds: readonly FeedName[]) {
  let mark: string | undefined;
  let markedAt = 0;
  let explanations = 0;
  return {
    startAnew(): void {
      mark = undefined;
    },
    async haveStopped(): Promise<boolean> {
      const progress = await readDoubtProgress(db, site, feeds);
      if (progress.mark !== mark) {
        const isExplained = progress.explained === progress.open;
        explanations = isExplained && mark !== undefined ? explanations + 1 : 0;
        mark = progress.mark;
        markedAt = performance.now();
      }
      const uncheckedMs = performance.now() - markedAt;
      if (explanations >= MOST_EXPLAINED || uncheckedMs > STANDSTILL_MS + checkedWithinMs(engine, site)) return true;
      // While it is paused nobody checks.
      return (
        uncheckedMs > checkedWithinMs(engine, site) &&
        (await readSiteState(db, site, engine.siteContexts.get(site)?.tokenDigest)).pausedSince !== undefined
      );
    },
  };
}

/** As long as it takes until all list checks of a doubt are due. */
function checkedWithinMs(engine: Engine, site: SiteName): number {
  const policy = engine.siteContexts.get(site)?.policy;
  if (policy === undefined) return 0;
  return policy.doubts.resolveAfterMs * (1 + policy.doubts.listChecks * 0.5) + 2 * policy.timeoutMs;
}
