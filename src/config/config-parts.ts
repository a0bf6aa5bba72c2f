// Computes a digest of each site and feed, which lets processes detect where their configurations differ.
import { hash } from 'node:crypto';
import type { FeedSource } from '../feed/feed-reading.ts';
import type { Config, FeedConfig, SiteConfig } from './config.ts';

/** A digest for each part, by a name such as `feed acme` or `site board`. Digests include no secrets. */
export function configParts({ feeds, sites }: Pick<Config, 'feeds' | 'sites'>): Record<string, string> {
  const parts: Record<string, string> = {};
  for (const site of sites.values()) parts[`site ${site.name}`] = digest(publicSite(site));
  for (const feed of feeds.values()) {
    parts[`feed ${feed.name}`] = digest(publicFeed(feed));
    parts[`source of feed ${feed.name}`] = sourceDigest(feed.source);
  }
  return parts;
}

/** Two feeds with the same source may be one feed under two names. */
export const sourceDigest = (source: FeedSource): string => digest({ location: withoutSecrets(source.location) });

function publicSite({ options, ...site }: SiteConfig): object {
  const { token: _, baseUrl, ...others } = options;
  return { ...site, options: others, baseUrl: withoutSecrets(baseUrl.href) };
}

const publicFeed = ({ source, ...feed }: FeedConfig): object => ({ ...feed, source: publicSource(source) });

function publicSource({ headers, location, ...source }: FeedSource): object {
  return { ...source, headers: Object.keys(headers).sort(), location: withoutSecrets(location) };
}

/** A URL may hold a user, a password, and keys in its query. */
function withoutSecrets(location: string): string {
  if (!URL.canParse(location)) return location;
  const url = new URL(location);
  return `${url.protocol}//${url.host}${url.pathname}?${[...url.searchParams.keys()].join('&')}`;
}

const digest = (value: object): string => hash('sha256', JSON.stringify(value, sortNames), 'hex').slice(0, 16);

/** Sorts object names but not lists, whose order matters. */
function sortNames(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
