// Turns the configured feeds that a command names into what pulling them needs.
import type { FeedSetup } from '../../jobs/feed-setup.ts';
import type { Config, FeedConfig } from '../config/config.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { compileReader } from '../posting/reader.ts';
import { UserError } from './exit-status.ts';

/** The setups of the feeds with these names, or of all. Throws a UserError that names the feeds there are. */
export function feedSetups(config: Config, names: readonly string[]): FeedSetup[] {
  const unknown = names.filter((name) => !config.feeds.has(name as FeedName));
  if (unknown.length > 0) {
    const known = [...config.feeds.keys()].join(', ') || 'none';
    throw new UserError(`there is no feed ${unknown.join(', ')} in ${config.path}; feeds there: ${known}`);
  }
  const wanted = names.length === 0 ? [...config.feeds.values()] : uniqueFeeds(config, names);
  const configured = new Set(config.feeds.keys());
  return wanted.map((feed) => setupOf(feed, configured));
}

const uniqueFeeds = (config: Config, names: readonly string[]): FeedConfig[] =>
  [...new Set(names)].flatMap((name) => config.feeds.get(name as FeedName) ?? []);

const setupOf = (feed: FeedConfig, configured: ReadonlySet<FeedName>): FeedSetup => ({
  feed: feed.name,
  site: feed.siteName,
  source: feed.source,
  mapping: feed.mapping,
  reader: compileReader(feed.mapping),
  guard: feed.guard,
  minRecords: feed.minRecords,
  configured,
});
