// The types of a checked configuration: plain data, units in names, secrets wrapped.

import type { FeedSource } from '../feed/feed-reading.ts';
import type { RequestedAddresses } from '../feed/source/sources.ts';
import type { ProxySettings } from '../flow/proxy.ts';
import type { DeleteGuard } from '../plan/delete-guard.ts';
import type { FeedPolicy } from '../plan/policy.ts';
import type { RekeyGuard } from '../plan/rekey.ts';
import type { FieldMapping, StateField } from '../posting/field-mapping.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { SiteOptions } from '../site/exchange.ts';
import type { RetentionDays } from '../store/status/retention.ts';
import type { AlertKind, PostingEvent } from '../telemetry/alert-message.ts';
import type { LogLevel } from '../telemetry/log.ts';
import type { WebConfig } from './build/web-config.ts';
import type { Complaint } from './config-error.ts';
import type { Secret } from './read-secret.ts';

export interface Config {
  /** Absolute path of the file it was read from. */
  readonly path: string;
  readonly database: { readonly kind: 'embedded' } | { readonly kind: 'postgres'; readonly url: Secret };
  /** `database`: the queue lives in the same Postgres. */
  readonly queue: { readonly kind: 'database' } | { readonly kind: 'redis'; readonly url: Secret };
  /** Absolute path of the folder that the embedded server keeps its files in. */
  readonly dataDir: string;
  readonly log: { readonly level: LogLevel };
  /** Where `start` serves HTTP. */
  readonly listen: { readonly host: string; readonly port: number };
  /** What a reader of `/metrics` has to send; `undefined`: nothing, but only loopback is served. */
  readonly metricsToken: Secret | undefined;
  /** Who is notified when something needs attention, by name. */
  readonly alerts: ReadonlyMap<string, AlertDestination>;
  readonly web: WebConfig;
  readonly retentionDays: RetentionDays;
  /** Through which sites, sources and alerts are reached that have none of their own; `undefined`: nothing is written. */
  readonly proxy: ProxySettings | undefined;
  /** All that any setting names. */
  readonly proxies: readonly ProxySettings[];
  readonly sites: ReadonlyMap<SiteName, SiteConfig>;
  /** All that are written, also those that a command leaves out because their settings are wrong. */
  readonly namedSites: ReadonlySet<SiteName>;
  readonly feeds: ReadonlyMap<FeedName, FeedConfig>;
  /** Feeds with invalid settings: left out, while the others are mirrored. */
  readonly brokenFeeds: ReadonlyMap<FeedName, BrokenFeed>;
  /** What is wrong in parts that the command does not need. */
  readonly mistakes: readonly Complaint[];
  /** Settings that are valid but deserve attention, one line each. */
  readonly warnings: readonly string[];
  /** Secrets that this process does not have: see {@link Secret.absence}. */
  readonly absences: readonly Complaint[];
  /** The user's own presets: feed formats in the folder `presets` beside the file. */
  readonly ownPresets: readonly { readonly name: string; readonly file: string }[];
  /** Where feeds have files of their own; `undefined`: nowhere. */
  readonly include: Include | undefined;
  /** Absolute path of the file of each feed that has one. */
  readonly feedFiles: ReadonlyMap<FeedName, string>;
  /** The addresses that the file of each of these feeds names for its source, as written. */
  readonly fileAddresses: ReadonlyMap<FeedName, RequestedAddresses>;
  /** A digest of the settings in each of these files, as written: without comments, and without what look-up tables have. */
  readonly fileDigests: ReadonlyMap<FeedName, string>;
}

/** Where feeds have files of their own. */
export interface Include {
  /** As it is written: `feeds/*.yaml`. */
  readonly pattern: string;
  /** Absolute path of the folder, which need not exist. */
  readonly folder: string;
  /** `.yaml` or `.yml`. */
  readonly ending: string;
}

export interface AlertDestination {
  readonly name: string;
  readonly channel:
    | {
        readonly kind: 'webhook';
        readonly url: Secret;
        readonly secret: Secret;
        readonly proxy?: ProxySettings | undefined;
      }
    | { readonly kind: 'slack'; readonly url: Secret; readonly proxy?: ProxySettings | undefined }
    | { readonly kind: 'email'; readonly smtp: Secret; readonly from: string; readonly to: readonly string[] };
  readonly kinds: ReadonlySet<AlertKind>;
  /** What it is told of each posting. */
  readonly events: readonly PostingEvent[];
  /** Only these feeds concern it; `undefined`: all. */
  readonly feeds: ReadonlySet<string> | undefined;
  readonly rejectedPercent: number;
}

/** A configured feed that can't be used because its settings are invalid. */
export interface BrokenFeed {
  /** `undefined` if it can't be read. */
  readonly siteName: SiteName | undefined;
  readonly complaints: readonly Complaint[];
}

/** The names of all configured feeds, including broken ones: those were not removed. */
export const namedFeeds = ({ feeds, brokenFeeds }: Pick<Config, 'feeds' | 'brokenFeeds'>): ReadonlySet<FeedName> =>
  new Set([...feeds.keys(), ...brokenFeeds.keys()]);

export interface SiteConfig {
  readonly name: SiteName;
  readonly options: SiteOptions & { readonly token: Secret };
  readonly stateField: StateField;
  /** Across all processes; a lower rate may be learnt from the site. `Infinity`: no limit. */
  readonly requestsPerSecond: number;
  readonly retry: { readonly attempts: number; readonly firstDelayMs: number; readonly maxDelayMs: number };
  readonly doubts: {
    /** How long a create stays in doubt before the site is searched for its job; longer than the request deadline. */
    readonly resolveAfterMs: number;
    /** How many times the site's list is read before a missing job counts as not created. */
    readonly listChecks: number;
    readonly escalateAfterMs: number;
  };
  /** Pauses the site if more than this share of a pull's first requests fails. */
  readonly canary: { readonly requests: number; readonly percent: number };
  /** What to do when the site reports that a job to update does not exist. */
  readonly onMissing: 'create' | 'leave';
  /** What the site does to fields that an update omits; `undefined`: nobody has said, and it is taken to keep them until it is seen not to. */
  readonly omittedFields: 'keep' | 'clear' | undefined;
}

/** What a scheduled run of verify does about a difference: leaves it to a person, or has the next pull set it again. */
export type OnDifference = 'review' | 'set_again';

export interface VerifySettings {
  /** A cron expression, in the time zone of the feed. */
  readonly schedule: string;
  /** So many jobs at random; absent: all. */
  readonly sample?: number;
  /** Asks for each job instead of reading the list. */
  readonly each: boolean;
  readonly changed: OnDifference;
  readonly gone: OnDifference;
  /** Overrides `changed`. */
  readonly fields: Readonly<Record<string, OnDifference>>;
}

export interface FeedConfig {
  readonly name: FeedName;
  readonly siteName: SiteName;
  readonly source: FeedSource;
  readonly mapping: FieldMapping;
  /** Fields that the user maps; the others are those of a preset that comes with jobmirror. */
  readonly ownFields: ReadonlySet<string>;
  /** Whether the user says where the places of a posting are; otherwise a preset may say it. */
  readonly hasOwnPlaces: boolean;
  readonly guard: DeleteGuard;
  readonly rekeyGuard: RekeyGuard;
  /** Absent: `mirror`. */
  readonly policy?: FeedPolicy;
  /** After how many days on the site the job of a posting is deleted; absent: never. */
  readonly expireAfterDays?: number;
  /** A cron expression of five or six fields (seconds first); absent: pulled only by `sync`. */
  readonly schedule?: string;
  /** IANA name of the schedule's time zone. */
  readonly timeZone: string;
  /** How `start` verifies its jobs; absent: not at all. */
  readonly verify?: VerifySettings;
  /** After this long without a complete pull the feed is failing; absent: three runs of its schedule, if it has one. */
  readonly staleAfterMs?: number;
  /** With fewer records the feed counts as incomplete. */
  readonly minRecords?: number;
}
