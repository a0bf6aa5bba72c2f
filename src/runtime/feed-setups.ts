// Prepares the feeds that a command names for pulling, and reports those that cannot be pulled.
import { type Config, type FeedConfig, namedFeeds, type SiteConfig } from '../config/config.ts';
import { configDigests, sourceDigest } from '../config/config-digests.ts';
import { type Complaint, ConfigError, complaintLine } from '../config/config-error.ts';
import { digestFeedFile } from '../config/include.ts';
import { placesOf } from '../config/load-us-states.ts';
import { Secret } from '../config/read-secret.ts';
import { detailReading } from '../feed/detail-record.ts';
import { credentialsMask, kindOf } from '../feed/source/sources.ts';
import { type Message, messageOf, plural } from '../plan/message.ts';
import { updatesJobs } from '../plan/policy.ts';
import { interpretationOf } from '../posting/fingerprint.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { compileReader } from '../posting/reader.ts';
import type { FeedSetup } from '../pull/feed-setup.ts';
import { addressOf } from '../site/http/job-address.ts';
import { type UnconfiguredFeed, unconfiguredFeeds } from '../store/feed/unconfigured-feeds.ts';
import { type App, readConfig } from './app.ts';
import { UserError } from './stop-signal.ts';

/** The feeds a command works on. A broken one does not stop the others. */
export interface ChosenFeeds {
  readonly setups: readonly FeedSetup[];
  readonly broken: readonly BrokenSetup[];
}

export interface BrokenSetup {
  readonly feed: FeedName;
  /** What is wrong, and where. */
  readonly message: string;
}

/**
 * The feeds with these names, or all. Throws a UserError if a name is unknown, or no feed is configured.
 * @param purpose `send`: a feed is broken as well if its site's token or the queue's password is absent
 */
export function chooseFeeds(config: Config, names: readonly string[], purpose: 'pull' | 'send' = 'pull'): ChosenFeeds {
  const configured = namedFeeds(config);
  const unknown = names.filter((name) => !configured.has(name as FeedName));
  if (unknown.length > 0) {
    const known = [...configured].join(', ') || 'none';
    throw new UserError(`there is no feed ${unknown.join(', ')} in ${config.path}; feeds there: ${known}`);
  }
  if (configured.size === 0) {
    throw new UserError(
      `${config.path} has no feed, so there is nothing to mirror; add one under feeds, or write include: feeds/*.yaml to add it on the pages of start`,
    );
  }
  const setups: FeedSetup[] = [];
  const broken: BrokenSetup[] = [];
  for (const name of names.length === 0 ? configured : new Set(names as FeedName[])) {
    const feed = config.feeds.get(name);
    const faults = [
      ...(config.brokenFeeds.get(name)?.complaints ?? []),
      ...(feed === undefined || purpose === 'pull' ? [] : absencesOf(feed, config)),
    ].map(complaintLine);
    const setup = feed === undefined || faults.length > 0 ? faults.join('; ') : setupOf(feed, config, configured);
    if (typeof setup === 'string') broken.push({ feed: name, message: `its configuration is wrong: ${setup}` });
    else setups.push(setup);
  }
  return { setups, broken };
}

/** The setup of one feed, or what is wrong with it. Throws as {@link chooseFeeds} does. */
export function setupOfFeed(config: Config, name: string, purpose?: 'pull' | 'send'): FeedSetup | string {
  const { setups, broken } = chooseFeeds(config, [name], purpose);
  return setups[0] ?? broken.map(({ message }) => message).join('; ');
}

/** The secrets that are absent of those which sending a feed's changes needs. */
function absencesOf({ siteName }: FeedConfig, { sites, queue }: Config): readonly Complaint[] {
  const site = sites.get(siteName)?.options;
  const proxy = site?.baseUrl.protocol === 'https:' ? site.proxy?.https : site?.proxy?.http;
  const needed = [site?.token, queue.kind === 'redis' ? queue.url : undefined, proxy];
  return needed.flatMap((secret) => (secret instanceof Secret ? (secret.absence ?? []) : []));
}

/** The setups of the feeds that can be pulled. */
export const feedSetups = (config: Config, names: readonly string[]): readonly FeedSetup[] =>
  chooseFeeds(config, names).setups;

/** Returns a message if the mapping is invalid. */
function setupOf(feed: FeedConfig, config: Config, configured: ReadonlySet<FeedName>): FeedSetup | string {
  const { sites, web, fileAddresses } = config;
  const file = config.feedFiles.get(feed.name);
  try {
    const reader = compileReader(feed.mapping);
    return {
      feed: feed.name,
      site: feed.siteName,
      address: addressOf((sites.get(feed.siteName) as SiteConfig).options),
      referenceField: sites.get(feed.siteName)?.options.referenceField,
      places: placesOf(sites.get(feed.siteName) as SiteConfig),
      sourceDigest: sourceDigest(feed.source),
      source: feed.source,
      mapping: feed.mapping,
      ownFields: feed.ownFields,
      hasOwnPlaces: feed.hasOwnPlaces,
      detail: feed.source.details?.name,
      reader,
      format: feed.source.format,
      interpretation: interpretationOf({
        ...feed.source,
        fingerprint: reader.fingerprint,
        details: feed.source.details && detailReading(feed.source.details, feed.source.from),
        ...(updatesJobs(feed.policy) ? {} : { createsOnly: true }),
      }),
      guard: feed.guard,
      rekeyGuard: feed.rekeyGuard,
      policy: feed.policy,
      expireAfterDays: feed.expireAfterDays,
      lenient: feed.source.lenient,
      isPaged: kindOf(feed.source.from).isPaged,
      table: feed.source.table,
      mask: credentialsMask(feed.source.from),
      minRecords: feed.minRecords,
      mayListNewest: mayListNewest(feed.source),
      configured,
      checkedAddresses: web.privateSources ? undefined : fileAddresses.get(feed.name),
      file: file === undefined ? undefined : { path: file, isAsRead: () => isFeedAsRead(feed.name, file, config) },
    };
  } catch (error) {
    return error instanceof ConfigError ? error.message : `feeds.${feed.name}.fields: ${(error as Error).message}`;
  }
}

/** A document of RSS or Atom mostly lists the newest entries. */
function mayListNewest({
  from,
  format,
  recordPath,
  totalPaths,
  listsAll,
}: FeedConfig['source']): FeedSetup['mayListNewest'] {
  const { members } = from.kind === 'several' ? from : { members: [from] };
  if (!members.some(({ kind }) => kind === 'http') || totalPaths.length > 0 || listsAll === true) return undefined;
  if (/(?:^|\/)(?:item|entry)$/i.test(recordPath)) return 'entries';
  return format === 'json' ? 'api' : undefined;
}

/** Whether the feed's file still has the settings that the configuration has of it, or others with the same effect. */
async function isFeedAsRead(feed: FeedName, file: string, config: Config): Promise<boolean> {
  // A changed look-up table does not count: it is read again only when somebody asks for that.
  if ((await digestFeedFile(file)) === config.fileDigests.get(feed)) return true;
  const digestOf = ({ feeds }: Config) => configDigests({ feeds, sites: new Map(), alerts: new Map() })[`feed ${feed}`];
  try {
    const present = await readConfig({ config: config.path });
    return present.feeds.has(feed) && digestOf(present) === digestOf(config);
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

/** One message for each feed that is no longer in the configuration and has unsent changes. */
export async function unsentChangesOfRemovedFeeds({ db, config }: Pick<App, 'db' | 'config'>): Promise<Message[]> {
  const left = await unconfiguredFeeds(db, namedFeeds(config));
  return left.filter(({ unsent }) => unsent > 0).map(describeLeft);
}

export function describeLeft({ feed, live, unsent }: Pick<UnconfiguredFeed, 'feed' | 'live' | 'unsent'>): Message {
  const jobs = `${plural(live, 'job')} ${live === 1 ? 'stays as it is' : 'stay as they are'}`;
  const changes = unsent === 0 ? '' : `, and ${plural(unsent, 'change')} ${unsent === 1 ? 'is' : 'are'} not sent`;
  return messageOf(`feed ${feed} is no longer in the configuration: ${jobs}${changes}`, [
    { words: 'If it was renamed', action: { kind: 'rename_feed', feed, to: null } },
    { words: 'If it was removed on purpose', action: { kind: 'retire_feed', feed } },
  ]);
}
