// Opens what adopting jobs needs: the feed's pull lock, its site, how its postings are read, and those of the site's other feeds, to which a job
// may belong.
import { learntRateLimiter } from '../apply/learnt-rate-limiter.ts';
import type { SiteConfig } from '../config/config.ts';
import type { RateLimiter } from '../flow/rate-limiter.ts';
import { type Message, tell } from '../plan/message.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { FeedSetup } from '../pull/feed-setup.ts';
import { type AsReadEnd, type EarlierRecord, readUnmapped, stillAsRead } from '../pull/preview/dry-run.ts';
import { type AdoptProgress, type AdoptSubject, shortfallText } from '../review/jobs/match-jobs.ts';
import type { SiteClient } from '../site/exchange.ts';
import { addressOf } from '../site/http/job-address.ts';
import { type UnmappedPosting, unreadFeeds } from '../store/backlog/unmapped-postings.ts';
import { lockFeed } from '../store/locks/feed-locks.ts';
import type { App } from './app.ts';
import { setupOfFeed } from './feed-setups.ts';
import { openProvenClient, whyClosed } from './open-site-client.ts';
import { UserError } from './stop-signal.ts';

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
  const setup = setupOfFeed(app.config, name);
  if (typeof setup === 'string') throw new UserError(`feed ${name}: ${setup}`);
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
      rateLimiter: connection?.rateLimiter ?? learntRateLimiter(app.db, site, () => guarded.aborted),
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

/** The configured feeds of the same site that no complete pull has read. */
async function unreadOthers({ db, config }: App, { feed, site }: Pick<Adopting, 'feed' | 'site'>): Promise<FeedName[]> {
  const address = addressOf(site.options);
  const names = new Set(
    [...config.sites.values()].flatMap(({ name, options }) => (addressOf(options) === address ? name : [])),
  );
  const others = [...config.feeds.values()].filter(({ name, siteName }) => names.has(siteName) && name !== feed);
  return unreadFeeds(
    db,
    others.map(({ name }) => name),
  );
}

/** Passes the postings of these feeds to `take`. Returns the feeds that could not be read to their proven ends. */
export async function readOtherFeeds(
  app: App,
  adopting: Pick<Adopting, 'feed' | 'site' | 'subject'>,
  take: (feed: FeedName, postings: readonly UnmappedPosting[]) => Promise<void>,
): Promise<FeedName[]> {
  const failed: FeedName[] = [];
  for (const feed of await unreadOthers(app, adopting))
    if (!(await readOne(app, feed, adopting.subject.signal, (postings) => take(feed, postings)))) failed.push(feed);
  return failed;
}

async function readOne(
  app: App,
  feed: FeedName,
  signal: AbortSignal,
  take: (postings: readonly UnmappedPosting[]) => Promise<void>,
): Promise<boolean> {
  const setup = setupOfFeed(app.config, feed);
  const lock = typeof setup === 'string' ? undefined : await lockFeed(app.db, feed);
  if (typeof setup === 'string' || lock === undefined) return false;
  try {
    const read = await readUnmapped(setup, { db: app.db, log: app.log, signal }, take);
    return read.kind === 'read' && read.shortfalls.length === 0;
  } finally {
    await lock.release();
  }
}

/** @param shortfalls why the feed may have further postings */
export async function matchNotes(
  app: App,
  adopting: Pick<Adopting, 'feed' | 'site'>,
  shortfalls: readonly Message[],
): Promise<string[]> {
  const unread = await unreadOthers(app, adopting);
  return [
    ...(unread.length === 0
      ? []
      : [
          `Postings of ${unread.join(', ')}, also of site ${adopting.site.name}, were not compared: no complete pull has read them yet.`,
        ]),
    ...(shortfalls.length === 0
      ? []
      : [
          `The feed was not read completely (${shortfallText(shortfalls)}): jobs count as certain only by their reference.`,
        ]),
  ];
}
