// Carries out an action on many review entries, which may ask sites about their jobs.
import { learntRateLimiter } from '../apply/learnt-rate-limiter.ts';
import { askForJob } from '../apply/show-job.ts';
import { pauseForToken } from '../apply/update-site-health.ts';
import type { SiteConfig } from '../config/config.ts';
import { placesOf } from '../config/load-us-states.ts';
import { rateLimiterFor } from '../flow/rate-limiter.ts';
import { tell } from '../plan/message.ts';
import type { SiteName } from '../posting/identifiers.ts';
import { type AdoptRunOptions, adoptFoundJobs, type FoundSite, type FoundSites } from '../review/bulk/adopt-found.ts';
import { type BulkOptions, type BulkRun, runBulk } from '../review/bulk/run-bulk.ts';
import { editableFeed } from '../review/plan-edit.ts';
import { NotShownError } from '../site/exchange.ts';
import { tryLockBulk } from '../store/locks/bulk-lock.ts';
import { findBulk } from '../store/review/bulk-actions.ts';
import type { SiteConnection } from './adopting/open-adopting.ts';
import type { App } from './app.ts';
import { openProvenClient, whyClosed } from './open-site-client.ts';
import { tokenDigests } from './token-digests.ts';

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
    const { name, requestsPerSecond } = site;
    const known = connectionOf(name) ?? opened.get(name);
    if (known !== undefined) return known;
    const local = rateLimiterFor(requestsPerSecond);
    const rateLimiter = learntRateLimiter(local, app.db, name, requestsPerSecond, () => signal.aborted);
    const connection = { client: await openProvenClient(app.db, site), rateLimiter };
    opened.set(name, connection);
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
