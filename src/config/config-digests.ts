// Computes a digest of each site and feed, which lets processes detect where their configurations differ.
import { hash } from 'node:crypto';
import type { FeedSource } from '../feed/feed-reading.ts';
import { kindOf } from '../feed/source/sources.ts';
import { sortNames } from '../posting/fingerprint.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { Config, FeedConfig, SiteConfig } from './config.ts';
import { Secret } from './read-secret.ts';

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

/** What differs between two configurations, by name. */
export interface ConfigChanges {
  readonly added: readonly FeedName[];
  /** Also a feed that has moved to another file. */
  readonly changed: readonly FeedName[];
  readonly removed: readonly FeedName[];
  /** Added, changed or removed. */
  readonly sites: readonly SiteName[];
  /** Other groups of settings: `alerts`, `web`, `metrics`, `retention`, `log`, `include`, `presets`. */
  readonly others: readonly string[];
}

/** Also where only a secret differs. */
export function changedParts(before: Config, after: Config): ConfigChanges {
  const feedsOf = ({ brokenFeeds, feeds, feedFiles }: Config) =>
    new Map([...brokenFeeds, ...feeds].map(([name, feed]) => [name, wholeText([feed, feedFiles.get(name)])]));
  const [was, is] = [feedsOf(before), feedsOf(after)];
  const sites = new Set([...before.sites.keys(), ...after.sites.keys()]);
  const groups = (config: Config): Readonly<Record<string, unknown>> => {
    const { alerts, web, metricsToken, retentionDays: retention, log, include, ownPresets } = config;
    return { alerts, web, metrics: metricsToken, retention, log, include, presets: ownPresets };
  };
  const [former, present] = [groups(before), groups(after)];
  return {
    added: [...is.keys()].filter((name) => !was.has(name)),
    changed: [...is.keys()].filter((name) => was.has(name) && was.get(name) !== is.get(name)),
    removed: [...was.keys()].filter((name) => !is.has(name)),
    sites: [...sites].filter((name) => wholeText(before.sites.get(name)) !== wholeText(after.sites.get(name))),
    others: Object.keys(present).filter((name) => wholeText(former[name]) !== wholeText(present[name])),
  };
}

/** The settings as a text that differs where they do. It holds digests of secrets: never store or show it. */
function wholeText(settings: unknown): string {
  return JSON.stringify([settings], function (this: Readonly<Record<string, unknown>>, name, value: unknown) {
    // JSON.stringify has masked a secret by now.
    const written = this[name];
    if (written instanceof Secret) return written.absence === undefined ? hash('sha256', written.reveal()) : null;
    if (written instanceof Map || written instanceof Set) return [...written];
    return written instanceof RegExp ? String(written) : value;
  });
}

/** Of each feed with the postings of an earlier one of the same site, read and skipped alike: a warning. */
export function warnOfSameFeeds(feeds: Iterable<FeedConfig>): string[] {
  const first = new Map<string, FeedName>();
  return [...feeds].flatMap(({ name, siteName, source, mapping: { key, skip } }) => {
    const all = wholeText([siteName, source, key, skip]);
    const other = first.get(all);
    if (other === undefined) first.set(all, name);
    return other === undefined
      ? []
      : [
          `feeds ${other} and ${name} have the same source, key and site: the site gets a job of each for every posting`,
        ];
  });
}

/** Two feeds with the same source may be one feed under two names. */
export function sourceDigest({ from }: FeedSource): string {
  return digest({ place: kindOf(from).publicConfig(from).place });
}

function publicSite({ options, ...site }: SiteConfig): object {
  const { token: _, baseUrl, fieldNames: __, proxy: ___, ...others } = options;
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
