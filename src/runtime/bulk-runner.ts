// Carries out actions on many review entries that somebody started over HTTP, also those that an ended process left undone, and
// applies rules to the new entries of their groups.
import { learntRateLimiter } from '../apply/learnt-rate-limiter.ts';
import { askForJob } from '../apply/show-job.ts';
import { pauseForToken } from '../apply/site-health.ts';
import type { Config, SiteConfig } from '../config/config.ts';
import { placesOf } from '../config/load-us-states.ts';
import { endsWithin, startRounds } from '../flow/pause.ts';
import { tell } from '../plan/message.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import { type AdoptRunOptions, adoptFoundJobs, type FoundSite, type FoundSites } from '../review/bulk/adopt-found.ts';
import { type BulkOptions, type BulkRun, runBulk } from '../review/bulk/run-bulk.ts';
import { editableFeed } from '../review/plan-edit.ts';
import { startRules } from '../review/rules.ts';
import { NotShownError } from '../site/exchange.ts';
import { tryLockBulk } from '../store/locks/advisory-locks.ts';
import {
  type BulkKind,
  feedsLeft,
  findBulk,
  noteBulkWait,
  openUnattended,
  type UnattendedBulk,
} from '../store/review/bulk-actions.ts';
import type { App } from './app.ts';
import type { SiteConnection } from './open-adopting.ts';
import { openProvenClient, tokenDigests, whyClosed } from './open-site-client.ts';

export interface BulkRunner {
  /** Carries out this action now. */
  begin(id: number): void;
  /** Ends after the present batches; what is left is continued by another process, or the next time. */
  stop(graceMs: number): Promise<void>;
}

/** These need the settings of their feeds and sites: without them they would leave the entries alone for good. */
const BY_SETTINGS: ReadonlySet<BulkKind> = new Set(['edit', 'missing', 'check', 'adopt']);

/** The feeds whose entries this process can decide. */
const feedsForUs = (config: Config, { action, feeds }: UnattendedBulk): readonly FeedName[] =>
  feeds.filter((feed) => !BY_SETTINGS.has(action) || typeof editableFeed(config, feed) !== 'string');

/** Why no feed is for us. */
const whyNone = (config: Config, { feeds: [feed] }: UnattendedBulk): string | undefined => {
  const why = feed === undefined ? undefined : editableFeed(config, feed);
  return typeof why === 'string' ? why : undefined;
};

/** How long actions must have had no progress for another process to continue them. */
const LEFT_MS = 15_000;
const FAILED = 'an error, which is in the log; it is tried again';
/** How often to look for new entries of groups with rules, and for actions that were left. */
const EVERY_MS = 5_000;

/**
 * @param wake changes became ready to be sent
 * @param connectionOf how the process already sends to a site
 */
export function startBulkRunner(
  app: App,
  wake: () => void,
  connectionOf?: (site: SiteName) => SiteConnection | undefined,
): BulkRunner {
  const { db, config, log } = app;
  const stopping = new AbortController();
  const running = new Map<number, Promise<void>>();
  const waiting = new Set<number>();
  const noteWait = (id: number, waitsFor: string | null): void => {
    if (waitsFor !== null && !waiting.has(id))
      log.warn({ bulk: id, waitsFor }, 'action on many entries waits, will be continued');
    if (waitsFor === null) waiting.delete(id);
    else waiting.add(id);
  };
  /** What somebody asks for: feeds that only other running processes can decide are left to them. `undefined`: there are none. */
  const amongAll = async (id: number): Promise<readonly FeedName[] | undefined> => {
    const bulk = await findBulk(db, id);
    if (bulk === undefined || !BY_SETTINGS.has(bulk.action)) return undefined;
    const left = await feedsLeft(db, id);
    const chosen = left.filter(({ feed, served }) => !served || typeof editableFeed(config, feed) !== 'string');
    return chosen.length === left.length ? undefined : chosen.map(({ feed }) => feed);
  };
  const carryOut = async (id: number, given: readonly FeedName[] | undefined) => {
    const among = given ?? (await amongAll(id));
    const options = { signal: stopping.signal, onProgress: wake, ...(among === undefined ? {} : { among }) };
    return carryOutBulk(app, id, options, connectionOf);
  };
  const begin = (id: number, among?: readonly FeedName[]): void => {
    if (stopping.signal.aborted || running.has(id)) return;
    const run = carryOut(id, among)
      .then((end) => {
        if (end === undefined || end === 'taken') return;
        noteWait(id, end.bulk.waitsFor);
        if (end.bulk.state !== 'done') return;
        const { action, actor, done, skipped } = end.bulk;
        log.info({ bulk: id, action, actor, done, leftAlone: skipped }, 'action on many entries done');
      })
      .catch(async (error: unknown) => {
        log.error({ err: error, bulk: id }, 'action on many entries failed, will be continued');
        await noteBulkWait(db, id, FAILED, LEFT_MS).catch(() => undefined);
      })
      .finally(() => running.delete(id));
    running.set(id, run);
  };
  /** What no process can decide waits, and says so; a process that can is not kept from it. */
  const goOn = async (bulk: UnattendedBulk): Promise<void> => {
    const feeds = feedsForUs(config, bulk);
    if (feeds.length > 0) return begin(bulk.id, feeds);
    const why = whyNone(config, bulk);
    if (why === undefined || why === bulk.waitsFor || running.has(bulk.id)) return;
    await noteBulkWait(db, bulk.id, why, 0);
    noteWait(bulk.id, why);
  };
  const rounds = startRounds(
    async () => {
      try {
        for (const id of await startRules(db, config, config.feeds.keys())) begin(id);
        for (const bulk of await openUnattended(db, LEFT_MS)) await goOn(bulk);
      } catch (error) {
        log.warn({ err: error }, 'actions on many entries could not be looked for, will be retried');
      }
    },
    { everyMs: EVERY_MS },
  );
  return {
    begin: (id) => begin(id),
    async stop(graceMs) {
      stopping.abort();
      await endsWithin(Promise.all([rounds.stop(), ...running.values()]), graceMs);
    },
  };
}

// Carries out an action on many review entries, which may ask sites about their jobs.

/**
 * Carries out the action until it is done, a person stops it, `signal` is aborted, or it has to wait for a site. `undefined`: there is
 * no such action. `taken`: another process asks the sites for it.
 * @param connectionOf how the process already sends to a site
 */
export async function carryOutBulk(
  app: App,
  id: number,
  options: BulkOptions & Pick<AdoptRunOptions, 'askAgainMs'>,
  connectionOf?: (site: SiteName) => SiteConnection | undefined,
): Promise<BulkRun | 'taken' | undefined> {
  const { db, config } = app;
  if ((await findBulk(db, id))?.action !== 'adopt') return runBulk(db, config, id, options);
  const lock = await tryLockBulk(db, id);
  if (lock === undefined) return 'taken';
  const signal = AbortSignal.any([options.signal, lock.lost]);
  const sites = openFoundSites(app, signal, connectionOf);
  try {
    return await adoptFoundJobs(db, id, sites, { ...options, signal });
  } finally {
    await sites.close().finally(() => lock.release());
  }
}

// Opens the sites whose found jobs are adopted.

/** A site in trouble is waited for by the action, which says so, not by a request. */
const ATTEMPTS = 3;
const LONGEST_WAIT_MS = 5_000;

interface OpenedFoundSites extends FoundSites {
  close(): Promise<void>;
}

/** @param connectionOf of the process itself, so that all its requests keep to one rate; otherwise one is opened. */
function openFoundSites(
  app: App,
  signal: AbortSignal,
  connectionOf: (site: SiteName) => SiteConnection | undefined = () => undefined,
): OpenedFoundSites {
  const opened = new Map<SiteName, SiteConnection>();

  async function connect(site: SiteConfig): Promise<SiteConnection> {
    const known = connectionOf(site.name) ?? opened.get(site.name);
    if (known !== undefined) return known;
    const rateLimiter = learntRateLimiter(app.db, site, () => signal.aborted);
    const connection = { client: await openProvenClient(app.db, site), rateLimiter };
    opened.set(site.name, connection);
    return connection;
  }

  return {
    async siteOf(feed): Promise<FoundSite | string> {
      const configured = editableFeed(app.config, feed);
      if (typeof configured === 'string') return configured;
      const site = app.config.sites.get(configured.siteName);
      if (site === undefined) return `site ${configured.siteName} is not configured`;
      const closed = await whyClosed(app, site);
      if (closed !== undefined) return tell(closed, app.writeAction);
      const retry = { ...site.retry, attempts: Math.min(site.retry.attempts, ATTEMPTS) };
      const { client, rateLimiter } = await connect(site);
      const asked = { site: { retry }, client, rateLimiter, signal, longestWaitMs: LONGEST_WAIT_MS };
      return {
        site: site.name,
        referenceField: site.options.referenceField,
        places: placesOf(site),
        policy: configured.policy,
        ask: (id) =>
          askForJob(asked, id).catch(async (error: unknown) => {
            if (error instanceof NotShownError && error.status === 401) await noteRefusedToken(app, site.name);
            throw error;
          }),
      };
    },
    async close() {
      await Promise.all([...opened.values()].map(({ client }) => client.close()));
    },
  };
}

/** So that nobody asks with it again before it is tried from time to time. */
async function noteRefusedToken({ db, config, log }: App, site: SiteName): Promise<void> {
  const tokenDigest = (await tokenDigests(db, config)).get(site);
  if (tokenDigest !== undefined) await pauseForToken({ db, site, tokenDigest, log });
}
