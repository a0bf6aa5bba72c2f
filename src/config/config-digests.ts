// Computes a digest of each site and feed, which lets processes detect where their configurations differ.
import { hash } from 'node:crypto';
import type { FeedSource } from '../feed/feed-reading.ts';
import { kindOf } from '../feed/source/sources.ts';
import { sortNames } from '../posting/fingerprint.ts';
import type { Config, FeedConfig, SiteConfig } from './config.ts';

/** A digest for each part, by a name such as `feed acme`, `site board` or `alerts ops`. Digests include no secrets. */
export function configDigests({
  feeds,
  sites,
  alerts,
}: Pick<Config, 'feeds' | 'sites' | 'alerts'>): Record<string, string> {
  const parts: Record<string, string> = {};
  for (const site of sites.values()) parts[`site ${site.name}`] = digest(publicSite(site));
  for (const feed of feeds.values()) {
    parts[`feed ${feed.name}`] = digest(publicFeed(feed));
    parts[`source of feed ${feed.name}`] = sourceDigest(feed.source);
  }
  for (const { name, channel, kinds, events, feeds: only, rejectedPercent } of alerts.values()) {
    const what = { kind: channel.kind, kinds: [...kinds], events, feeds: only && [...only], rejectedPercent };
    parts[`alerts ${name}`] = digest(what);
  }
  return parts;
}

/** Two feeds with the same source may be one feed under two names. */
export function sourceDigest({ from }: FeedSource): string {
  return digest({ place: kindOf(from).publicConfig(from).place });
}

function publicSite({ options, ...site }: SiteConfig): object {
  const { token: _, baseUrl, ...others } = options;
  return { ...site, options: others, baseUrl: withoutSecrets(baseUrl) };
}

const publicFeed = ({ source, ...feed }: FeedConfig): object => ({ ...feed, source: publicSource(source) });

const publicSource = ({ from, ...source }: FeedSource): object => ({
  ...source,
  from: kindOf(from).publicConfig(from),
});

/** A site's address may hold a user, a password, and keys in its query. */
const withoutSecrets = ({ protocol, host, pathname, searchParams }: URL): string =>
  `${protocol}//${host}${pathname}?${[...searchParams.keys()].join('&')}`;

const digest = (value: object): string => hash('sha256', JSON.stringify(value, sortNames), 'hex').slice(0, 16);
