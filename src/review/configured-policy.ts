// What a feed may do to its jobs, as far as this process knows.
import type { Config } from '../config/config.ts';
import type { FeedPolicy } from '../plan/policy.ts';
import type { FeedName } from '../posting/identifiers.ts';

/** `undefined`: this process is not configured with the feed, so the policy of its last pull applies. */
export type PolicyOf = (feed: FeedName) => FeedPolicy | undefined;

export const configuredPolicy =
  ({ feeds }: Pick<Config, 'feeds'>): PolicyOf =>
  (name) => {
    const feed = feeds.get(name);
    return feed && (feed.policy ?? 'mirror');
  };
