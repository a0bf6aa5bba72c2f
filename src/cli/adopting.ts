// Prepares a command that adopts jobs: the feed's pull lock, its site, and how its postings are read.
import { learntRateLimiter } from '../apply/learnt-rate-limiter.ts';
import type { SiteConfig } from '../config/config.ts';
import { rateLimiterFor } from '../flow/rate-limiter.ts';
import type { Message } from '../plan/message.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { FeedSetup } from '../pull/feed-setup.ts';
import { readUnmapped } from '../pull/read-unmapped.ts';
import type { AdoptProgress, AdoptSubject } from '../review/match-jobs.ts';
import type { App } from '../runtime/app.ts';
import { UserError } from '../runtime/exit-status.ts';
import { chooseFeeds } from '../runtime/feed-setups.ts';
import type { SiteClient } from '../site/exchange.ts';
import { lockFeed } from '../store/locks/feed-locks.ts';
import { type ProgressLine, startProgressLine } from '../telemetry/progress-line.ts';
import { commandWriter } from './command-line.ts';
import { openSiteClient } from './open-site-client.ts';
import { whyClosed } from './why-closed.ts';
import { say } from './write-action.ts';

export interface Adopting {
  readonly feed: FeedName;
  readonly site: SiteConfig;
  readonly setup: FeedSetup;
  readonly client: SiteClient;
  readonly subject: AdoptSubject;
  readonly progress: ProgressLine;
  /** Throws if the feed's pull lock is no longer held: another process may pull the feed. */
  readonly checkLock: () => void;
  readonly say: (message: Message) => string;
}

/** Runs `work` while no other process pulls the feed or adopts jobs for it. */
export async function withAdopting(
  app: App,
  name: string,
  { config, signal }: { readonly config: string | undefined; readonly signal: AbortSignal },
  work: (adopting: Adopting) => Promise<void>,
): Promise<void> {
  const setup = setupOf(app, name);
  const site = app.config.sites.get(setup.site);
  if (site === undefined) throw new UserError(`feed ${name} names site ${setup.site}, which is not configured`);
  const write = (message: Message): string => say(message, commandWriter(config));
  const closed = await whyClosed(app, site);
  if (closed !== undefined) throw new UserError(write(closed));
  const lock = await lockFeed(app.db, setup.feed);
  if (lock === undefined)
    throw new UserError(
      `feed ${setup.feed} is being pulled, or another command adopts its jobs; try again when that has ended`,
    );
  const progress = startProgressLine();
  const client = await openSiteClient(site.options);
  const guarded = AbortSignal.any([signal, lock.lost]);
  try {
    const local = rateLimiterFor(site.requestsPerSecond);
    const subject: AdoptSubject = {
      db: app.db,
      feed: setup.feed,
      site: site.name,
      referenceField: site.options.referenceField,
      stateField: setup.mapping.stateField.name,
      states: setup.mapping.states,
      client,
      rateLimiter: learntRateLimiter(local, app.db, site.name, site.requestsPerSecond, () => guarded.aborted),
      signal: guarded,
      readPostings: (take) => readUnmapped(setup, { db: app.db, log: app.log, signal: guarded }, take),
      onProgress: (done) => progress.show(describeProgress(setup, done)),
    };
    const checkLock = () => {
      if (!lock.held()) throw new UserError('the connection to the database was lost; run the command again');
    };
    await work({ feed: setup.feed, setup, client, site, subject, progress, checkLock, say: write });
  } finally {
    progress.clear();
    await client.close();
    await lock.release();
  }
}

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
