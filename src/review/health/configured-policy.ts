// What a feed may do to its jobs, as far as this process knows.
import type { Config } from '../../config/config.ts';
import type { ConfiguredHere } from '../../plan/allowed.ts';
import { deletesMissing, type FeedPolicy } from '../../plan/policy.ts';
import { membershipRule } from '../../posting/fingerprint.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { ConfiguredFeed } from '../../store/change/act-in-review.ts';
import { membershipRules } from '../../store/feed/feed-state.ts';
import { servedFeeds } from '../../store/locks/processes.ts';
import type { Queryable } from '../../store/postgres/database.ts';

/** `undefined`: this process is not configured with the feed, so the policy of its last pull applies. */
export type PolicyOf = (feed: FeedName) => FeedPolicy | undefined;

/** What decides which entries an action applies to. */
export type FeedsConfig = Pick<Config, 'feeds' | 'brokenFeeds'>;

/**
 * What decides about the entries of each feed, as this process is configured.
 * @param among only these: the database compares each entry with each of them
 */
export const configuredFeeds = (
  { feeds }: Pick<Config, 'feeds'>,
  among: readonly FeedName[] = [...feeds.keys()],
): readonly ConfiguredFeed[] =>
  [...new Set(among)].flatMap((name) => {
    const feed = feeds.get(name);
    if (feed === undefined) return [];
    const { siteName: site, policy } = feed;
    return [{ feed: name, site, deletes: deletesMissing(policy), membership: membershipRule(feed) }];
  });

/** What the database knows besides. */
interface StoredHere {
  /** Under which the last pull of each feed has looked for its postings. */
  readonly rules: ReadonlyMap<FeedName, string | null>;
  readonly served: ReadonlySet<FeedName>;
}

/** @param stored by default, the rules are the present ones, and no other process runs */
export function configuredHere(config: FeedsConfig, stored?: StoredHere): ConfiguredHere {
  const feeds = configuredFeeds(config).map(({ feed, site, deletes, membership }) => {
    return [feed, { site, deletes, isDecided: stored === undefined || stored.rules.get(feed) === membership }] as const;
  });
  return { feeds: new Map(feeds), broken: new Set(config.brokenFeeds.keys()), served: stored?.served ?? new Set() };
}

/** What decides what can be done about entries, as this process is configured. */
export const readConfiguredHere = async (db: Queryable, config: FeedsConfig): Promise<ConfiguredHere> =>
  configuredHere(config, { rules: await membershipRules(db), served: await servedFeeds(db) });

export const configuredPolicy =
  ({ feeds }: Pick<Config, 'feeds'>): PolicyOf =>
  (name) => {
    const feed = feeds.get(name);
    return feed && (feed.policy ?? 'mirror');
  };
