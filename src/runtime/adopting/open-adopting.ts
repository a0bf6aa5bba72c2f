// Opens what adopting jobs needs: the feed's pull lock, its site, and how its postings are read.
import { learntRateLimiter } from '../../apply/learnt-rate-limiter.ts';
import type { SiteConfig } from '../../config/config.ts';
import { type RateLimiter, rateLimiterFor } from '../../flow/rate-limiter.ts';
import { tell } from '../../plan/message.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { type AsReadEnd, type EarlierRecord, readUnmapped, stillAsRead } from '../../pull/preview/read-for-adopting.ts';
import type { AdoptProgress, AdoptSubject } from '../../review/match-jobs.ts';
import { addressOf } from '../../site/base-address.ts';
import type { SiteClient } from '../../site/exchange.ts';
import { lockFeed } from '../../store/locks/feed-locks.ts';
import type { App } from '../app.ts';
import { UserError } from '../exit-status.ts';
import { chooseFeeds } from '../feed-setups.ts';
import { openProvenClient, whyClosed } from '../open-site-client.ts';

export interface Adopting {
  readonly feed: FeedName;
  readonly site: SiteConfig;
  readonly setup: FeedSetup;
  readonly client: SiteClient;
  readonly subject: AdoptSubject;
  /** Whether the feed still has the record, as far as that can be told without reading all of it as a pull does. */
  readonly stillAsRead: (record: EarlierRecord) => Promise<AsReadEnd>;
  /** Throws if the feed's pull lock is no longer held: another process may pull the feed. */
  readonly checkLock: () => void;
}

/** How a process already sends to a site. */
export interface SiteConnection {
  readonly client: SiteClient;
  readonly rateLimiter: RateLimiter;
}

export interface AdoptingOptions {
  readonly signal: AbortSignal;
  /** Receives a text for people. */
  readonly onProgress: (progress: string) => void;
  /** Of the process itself, so that all its requests keep to one rate; otherwise one is opened. */
  readonly connectionOf?: (site: SiteName) => SiteConnection | undefined;
}

/**
 * Runs `work` while no other process pulls the feed or adopts jobs for it.
 * @throws {UserError} if the feed or its site cannot be used now.
 */
export async function withAdopting(
  app: App,
  name: string,
  { signal, onProgress, connectionOf }: AdoptingOptions,
  work: (adopting: Adopting) => Promise<void>,
): Promise<void> {
  const setup = setupOf(app, name);
  const site = app.config.sites.get(setup.site);
  if (site === undefined) throw new UserError(`feed ${name} names site ${setup.site}, which is not configured`);
  const closed = await whyClosed(app, site);
  if (closed !== undefined) throw new UserError(tell(closed, app.writeAction));
  const lock = await lockFeed(app.db, setup.feed);
  if (lock === undefined)
    throw new UserError(
      `feed ${setup.feed} is being pulled, or its jobs are being adopted; try again when that has ended`,
    );
  const guarded = AbortSignal.any([signal, lock.lost]);
  const connection = connectionOf?.(site.name);
  let opened: SiteClient | undefined;
  try {
    opened = connection === undefined ? await openProvenClient(app.db, site) : undefined;
    const client = opened ?? (connection as SiteConnection).client;
    const context = { db: app.db, log: app.log, signal: guarded };
    const subject: AdoptSubject = {
      db: app.db,
      feed: setup.feed,
      site: site.name,
      address: addressOf(site.options),
      policy: setup.policy,
      referenceField: site.options.referenceField,
      stateField: setup.mapping.stateField.name,
      states: setup.mapping.states,
      client,
      rateLimiter: connection?.rateLimiter ?? ownRateLimiter(app, site, guarded),
      signal: guarded,
      readPostings: (take) => readUnmapped(setup, context, take),
      onProgress: (done) => onProgress(describeProgress(setup, done)),
    };
    const checkLock = () => {
      if (!lock.held()) throw new UserError('the connection to the database was lost; start it again');
    };
    await work({
      feed: setup.feed,
      setup,
      client,
      site,
      subject,
      stillAsRead: (record) => stillAsRead(setup, context, record),
      checkLock,
    });
  } finally {
    await opened?.close();
    await lock.release();
  }
}

const ownRateLimiter = ({ db }: App, { name, requestsPerSecond }: SiteConfig, guarded: AbortSignal): RateLimiter =>
  learntRateLimiter(rateLimiterFor(requestsPerSecond), db, name, requestsPerSecond, () => guarded.aborted);

function setupOf({ config }: App, name: string): FeedSetup {
  const { setups, broken } = chooseFeeds(config, [name]);
  const [setup] = setups;
  if (setup === undefined) throw new UserError(`feed ${name}: ${broken[0]?.message ?? 'it is not configured'}`);
  return setup;
}

function describeProgress({ feed, site }: FeedSetup, { what, done }: AdoptProgress): string {
  switch (what) {
    case 'jobs':
      return `reading the list of site ${site}: ${done} jobs`;
    case 'postings':
      return `reading feed ${feed}: ${done} postings without a job`;
    case 'pairs':
      return `comparing: ${done} pairs`;
    case 'adopted':
      return `${done} jobs adopted`;
    default:
      return what satisfies never;
  }
}
