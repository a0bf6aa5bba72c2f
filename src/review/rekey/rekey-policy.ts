// What a feed may do to the jobs that its new keys keep, as this process is configured.
import type { Config } from '../../config/config.ts';
import type { FeedPolicy } from '../../plan/policy.ts';
import type { FeedName } from '../../posting/identifiers.ts';

/** `undefined`: everything. */
export type RekeyPolicy = FeedPolicy | undefined | UnknownPolicy;

/** Without it, jobs might be changed that the feed must leave as they are. */
export interface UnknownPolicy {
  /** Why it is not known. */
  readonly unknown: string;
}

export function rekeyPolicy({ feeds, brokenFeeds, path }: Config, name: FeedName): RekeyPolicy {
  if (brokenFeeds.has(name)) return { unknown: `the configuration of feed ${name} is wrong: fix it first` };
  const feed = feeds.get(name);
  if (feed !== undefined) return feed.policy;
  return {
    unknown: `feed ${name} is not in ${path}, so whether its jobs may be changed (policy) is not known here: decide where it is configured`,
  };
}

export const isUnknown = (policy: RekeyPolicy): policy is UnknownPolicy => typeof policy === 'object';
