// Resolves names in paths to what exists, or ends the request as not found.
import { namedFeeds, type SiteConfig } from '../../config/config.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { App } from '../../runtime/app.ts';
import { knownFeeds } from '../../store/change/act-in-review.ts';
import { ProblemError } from '../problem.ts';

export const notFound = (detail: string): ProblemError => new ProblemError({ status: 404, detail });

/** A feed of the configuration or of the database. */
export async function requireFeed({ config, db }: App, name: string): Promise<FeedName> {
  const feed = name as FeedName;
  if (namedFeeds(config).has(feed) || (await knownFeeds(db)).includes(feed)) return feed;
  throw notFound(`there is no feed ${name}`);
}

export function requireSite({ config }: App, name: string): SiteConfig {
  const site = config.sites.get(name as SiteName);
  if (site === undefined) throw notFound(`there is no site ${name}`);
  return site;
}
