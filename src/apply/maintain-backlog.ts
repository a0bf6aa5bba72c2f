// Maintains what no queue job returns to: abandoned attempts, doubts, orphan site jobs and paused sites; stops reading from a site that a
// person has paused.
import { pause } from '../flow/pause.ts';
import type { SiteName } from '../posting/identifiers.ts';
import type { Outcome } from '../site/exchange.ts';
import { deadlineIn } from '../site/http/trouble.ts';
import { freedUnknown, sendTakenAgain } from '../store/change/candidate-owners.ts';
import { endFarWaits, recoverAbandoned } from '../store/change/restored-database.ts';
import { readPausesOf } from '../store/locks/pauses.ts';
import type { Database } from '../store/postgres/database.ts';
import { dueOrphans, forgetOrphan, takeOrphan, uncountOrphanDelete } from '../store/site/orphan-site-jobs.ts';
import { noteAcceptedToken, takeTokenProbe, tryTokenAgain } from '../store/site/refused-token.ts';
import { endPause, noteFailedProbe, readSiteState, type SiteState } from '../store/site/site-state.ts';
import { concludeAbandonedPulls } from '../store/status/pull-summary.ts';
import { resumeAtAddress } from './confirm-address.ts';
import { isOrphanGone, lookForDenied } from './confirm-gone.ts';
import { noteAcceptedWrite } from './prove-token.ts';
import { resolveDoubts } from './resolve-doubts.ts';
import { checkSite } from './search-site.ts';
import { SEND_WITHIN_MS, type SiteContext, type SitePolicy } from './site-context.ts';
import { PROBE_FIRST_MS, PROBE_MAX_MS, TOKEN_PROBE_PACE, updateSiteHealth } from './site-health.ts';

/** Time to record an outcome, on top of the request timeout. */
const RESOLVE_MARGIN_MS = 10_000;
/**
 * Restarts and power cuts must not count against a change, but a change that kills every process sending it must end.
 */
const MOST_DEATHS = 10;
const ORPHANS_AT_ONCE = 50;
const ORPHAN_RETRY_MS = 60_000;
/** The site has not been asked, or is in trouble as a whole, which is reported as such. */
const HAD_NO_EFFECT: ReadonlySet<Outcome['kind']> = new Set(['unreachable', 'unauthorized', 'throttled']);
/** Longer than any wait that is not configured: a site is believed for an hour when it asks to wait. */
const LONGEST_WAIT_MS = 2 * 3_600_000;
const FAR_WAITS_EVERY_MS = 60_000;

/** When far waits of sites were last ended, and pulls of ended processes concluded. */
const farWaitsEndedAt = new WeakMap<SiteContext, number>();

/** What one round did that may have made changes ready to send. */
export interface MaintenanceResult {
  /** Changes whose attempts were left by stopped processes. */
  readonly recovered: number;
  readonly doubts: number;
  readonly resumed: boolean;
  /** The site was searched for jobs of new feeds, so their changes may be sent. */
  readonly searched?: boolean;
}

/** Runs one round for one site. Any number of processes may do so at once. */
export async function maintainBacklog(siteContext: SiteContext, signal: AbortSignal): Promise<MaintenanceResult> {
  const recovered = await recoverAttempts(siteContext.db, siteContext.site, siteContext.policy);
  if (recovered > 0)
    siteContext.log.warn({ site: siteContext.site, recovered }, 'attempts of stopped workers returned to the backlog');
  await endWaitsOfFalseClock(siteContext);
  // A person has paused it: the site is not even asked.
  if (await isSitePaused(siteContext)) return { recovered, doubts: 0, resumed: false };
  const state = await readSiteState(siteContext.db.prepared, siteContext.site, siteContext.tokenDigest);
  if (isElsewhere(siteContext, state)) return { recovered, doubts: 0, resumed: false };
  if (state.movedTo !== undefined && state.address !== undefined)
    return { recovered, doubts: 0, resumed: await resumeAtAddress(siteContext) };
  if (state.tokenRefused) return { recovered, doubts: 0, resumed: await tryToken(siteContext, signal) };
  if (state.pausedSince !== undefined) {
    const due = state.probeInMs !== undefined && state.probeInMs <= 0;
    return { recovered, doubts: 0, resumed: due && (await probe(siteContext, signal)) };
  }
  if (state.waitsMs > 0) return { recovered, doubts: 0, resumed: false };
  const read = await readUntilPaused(siteContext, signal, async (unlessPaused) => {
    const searched = await checkSite(siteContext, unlessPaused);
    const denied = await lookForDenied(siteContext, unlessPaused);
    return { searched, doubts: denied + (await resolveDoubts(siteContext, unlessPaused)) };
  });
  if (read.kind === 'paused') return { recovered, doubts: 0, resumed: false };
  await deleteOrphans(siteContext, signal);
  return { recovered, resumed: false, ...read.result };
}

/** What was to wait a little while the clock of the database was ahead would wait for as long as it was ahead. */
export async function endWaitsOfFalseClock(siteContext: SiteContext): Promise<void> {
  const { db, site, policy } = siteContext;
  if (performance.now() - (farWaitsEndedAt.get(siteContext) ?? Number.NEGATIVE_INFINITY) < FAR_WAITS_EVERY_MS) return;
  const { retry, doubts } = policy;
  const longestMs = LONGEST_WAIT_MS + Math.max(retry.firstDelayMs, retry.maxDelayMs, doubts.resolveAfterMs);
  await endFarWaits(db, site, { longestMs, mayLandMs: doubts.resolveAfterMs });
  await concludeAbandonedPulls(db);
  farWaitsEndedAt.set(siteContext, performance.now());
}

/** Returns the attempts of stopped processes to the backlog. Returns how many changes that were. */
export const recoverAttempts = (
  db: Database,
  site: SiteName,
  { timeoutMs, retry, doubts }: Pick<SitePolicy, 'timeoutMs' | 'retry' | 'doubts'>,
): Promise<number> =>
  recoverAbandoned(db.prepared, site, {
    deadlineMs: SEND_WITHIN_MS + timeoutMs + RESOLVE_MARGIN_MS,
    mayLandMs: doubts.resolveAfterMs,
    // Counted retries are included, and there are fewer of them than allowed.
    mostTries: retry.attempts + MOST_DEATHS,
  });

/** Probes a paused site at once when a command starts: the cause may just have been fixed. */
export async function probeIfPaused(siteContext: SiteContext, signal: AbortSignal): Promise<void> {
  if (await isSitePaused(siteContext)) return;
  const state = await readSiteState(siteContext.db, siteContext.site, siteContext.tokenDigest);
  if (state.tokenRefused) await tryToken(siteContext, signal, true);
  else if (state.pausedSince !== undefined && state.probeInMs !== undefined) await probe(siteContext, signal);
}

const isSitePaused = async ({ db, site }: SiteContext): Promise<boolean> =>
  (await readPausesOf(db.prepared, { site })).length > 0;

/** Whether this process may send to the site: if not, one with another token, or with the address of the site's jobs, has to lead. */
export async function maySend(siteContext: SiteContext): Promise<boolean> {
  const state = await readSiteState(siteContext.db.prepared, siteContext.site, siteContext.tokenDigest);
  return !state.tokenRefused && !isElsewhere(siteContext, state);
}

/** The recorded address is another process's configuration, so the recorded state is about another place. */
const isElsewhere = ({ address }: SiteContext, state: SiteState): boolean =>
  state.address !== undefined && state.address !== address;

/**
 * Tries a refused token with harmless GETs when due. Returns whether its holders may send again: because the site accepts it, or because
 * the site can be read, which many allow to everybody; then the next change tells.
 */
async function tryToken(siteContext: SiteContext, signal: AbortSignal, atOnce = false): Promise<boolean> {
  const { db, site, tokenDigest, log } = siteContext;
  if (!(await takeTokenProbe(db, site, tokenDigest, TOKEN_PROBE_PACE, atOnce))) return false;
  siteContext.rateLimiter.spend();
  const startedAt = performance.now();
  const { kind: answer, message, mayResume } = await siteContext.client.probe(signal);
  const check = mayResume ? await siteContext.client.checkToken('list', signal) : undefined;
  if (check === undefined || check.kind === 'refused') {
    log.warn({ site, answer, message: check?.message ?? message }, 'site stays paused for this token');
    return false;
  }
  const isProven = check.kind === 'accepted' || check.kind === 'needed';
  if (isProven) await noteAcceptedToken(db, site, tokenDigest, performance.now() - startedAt);
  await tryTokenAgain(db, site, tokenDigest);
  if (isProven) log.info({ site }, 'site resumed: it accepts the token again');
  else
    log.warn({ site, message: check.message }, 'site resumed: it is readable; that the token may write is not proven');
  return true;
}

/** Probes a paused site with one harmless GET, less and less often, and resumes it when it answers properly. */
async function probe(siteContext: SiteContext, signal: AbortSignal): Promise<boolean> {
  siteContext.rateLimiter.spend();
  const { kind: answer, message, mayResume } = await siteContext.client.probe(signal);
  if (mayResume) {
    await endPause(siteContext.db, siteContext.site);
    siteContext.log.info({ site: siteContext.site }, 'site resumed: it answers again');
    return true;
  }
  await noteFailedProbe(siteContext.db, siteContext.site, PROBE_FIRST_MS, PROBE_MAX_MS);
  siteContext.log.warn({ site: siteContext.site, answer, message }, 'site stays paused');
  return false;
}

/** Deletes orphan site jobs: jobs that we created and no posting owns. */
async function deleteOrphans(siteContext: SiteContext, signal: AbortSignal): Promise<void> {
  for (const siteJobId of await dueOrphans(siteContext.db, siteContext.site, ORPHANS_AT_ONCE)) {
    await siteContext.rateLimiter.take(signal);
    // A create may have returned this ID meanwhile: from here on, such a create knows about the delete.
    if (!(await takeOrphan(siteContext.db, siteContext, siteJobId, ORPHAN_RETRY_MS))) continue;
    const notAfter = deadlineIn(SEND_WITHIN_MS);
    const exchange = await siteContext.client.send({ kind: 'delete', siteJobId }, { notAfter, signal });
    const { outcome, durationMs } = exchange;
    if (outcome.kind === 'accepted') await noteAcceptedWrite(siteContext, performance.now() - durationMs);
    if (outcome.kind === 'gone' && !(await isOrphanGone(siteContext, siteJobId, signal))) {
      siteContext.log.warn(
        { site: siteContext.site, siteJobId },
        'orphan site job seems to be gone, which is not proven: will retry',
      );
      continue;
    }
    const isDeleted = outcome.kind === 'accepted' || outcome.kind === 'gone';
    if (isDeleted) {
      const answer = { outcome: outcome.kind, status: exchange.response?.status, durationMs };
      await siteContext.db.transaction(async (tx) => {
        await forgetOrphan(tx, siteContext.site, siteJobId, answer);
        await sendTakenAgain(tx, freedUnknown(siteContext.site));
      });
    } else if (HAD_NO_EFFECT.has(outcome.kind)) await uncountOrphanDelete(siteContext.db, siteContext.site, siteJobId);
    siteContext.log.warn(
      { site: siteContext.site, siteJobId, outcome: outcome.kind },
      isDeleted ? 'orphan site job deleted' : 'orphan site job not deleted, will retry',
    );
    // The site is paused for the token, and what is read with it proves nothing.
    if (outcome.kind === 'unauthorized') return updateSiteHealth(outcome, undefined, siteContext);
  }
}

// Ends what reads from a site soon after a person has paused it.

const CHECK_MS = 1_000;

/**
 * Does work that only reads, with a signal that aborts with the given one, or within about a second once a person has paused the site.
 * @returns `paused`: the work was ended for that, and is to be done again later. @throws what the work throws, unless it was ended
 */
export async function readUntilPaused<T>(
  { db, site, log }: Pick<SiteContext, 'db' | 'site' | 'log'>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<{ readonly kind: 'done'; readonly result: T } | { readonly kind: 'paused' }> {
  const paused = new AbortController();
  const done = new AbortController();
  async function watch(): Promise<void> {
    for (;;) {
      await pause(CHECK_MS, done.signal, { keepsAlive: false });
      if (done.signal.aborted) return;
      const pauses = await readPausesOf(db.prepared, { site }).catch((error: unknown) => {
        log.warn({ err: error, site }, 'pauses of people not read, will retry');
        return [];
      });
      if (pauses.length > 0) return paused.abort();
    }
  }
  void watch();
  try {
    const result = await work(AbortSignal.any([signal, paused.signal]));
    return paused.signal.aborted ? { kind: 'paused' } : { kind: 'done', result };
  } catch (error) {
    if (paused.signal.aborted && !signal.aborted) return { kind: 'paused' };
    throw error;
  } finally {
    done.abort();
  }
}
