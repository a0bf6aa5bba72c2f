// The site of each feed, as a process is configured.
import type { Config } from '../config/config.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';

export const sitesOfFeeds = ({ feeds }: Pick<Config, 'feeds'>): ReadonlyMap<FeedName, SiteName> =>
  new Map([...feeds.values()].map(({ name, siteName }) => [name, siteName]));
