// Reads the other feeds of a site that this database does not know: a job may belong to one of their postings. Tells
// people so.
import type { Message } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { readUnmapped } from '../../pull/preview/read-for-adopting.ts';
import { shortfallText } from '../../review/match-jobs.ts';
import { addressOf } from '../../site/base-address.ts';
import { type UnmappedPosting, unreadFeeds } from '../../store/backlog/unmapped-postings.ts';
import { lockFeed } from '../../store/locks/feed-locks.ts';
import type { App } from '../app.ts';
import { chooseFeeds } from '../feed-setups.ts';
import type { Adopting } from './open-adopting.ts';

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
  const [setup] = chooseFeeds(app.config, [feed]).setups;
  const lock = setup === undefined ? undefined : await lockFeed(app.db, feed);
  if (setup === undefined || lock === undefined) return false;
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
