// Opens what every command works with: the configuration, the log and the database, embedded or the user's own.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { AlertDestination, Config } from '../config/config.ts';
import { type Complaint, ConfigError, complaintLine } from '../config/config-error.ts';
import { ALL_BUT_DATABASE, loadConfig, SERVING } from '../config/load-config.ts';
import { openEmbeddedServer } from '../embedded-postgres/server.ts';
import { kindOf } from '../feed/source/sources.ts';
import type { WriteAction } from '../plan/message.ts';
import { type Database, openDatabase } from '../store/postgres/database.ts';
import { migrate } from '../store/postgres/migrate.ts';
import { describePassing, isSaidByServer, withRetry } from '../store/postgres/transient-error.ts';
import { noticeRestore } from '../store/site/ahead-signs.ts';
import { createLogger, type Logger } from '../telemetry/log.ts';
import { UserError } from './stop-signal.ts';
import { processTiming, type Timing } from './timing.ts';

/** What commands receive. The opener closes it. */
export interface App {
  readonly config: Config;
  readonly db: Database;
  readonly log: Logger;
  readonly timing: Timing;
  /** How logs and health show what a person can do. */
  readonly writeAction: WriteAction;
  close(): Promise<void>;
}

/** Options of every command that takes a configuration. */
export interface AppOptions {
  /** Path of the configuration file. */
  readonly config?: string;
  /** What of the configuration must be right: all, all but what only `start` serves, or where the database is. Default: all. */
  readonly needs?: 'all' | 'mirror' | 'database';
  /** Log less than configured: commands that print results log only problems. */
  readonly quiet?: boolean;
  /** Write log lines in a pipe as JSON: for services, and if JSON was requested. */
  readonly json?: boolean;
  /** Aborts the opening, which then throws the signal's reason; an embedded server that it started is stopped. */
  readonly signal?: AbortSignal;
  /** How logs and health show what a person can do; by default they only name it. */
  readonly writeAction?: WriteAction;
}

/** Whether the database was restored, moved or failed over since it was last looked at: the sites are then searched for jobs that it does not know. */
export async function noticeOtherPlace({ config, db, log }: App): Promise<boolean> {
  const changed = await noticeRestore(db, placeOfDatabase(config));
  if (changed === undefined) return false;
  log.warn(`${changed}: searching the sites for jobs that it does not know`);
  return true;
}

/** Identifies the location of an embedded server by its files: those of a restored backup differ. */
function placeOfDatabase({ database, dataDir }: Config): string {
  if (database.kind !== 'embedded') return 'elsewhere';
  const found = statSync(join(dataDir, 'postgres'), { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino}`;
}

/** Loads only the configuration. Feeds with invalid settings are moved to `brokenFeeds`, and absent secrets fail only what needs them. */
export async function readConfig({ config: path, needs = 'all' }: AppOptions): Promise<Config> {
  return loadConfig({
    path,
    env: process.env,
    cwd: process.cwd(),
    brokenFeeds: 'leave_out',
    absentSecrets: 'keep',
    unneeded: { all: [], mirror: SERVING, database: ALL_BUT_DATABASE }[needs],
  });
}

/** For a process that pulls: a feed whose secrets are absent is broken like one whose settings are invalid. */
export function withoutFeedsLackingSecrets(config: Config): Config {
  const feeds = new Map(config.feeds);
  const brokenFeeds = new Map(config.brokenFeeds);
  for (const feed of config.feeds.values()) {
    const complaints = config.absences.filter(({ setting }) => setting.startsWith(`feeds.${feed.name}.`));
    if (complaints.length === 0) continue;
    feeds.delete(feed.name);
    brokenFeeds.set(feed.name, { siteName: feed.siteName, complaints });
  }
  return { ...config, feeds, brokenFeeds };
}

/**
 * For a process that needs all secrets of these groups of settings; of feeds, each is left out by itself.
 * @throws {ConfigError} that names those that are absent
 */
export function expectSecrets(
  { absences }: Config,
  groups: readonly ('sites' | 'queue' | 'web' | 'metrics' | 'alerts')[],
): void {
  const missing = absences.filter(({ setting }) => groups.some((group) => setting.split('.')[0] === group));
  if (missing.length > 0) throw new ConfigError(missing);
}

export async function openApp(options: AppOptions): Promise<App> {
  const config = await readConfig(options);
  const app = await openAppFor(config, options);
  if (config.mistakes.length > 0) {
    app.log.warn(`the configuration is wrong where this command does not need it: ${linesOf(config.mistakes)}`);
  }
  for (const [feed, broken] of config.brokenFeeds) {
    const complaints = broken.complaints.filter((complaint) => !config.mistakes.includes(complaint));
    if (complaints.length === 0) continue;
    app.log.warn({ feed }, `skipping feed ${feed}, its configuration is wrong: ${linesOf(complaints)}`);
  }
  return app;
}

const linesOf = (complaints: readonly Complaint[]) => complaints.map(complaintLine).join('; ');

/**
 * Opens the database and log for a loaded configuration.
 * @param options.waitSignal for unattended commands: waits some minutes for a server that is starting, recovering or
 * read-only, unless the signal aborts, which ends the opening as `options.signal` does.
 */
export async function openAppFor(
  config: Config,
  options: Omit<AppOptions, 'config'> & { readonly waitSignal?: AbortSignal; readonly timing?: Timing } = {},
): Promise<App> {
  const { timing = processTiming() } = options;
  const level = options.quiet === true && config.log.level !== 'error' ? 'warn' : config.log.level;
  const log = createLogger({ level, secrets: configSecrets(config), json: options.json });
  for (const warning of config.warnings) log.warn(warning);
  const server = await openServer(config, (text) => log.info(text), options.signal ?? options.waitSignal);
  try {
    await withRetry(() => migrate(server.url), options.waitSignal ?? AbortSignal.abort(), {
      worthAgain: isSaidByServer,
      onRetry: (error) => log.warn(describePassing(error)),
    });
  } catch (cause) {
    await server.leave();
    throw new UserError(`database: ${placeOf(server.url)} can't be used: ${(cause as Error).message}`, { cause });
  }
  let closing = false;
  const db = openDatabase(server.url, {
    max: 10,
    lockTiming: timing.locks,
    stopping: options.waitSignal,
    onShortage: (error) => log.warn(`${describePassing(error)}; waiting for a connection`),
    onError(error) {
      // No reconnecting once the command ends: the server may be stopping.
      if (!closing) log.warn({ err: error }, 'database connection lost, will reconnect');
    },
  });
  return {
    config,
    db,
    log,
    timing,
    writeAction: options.writeAction ?? (({ kind }) => kind.replaceAll('_', ' ')),
    async close() {
      closing = true;
      await db.close();
      await server.leave();
    },
  };
}

/** A server and its database, without user and password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `Postgres at ${host}${pathname}`;
}

/** The Postgres server of a configuration. `url` holds its password. */
export interface OpenServer {
  readonly url: string;
  /** Leaves an embedded server; the last process to leave stops it. */
  leave(): Promise<void>;
}

/**
 * Opens the configured server: the user's own, or the embedded one of its data folder.
 * @param signal aborts the opening, which then throws the signal's reason
 */
export async function openServer(
  { database, dataDir }: Pick<Config, 'database' | 'dataDir'>,
  onNotice: (text: string) => void,
  signal?: AbortSignal,
): Promise<OpenServer> {
  if (database.kind === 'postgres') return { url: database.url.reveal(), leave: async () => undefined };
  const server = await openEmbeddedServer(dataDir, { onNotice, signal });
  return { url: server.url(), leave: () => server.leave() };
}

/** Every secret in the configuration that the process has, so the log can mask them. */
export function configSecrets({ sites, web, feeds, metricsToken, alerts, database, queue, proxies }: Config): string[] {
  const plain = [
    ...[...sites.values()].map(({ options }) => options.token),
    ...[...web.users.values()].map(({ passwordHash }) => passwordHash),
    ...[...web.tokens.values()].map(({ token }) => token),
    ...[...web.webhooks.values()].map(({ secret }) => secret),
    metricsToken,
  ];
  const servers = [database, queue].flatMap((server) => ('url' in server ? [server.url] : []));
  return [
    ...plain.flatMap((secret) => ifThere(() => [secret?.reveal() ?? ''])),
    ...[...feeds.values()].flatMap(({ source: { from } }) => ifThere(() => kindOf(from).secretsOf(from))),
    ...[...alerts.values()].flatMap(({ channel }) => ifThere(() => secretsOfChannel(channel))),
    ...[...servers, ...proxies.flatMap(({ http, https }) => [http, https])].flatMap((url) =>
      ifThere(() => [passwordOf(url?.reveal() ?? '')]),
    ),
  ].filter((secret) => secret !== '');
}

/** Nothing if a secret is absent. */
function ifThere(read: () => readonly string[]): readonly string[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

/** Of an address with a long path, such as a chat service's, the path is the secret. */
function secretsOfChannel(channel: AlertDestination['channel']): string[] {
  if (channel.kind === 'email') return [passwordOf(channel.smtp.reveal())];
  const { pathname, search } = new URL(channel.url.reveal());
  const path = pathname + search;
  return [...(path.length > 16 ? [path] : []), ...(channel.kind === 'webhook' ? [channel.secret.reveal()] : [])];
}

function passwordOf(url: string): string {
  return URL.canParse(url) ? decodeURIComponent(new URL(url).password) : '';
}
