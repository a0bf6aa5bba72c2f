// The words of a configuration that has been read and checked: plain data, units in names, secrets wrapped.
import type { FeedSource } from '../feed/feed-reading.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { MappingSpec, StateField } from '../posting/mapping.ts';
import type { SiteOptions } from '../site/exchange.ts';
import type { Complaint } from './config-error.ts';
import type { Secret } from './secret.ts';

export interface Config {
  /** Absolute path of the file it was read from. */
  readonly path: string;
  readonly database: { readonly kind: 'embedded' } | { readonly kind: 'postgres'; readonly url: Secret };
  /** `database`: the queue lives in the same Postgres. */
  readonly queue: { readonly kind: 'database' } | { readonly kind: 'redis'; readonly url: Secret };
  /** Absolute path of the folder that the embedded server keeps its files in. */
  readonly dataDir: string;
  readonly log: { readonly level: LogLevel };
  /** Where `start` answers `/healthz`. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly retention: {
    readonly requestsDays: number;
    readonly failuresDays: number;
    readonly auditDays: number;
    readonly pullsDays: number;
  };
  readonly sites: ReadonlyMap<SiteName, SiteConfig>;
  readonly feeds: ReadonlyMap<FeedName, FeedConfig>;
  /** Feeds whose settings are wrong: left out, so that the others are mirrored all the same. */
  readonly brokenFeeds: ReadonlyMap<FeedName, BrokenFeed>;
  /** What is not wrong but should be looked at, a line each. */
  readonly warnings: readonly string[];
}

/** A feed that stands in the configuration and can't be used as it stands there. */
export interface BrokenFeed {
  /** As far as that can be read. */
  readonly siteName: SiteName | undefined;
  readonly complaints: readonly Complaint[];
}

/** The names of all feeds of the configuration: one with a mistake is not one that was taken out. */
export const namedFeeds = ({ feeds, brokenFeeds }: Pick<Config, 'feeds' | 'brokenFeeds'>): ReadonlySet<FeedName> =>
  new Set([...feeds.keys(), ...brokenFeeds.keys()]);

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface SiteConfig {
  readonly name: SiteName;
  readonly options: SiteOptions;
  readonly stateField: StateField;
  readonly requestsPerSecond: number;
  readonly retry: { readonly attempts: number; readonly firstDelayMs: number; readonly maxDelayMs: number };
  readonly doubts: {
    /** How long a create stays in doubt before the site is asked; longer than the request deadline. */
    readonly resolveAfterMs: number;
    /** How often the site's list is read before "it is not there" is believed. */
    readonly listChecks: number;
    readonly escalateAfterMs: number;
  };
  /** Pauses the site when this share of a pull's first requests fails. */
  readonly canary: { readonly requests: number; readonly percent: number };
  /** What to do when the site says that a job to update is not there. */
  readonly onMissing: 'create' | 'leave';
}

export interface FeedConfig {
  readonly name: FeedName;
  readonly siteName: SiteName;
  readonly source: FeedSource;
  readonly mapping: MappingSpec;
  readonly guard: DeleteGuard;
  /** A cron expression of five or six fields (seconds first); absent: pulled only by `sync`. */
  readonly schedule?: string;
  /** IANA name of the zone the schedule is in. */
  readonly timeZone: string;
  /** Without a complete pull for so long the feed counts as failing; absent: three runs of the schedule, if it has one. */
  readonly staleAfterMs?: number;
  /** With fewer records the feed is not taken for complete. */
  readonly minRecords?: number;
}

/** Deletes of the last 24 hours above both limits are held for approval. */
export interface DeleteGuard {
  /** Of the live jobs. */
  readonly percent: number;
  readonly count: number;
  /** Pulls in a row that a posting must be missing from before its job is deleted. */
  readonly missingPulls: number;
}
