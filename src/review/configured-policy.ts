// What a feed may do to its jobs, as far as this process knows.
import type { Config } from '../config/config.ts';
import { deletesMissing, type FeedPolicy } from '../plan/policy.ts';
import { membershipRule } from '../posting/fingerprint.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { ConfiguredFeed } from '../store/change/act-in-review.ts';

/** `undefined`: this process is not configured with the feed, so the policy of its last pull applies. */
export type PolicyOf = (feed: FeedName) => FeedPolicy | undefined;

/** What decides about the deletes of each feed, as this process is configured. */
export const configuredFeeds = ({ feeds }: Pick<Config, 'feeds'>): readonly ConfiguredFeed[] =>
  [...feeds.values()].map((feed) => ({
    feed: feed.name,
    deletes: deletesMissing(feed.policy),
    membership: membershipRule(feed),
  }));

export const configuredPolicy =
  ({ feeds }: Pick<Config, 'feeds'>): PolicyOf =>
  (name) => {
    const feed = feeds.get(name);
    return feed && (feed.policy ?? 'mirror');
  };
