// Connects queue, database and sites into the sending side: for each site a worker, a dispatcher and backlog
// maintenance.
import { applyChange } from '../../jobs/apply-change.ts';
import { confirmAddress } from '../apply/confirm-address.ts';
import { rewriteLearner } from '../apply/learn-rewrites.ts';
import { learntRateLimiter } from '../apply/learnt-rate-limiter.ts';
import { endWaitsOfFalseClock, maintainBacklog, maySend, probeIfPaused } from '../apply/maintain-backlog.ts';
import { proveReads } from '../apply/prove-token.ts';
import type { SiteContext, SitePolicy } from '../apply/site-context.ts';
import type { SiteConfig } from '../config/config.ts';
import { placesOf } from '../config/load-us-states.ts';
import { type RepeatedWork, startRounds } from '../flow/pause.ts';
import { semaphoreFor } from '../flow/semaphore.ts';
import { createOnlyOf } from '../plan/desired-change.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import { openQueueBackend, type QueueBackend } from '../queue/backend.ts';
import { type Dispatcher, startDispatcher, windowFor } from '../queue/dispatcher.ts';
import type { RunningWorker } from '../queue/running-worker.ts';
import { LostJobError, NotClosedError, QueueFullError } from '../queue/shared-connection.ts';
import {
  batchSizeFor,
  openSiteQueue,
  type QueueCounts,
  type SiteQueue,
  startApplyWorker,
} from '../queue/site-queue.ts';
import { createSiteClient } from '../site/http/client.ts';
import { addressOf } from '../site/http/job-address.ts';
import { type BacklogCursor, readReady } from '../store/backlog/backlog.ts';
import { createClaimer, type SendSettings } from '../store/change/claim.ts';
import { outcomeRecorder } from '../store/change/record-outcomes.ts';
import { failPoisoned } from '../store/change/restored-database.ts';
import { endFalseQueueTimes, lockKey } from '../store/locks/advisory-locks.ts';
import { createCandidacy, type Leadership } from '../store/locks/leadership.ts';
import { enterAsWorker, feedsToSend, type WorkerLease } from '../store/locks/processes.ts';
import { readInstallation } from '../store/postgres/migrate.ts';
import { isPassing } from '../store/postgres/transient-error.ts';
import { readSiteState } from '../store/site/site-state.ts';
import { inSpan, isTracing } from '../telemetry/spans.ts';
import { type App, noticeOtherPlace } from './app.ts';
import { tokenDigests } from './open-site-client.ts';
import { aboutProcess } from './reload.ts';
import { preparePartsToSend } from './retention.ts';
import { UserError } from './stop-signal.ts';
import type { Timing } from './timing.ts';

/** Everything that sends in this process. */
export interface Engine {
  readonly backend: QueueBackend;
  /** How other processes see this one. */
  readonly self: Pick<WorkerLease, 'worker' | 'startedAt'>;
  readonly siteContexts: ReadonlyMap<SiteName, SiteContext>;
  /** Queue jobs of each site, as the queue has them. */
  queueCounts(): Promise<ReadonlyMap<SiteName, QueueCounts>>;
  /** Checks the backlog now, because a change became ready. */
  wake(): void;
  /** Stops taking changes, lets those in flight finish within `graceMs` and until `cutOff` aborts, and closes everything. */
  stop(graceMs: number, cutOff?: AbortSignal): Promise<void>;
}

/** Starts sending for these sites, or for all configured ones. */
export async function startEngine(
  app: App,
  sites: ReadonlySet<SiteName> | undefined,
  command = 'sync',
): Promise<Engine> {
  const { config, db, log, timing } = app;
  const backend = await openBackend(app);
  const tokens = await tokenDigests(db, config);
  const lease = await enterAsWorker(db, aboutProcess(config, command, tokens), (error) =>
    log.warn({ err: error }, 'worker lease lost, will be renewed'),
  );
  const addresses = new Map([...config.sites.values()].map((site) => [site.name, addressOf(site.options)]));
  const claim = createClaimer(db.prepared, lease.worker, addresses, tokens, sendSettings(config));
  const writeOutcome = outcomeRecorder(db.prepared);
  const siteWorkers: SiteWorker[] = [];
  async function stop(graceMs: number, cutOff?: AbortSignal): Promise<void> {
    await Promise.all(siteWorkers.map((siteWorker) => siteWorker.stop(graceMs, cutOff)));
    await lease.leave();
  }
  try {
    await noticeOtherPlace(app);
    await preparePartsToSend(app);
    for (const site of config.sites.values()) {
      if (sites !== undefined && !sites.has(site.name)) continue;
      const address = addressOf(site.options);
      const requestSlots = semaphoreFor(site.options.concurrency);
      const inFlight = semaphoreFor(site.options.concurrency + besidesFor(site));
      const rateLimiter = learntRateLimiter(db, site, () => requestSlots.closed);
      const tokenDigest = tokens.get(site.name) as string;
      const client = createSiteClient(site.options);
      const siteContext = {
        site: site.name,
        address,
        tokenDigest,
        policy: policyOf(site),
        client: proveReads({
          db,
          site: site.name,
          tokenDigest,
          client,
          rateLimiter,
          requestsPerSecond: site.requestsPerSecond,
        }),
        inFlight,
        requestSlots,
        rateLimiter,
        rewrites: rewriteLearner(db, site.name),
        db,
        claim,
        writeOutcome,
        log,
        writeAction: app.writeAction,
      };
      const feeds = [...config.feeds.values()].filter((feed) => feed.siteName === site.name).map((feed) => feed.name);
      siteWorkers.push(await openSiteWorker(backend, siteContext, site, feeds, timing));
    }
  } catch (error) {
    await stop(0);
    throw error;
  }
  return {
    backend,
    self: lease,
    siteContexts: new Map(siteWorkers.map(({ siteContext }) => [siteContext.site, siteContext])),
    queueCounts: async () =>
      new Map(
        await Promise.all(
          siteWorkers.map(async ({ siteContext, queue }) => [siteContext.site, await queue.counts()] as const),
        ),
      ),
    wake() {
      for (const siteWorker of siteWorkers) siteWorker.dispatcher.wake();
    },
    stop,
  };
}

/** How changes are sent. */
function sendSettings({ feeds, sites }: App['config']): SendSettings {
  const createOnly = [...feeds.values()].map(({ name, mapping }) => [name, createOnlyOf(mapping)] as const);
  const clearing = [...sites.values()].filter(({ omittedFields }) => omittedFields === 'clear');
  const rules = [...sites.values()].map(
    (site) => [site.name, { referenceField: site.options.referenceField, ...placesOf(site) }] as const,
  );
  return {
    createOnly: new Map(createOnly),
    clearing: new Set(clearing.map(({ name }) => name)),
    rules: new Map(rules),
  };
}

/** The message of an unusable queue is meant for people: no stack is shown. */
async function openBackend({ config, db, log }: App): Promise<QueueBackend> {
  const options = {
    queue: config.queue.kind === 'redis' ? config.queue.url.reveal() : 'database',
    databaseUrl: db.url,
    whenFree: db.whenFree,
    endFalseTimes: (queueName: string, lockMs: number, mostAheadMs: number) =>
      endFalseQueueTimes(db, queueName, lockMs, mostAheadMs),
    installation: await readInstallation(db),
    traced: isTracing(),
    onWarning: (message: string) => log.warn(message),
    onError: (error: Error) => log.warn({ err: error }, describeQueueError(error)),
  };
  try {
    return await openQueueBackend(options);
  } catch (cause) {
    throw new UserError((cause as Error).message, { cause });
  }
}

function describeQueueError(error: Error): string {
  if (error instanceof NotClosedError) return 'the queue did not close in time; nothing is lost';
  if (error instanceof QueueFullError)
    return 'the queue is full, will retry: Redis has reached its maxmemory; raise it, or remove other data';
  return error instanceof LostJobError
    ? 'the queue was emptied: refilling it from the backlog'
    : 'queue not reachable, will retry';
}

/** Everything that runs for one site. */
interface SiteWorker {
  readonly siteContext: SiteContext;
  readonly queue: SiteQueue;
  readonly dispatcher: Dispatcher;
  stop(graceMs: number, cutOff?: AbortSignal): Promise<void>;
}

async function openSiteWorker(
  backend: QueueBackend,
  siteContext: SiteContext,
  site: SiteConfig,
  feeds: readonly FeedName[],
  timing: Timing,
): Promise<SiteWorker> {
  const { db, log } = siteContext;
  await confirmAddress(siteContext);
  await endWaitsOfFalseClock(siteContext);
  await probeIfPaused(siteContext, AbortSignal.timeout(site.options.timeoutMs));
  const batchSize = batchSizeFor(site.requestsPerSecond);
  const queue: SiteQueue = await openSiteQueue(backend, site.name, batchSize);
  const worker = await startWorking(backend, siteContext, site, queue, timing).catch(async (error) => {
    await queue.close();
    throw error;
  });
  const lead = createCandidacy(db, lockKey('lead', site.name));
  const dispatcher = startDispatcher<BacklogCursor>({
    feeds: () => feedsToSend(db.prepared, site.name, feeds),
    readReady: async (feed, after, limit) => ({ items: await readReady(db, site.name, feed, after, limit) }),
    queue,
    window: windowFor(site.requestsPerSecond, site.options.concurrency),
    // Queue jobs are only for processes that may send.
    tryLead: async () => (await maySend(siteContext)) && (await lead.holds()),
    mayDispatch: async () => {
      const state = await readSiteState(db.prepared, site.name, siteContext.tokenDigest);
      return state.pausedSince === undefined && state.waitsMs <= 0;
    },
    isWorking: () => siteContext.inFlight.taken > 0,
    onError: (error) => log.warn({ err: error, site: site.name }, 'backlog not dispatched, will retry'),
  });
  const maintaining = maintainRegularly(siteContext, lead, dispatcher, worker, timing);
  return {
    siteContext,
    queue,
    dispatcher,
    async stop(graceMs, cutOff) {
      siteContext.inFlight.close();
      siteContext.requestSlots.close();
      await Promise.all([dispatcher.stop(), worker.stop(graceMs, cutOff), maintaining.stop()]);
      await queue.close();
      await lead.resign();
      await siteContext.client.close();
    },
  };
}

/** Recording an outcome or an intent takes this long under load. */
const RECORDED_WITHIN_SECONDS = 0.1;

/**
 * Changes in flight beyond those at the site: as many as the site answers while an outcome is recorded, and at most the
 * same again, up to a whole batch, on their way from the queue. No more, because each process sends them without asking
 * the queue again once a stalled site accepts requests.
 */
function besidesFor({ options: { concurrency }, requestsPerSecond }: SiteConfig): number {
  return Math.min(concurrency, Math.floor(requestsPerSecond * RECORDED_WITHIN_SECONDS));
}

/** Takes queue jobs of the site and applies their changes. */
function startWorking(
  backend: QueueBackend,
  siteContext: SiteContext,
  site: SiteConfig,
  queue: SiteQueue,
  timing: Timing,
): Promise<RunningWorker> {
  const besides = besidesFor(site);
  return startApplyWorker(backend, {
    site: site.name,
    queue,
    // At low rates a queue job gets its slot at once, and stays in the queue until it is done.
    concurrency: besides === 0 ? site.options.concurrency : besides,
    requestsPerSecond: site.requestsPerSecond,
    timing: timing.queue,
    process: (posting, signal, handOver) =>
      inSpan('apply change', { 'jobmirror.feed': posting.feed, 'jobmirror.key': posting.key }, () =>
        applyChange(posting, siteContext, signal, besides === 0 ? undefined : handOver),
      ),
    async onPoisoned(posting, error) {
      if (isPassing(error)) {
        siteContext.log.warn({ err: error, ...posting }, 'change not claimed, the database is unavailable; will retry');
        return;
      }
      siteContext.log.error({ err: error, ...posting }, 'change could not be processed');
      await failPoisoned(siteContext.db, posting, error);
    },
  });
}

/**
 * Maintains the backlog of a site regularly while this process leads for it. If the site refuses its token, or its jobs are at another
 * address, it neither leads nor takes queue jobs from processes that can send; it does what maintenance it can, and probes the token.
 */
function maintainRegularly(
  siteContext: SiteContext,
  lead: Leadership,
  dispatcher: Dispatcher,
  worker: RunningWorker,
  { maintainEveryMs }: Timing,
): RepeatedWork {
  let idle = false;
  /** Returns whether this process may send. */
  async function updateIdle(): Promise<boolean> {
    const may = await maySend(siteContext);
    if (!may) await lead.resign();
    if (idle === may) await (may ? worker.resume() : worker.pause());
    idle = !may;
    return may;
  }
  async function maintain(signal: AbortSignal): Promise<void> {
    try {
      if ((await updateIdle()) && !(await lead.holds())) return;
      const { recovered, doubts, resumed, searched = false } = await maintainBacklog(siteContext, signal);
      if (recovered > 0 || doubts > 0 || resumed || searched) dispatcher.wake();
    } catch (error) {
      if (!signal.aborted)
        siteContext.log.warn({ err: error, site: siteContext.site }, 'backlog maintenance failed, will retry');
    }
  }
  return startRounds(maintain, { everyMs: maintainEveryMs });
}

/**
 * With many concurrent requests, as many outcomes may be recorded between two checks: there must be a check after them.
 */
const judgedUntil = ({ canary: { requests }, options }: SiteConfig): number =>
  Math.max(2 * requests, requests + 4 * options.concurrency);

/** The failure policy from a site's configuration. */
function policyOf(site: SiteConfig): SitePolicy {
  return {
    timeoutMs: site.options.timeoutMs,
    requestsPerSecond: site.requestsPerSecond,
    retry: site.retry,
    doubts: site.doubts,
    canary: { ...site.canary, until: judgedUntil(site) },
    onMissing: site.onMissing,
    referenceField: site.options.referenceField,
    places: placesOf(site),
    omittedFields: site.omittedFields,
    canList: site.options.listPath !== undefined,
    provesToken: site.options.accountPath !== undefined,
  };
}
