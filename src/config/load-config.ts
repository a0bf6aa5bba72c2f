// Loads the configuration file with the environment. Returns a checked configuration, or one error with every mistake.

import { existsSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isAlias, isMap } from 'yaml';
import type { ProxySettings } from '../flow/proxy.ts';
import { type FeedName, type SiteName, siteName } from '../posting/identifiers.ts';
import { ALERT_KINDS, POSTING_EVENTS } from '../telemetry/alert-message.ts';
import { type ProxyReader, proxyReader } from './build/credentials.ts';
import { makeSitesAndFeeds, settingOf, settingsIn } from './build/sites-and-feeds.ts';
import { makeWebConfig } from './build/web-config.ts';
import type { AlertDestination, BrokenFeed, Config } from './config.ts';
import { type Complaint, ConfigError } from './config-error.ts';
import {
  type Environment,
  type FilledSettings,
  fillFromEnvironment,
  fillText,
  hideVariableValues,
} from './environment.ts';
import { CONFIG_FILE, type FeedDraft, isAddress, readFeedFiles } from './include.ts';
import { packageRoot } from './package-root.ts';
import {
  type AbsentSecret,
  bearerFault,
  readSecret,
  Secret,
  type SecretSettings,
  signingFault,
} from './read-secret.ts';
import { configSchema, type WrittenConfig } from './schema/config-schema.ts';
import { isSecretCredential } from './schema/credentials-schema.ts';
import {
  alertsSchema,
  listenSchema,
  metricsSchema,
  type WrittenDestination,
  webSchema,
} from './schema/services-schema.ts';
import { fileErrorInWords, readText } from './settings-file.ts';
import { CHECKED_ONCE, validate } from './validate.ts';
import { parseYaml, type SettingPath, sharesSettings, toData, withFeedFiles, type YamlSource } from './yaml-source.ts';

type SettingGroup = keyof WrittenConfig;

/** What only a running `start` needs. */
export const SERVING = ['listen', 'metrics', 'alerts', 'web'] as const satisfies readonly SettingGroup[];

/** What is not needed to know where the database is. */
export const ALL_BUT_DATABASE = [
  ...SERVING,
  'log',
  'retention',
  'proxy',
  'queue',
  'sites',
  'feeds',
  'include',
] as const satisfies readonly SettingGroup[];

interface LoadOptions {
  /** The file, relative to `cwd`; default: `jobmirror.yaml`. */
  readonly path?: string;
  readonly env: Environment;
  readonly cwd: string;
  /** `leave_out`: a feed with mistakes goes into `brokenFeeds` and does not stop the others. Default: `refuse`. */
  readonly brokenFeeds?: 'refuse' | 'leave_out';
  /**
   * Groups of settings that the command does not need. With mistakes in one of them, it is as if that group were not written, and they go into
   * `mistakes`; a feed of a wrong site is a broken one. Default: none.
   */
  readonly unneeded?: readonly SettingGroup[];
  /** `keep`: a secret that this process does not have fails only what needs it. Default: `refuse`. */
  readonly absentSecrets?: 'refuse' | 'keep';
  /** Also refuses valid settings that can't work: nothing to mirror, missing feed files. */
  readonly thorough?: boolean;
  /** A text in place of the settings of a feed, as if its file had it. */
  readonly draft?: FeedDraft;
}

/** Reads the configuration. Throws a {@link ConfigError} that lists every mistake. */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  const { path, env, cwd, brokenFeeds, thorough, absentSecrets, draft, unneeded = [] } = options;
  const absolutePath = resolve(cwd, path ?? CONFIG_FILE);
  if (path === undefined) await expectFile(absolutePath);
  const main = parseYaml(shorter(cwd, absolutePath), await readText(absolutePath));
  const around = { path: absolutePath, shown: (file: string) => shorter(cwd, file), draft };
  const { sources, complaints: ofFiles, unreadable, ...files } = await readFeedFiles(main, around);
  const source = sources === undefined ? main : withFeedFiles(main, sources);
  const filling = fillFromEnvironment(source, env, isSecretSetting);
  const written = toData(source);
  const folder = dirname(absolutePath);
  if (written === null || written === undefined) throw withoutSettings(shorter(cwd, absolutePath));
  const absences = new Set<Complaint>();
  const absent: AbsentSecret = (at, message) => {
    const found = message === undefined ? unsetAt(filling, at) : [source.complain(at, message)];
    for (const absence of found) absences.add(absence);
    return found[0] === undefined ? undefined : new Secret(found[0]);
  };
  const absentQueue = absentSecrets === 'keep' ? absent(['queue']) : undefined;
  const data = absentQueue === undefined ? written : { ...written, queue: 'database' };

  const top = validate(configSchema, data, source);
  const ofProxies: Complaint[] = [];
  const proxies = proxyReader(settingOf(data, 'proxy'), {
    env,
    absent,
    complain: (at, message) => ofProxies.push(source.complain(at, message)),
  });
  const { complaints: ofFeeds, ...sitesAndFeeds } = await makeSitesAndFeeds(data, source, {
    env,
    used: filling.used,
    folder,
    absent,
    proxies,
  });
  const { complaints: ofServices, ...services } = await readServices(data, source, { env, folder, absent, proxies });
  const made: MadeParts = {
    ...sitesAndFeeds,
    ...services,
    ...files,
    proxy: proxies.of(['proxy'], undefined),
    proxies: proxies.all,
    namedSites: new Set(Object.keys(settingsIn(data, 'sites')).map(siteName)),
    brokenFeeds: new Map(),
    mistakes: [],
    absences: [...absences],
    warnings: [...sitesAndFeeds.warnings, ...services.warnings],
  };
  const complaints = tidy(
    [
      ...filling.complaints.filter((complaint) => absentSecrets !== 'keep' || !absences.has(complaint)),
      ...(top.kind === 'refused' ? top.complaints.filter(({ setting }) => !unreadable.has(setting)) : []),
      ...ofFeeds,
      ...ofProxies,
      ...ofServices,
      ...ofFiles,
      ...(absentSecrets === 'keep' ? [] : [...absences].filter((absence) => !filling.unset.has(absence))),
      ...(thorough === true ? await findUnusable(data, source, folder) : []),
    ],
    filling,
  );
  if (top.kind === 'settings' && complaints.length === 0)
    return makeConfig(absolutePath, top.settings, made, absentQueue);
  if (brokenFeeds !== 'leave_out' || !isPlaced(source, unneeded)) throw new ConfigError(complaints);

  const sorted = sortComplaints(complaints, data, unneeded, made);
  const rest = validate(configSchema, withoutWrong(data, sorted), source);
  if (sorted.general.length > 0 || rest.kind === 'refused') throw new ConfigError(complaints);
  const feeds = new Map([...made.feeds].filter(([name]) => !sorted.broken.has(name)));
  const left = { feeds, brokenFeeds: sorted.broken, mistakes: sorted.unneeded };
  return makeConfig(absolutePath, rest.settings, { ...made, ...left }, absentQueue);
}

/** What is said of a setting whose variables are not set. */
const unsetAt = ({ unset }: FilledSettings, path: SettingPath): readonly Complaint[] =>
  [...unset].filter(({ setting }) => setting === path.join('.'));

const EXAMPLE = join(packageRoot, 'config', 'jobmirror.example.yaml');

const withoutSettings = (file: string): ConfigError => {
  const message = `holds no settings; write it with jobmirror init SOURCE${configOption(file)} --force, or copy ${EXAMPLE} there and adapt it`;
  return new ConfigError([{ file, setting: '', message }]);
};

const configOption = (file: string): string => (basename(file) === CONFIG_FILE ? '' : ` --config ${file}`);

async function expectFile(path: string): Promise<void> {
  if (existsSync(path)) return;
  const message = `there is no such file; write it with jobmirror init SOURCE (the address or file of your feed), copy ${EXAMPLE} there and adapt it, or name your own with --config FILE`;
  throw new ConfigError([{ file: path, setting: '', message }]);
}

/** Relative if the path is inside the current folder, otherwise absolute. */
function shorter(cwd: string, path: string): string {
  const short = relative(cwd, path);
  return short.startsWith('..') ? path : short;
}

/** Secret settings stay `${NAME}` in the data; they are filled in when the secret is wrapped. */
function isSecretSetting([group, name, setting, ...rest]: SettingPath): boolean {
  if (group === 'web') return rest.length === 1 && ['token', 'password_hash', 'secret'].includes(String(rest[0]));
  if (group === 'proxy') return name === undefined;
  if (['sites', 'feeds', 'alerts'].includes(String(group)) && setting === 'proxy') return rest.length === 0;
  if (group === 'metrics') return name === 'token' && setting === undefined;
  if (group === 'sites') return setting === 'token' && rest.length === 0;
  if (group === 'alerts') return isSecretOfAlert([setting, ...rest].join('.'));
  if (group !== 'feeds') return false;
  return setting === 'headers' ? rest.length === 1 : setting === 'credentials' && isSecretCredential(rest);
}

const isSecretOfAlert = (setting: string): boolean => ['url', 'secret', 'email.smtp'].includes(setting);

function tidy(
  complaints: readonly Complaint[],
  { complaints: fromFilling, used }: FilledSettings,
): readonly Complaint[] {
  const unfilled = new Set(fromFilling.map(({ setting }) => setting));
  // Drop other complaints about a setting whose variable is missing: they only object to the text `${NAME}`.
  const kept = complaints.filter((complaint) => fromFilling.includes(complaint) || !unfilled.has(complaint.setting));
  return kept.map((complaint) => ({ ...complaint, message: hideVariableValues(complaint.message, used) }));
}

/** What is not simply a value of the schema. */
type MadeParts = Omit<Config, 'path' | 'database' | 'queue' | 'dataDir' | 'log' | 'listen' | 'retentionDays'>;

function makeConfig(path: string, written: WrittenConfig, made: MadeParts, absentQueue: Secret | undefined): Config {
  const { database, queue, retention } = written;
  const usedQueue: Config['queue'] =
    queue === 'database' ? { kind: 'database' } : { kind: 'redis', url: new Secret(queue) };
  return {
    ...made,
    path,
    database: database === 'embedded' ? { kind: 'embedded' } : { kind: 'postgres', url: new Secret(database) },
    queue: absentQueue === undefined ? usedQueue : { kind: 'redis', url: absentQueue },
    dataDir: resolve(dirname(path), written.data_dir),
    log: written.log,
    listen: written.web?.listen ?? written.listen,
    retentionDays: {
      requests: retention.requests_days,
      failures: retention.failures_days,
      audit: retention.audit_days,
      pulls: retention.pulls_days,
      undo: retention.undo_days,
    },
  };
}

// Sorts configuration mistakes: those of a single feed stop only that feed, those in parts that the command needs stop everything.

interface SortedComplaints {
  /** Mistakes in what the command needs: nothing works until they are fixed. */
  readonly general: readonly Complaint[];
  readonly unneeded: readonly Complaint[];
  readonly broken: ReadonlyMap<FeedName, BrokenFeed>;
}

/**
 * Whether it is certain what each complaint is about: one about settings that are shared through aliases names their first location only. For
 * a command that needs only the database, its own settings must not be shared.
 */
function isPlaced(source: YamlSource, unneeded: readonly SettingGroup[]): boolean {
  if (!unneeded.includes('sites')) return !sharesSettings(source);
  const { contents } = source.document;
  return isMap(contents) && !['database', 'data_dir'].some((name) => isAlias(contents.get(name, true)));
}

function sortComplaints(
  complaints: readonly Complaint[],
  data: unknown,
  unneeded: readonly SettingGroup[],
  made: Pick<Config, 'feeds'>,
): SortedComplaints {
  const feeds = settingsIn(data, 'feeds');
  const names = Object.keys(feeds);
  const general: Complaint[] = [];
  const left: Complaint[] = [];
  const broken = new Map<FeedName, BrokenFeed & { complaints: Complaint[] }>();
  const breakFeed = (name: FeedName, complaint: Complaint) => {
    const found = broken.get(name) ?? { siteName: siteOf(feeds[name]), complaints: [] };
    found.complaints.push(complaint);
    broken.set(name, found);
  };
  // An unknown name may be a mistyped one that says where the database is.
  const { database, data_dir: dataDir } = (data ?? {}) as Readonly<Record<string, unknown>>;
  const isDatabaseWritten = database !== undefined && (database !== 'embedded' || dataDir !== undefined);
  for (const complaint of complaints) {
    // Of acme and acme.old, a file's name that no feed can have, the longer one is meant.
    const name = names
      .filter((feed) => complaint.setting === `feeds.${feed}` || complaint.setting.startsWith(`feeds.${feed}.`))
      .reduce<string | undefined>((best, feed) => (feed.length > (best?.length ?? 0) ? feed : best), undefined) as
      | FeedName
      | undefined;
    const [group = ''] = complaint.setting.split('.');
    const isUnknown = group !== '' && !Object.hasOwn(configSchema.shape, group);
    if (name !== undefined) breakFeed(name, complaint);
    else if (unneeded.includes(group as SettingGroup)) left.push(complaint);
    else if (isUnknown && isDatabaseWritten && unneeded.includes('sites')) left.push(complaint);
    else general.push(complaint);
  }
  for (const name of names as FeedName[]) {
    const ofSite = left.filter(({ setting }) => `${setting}.`.startsWith(`sites.${siteOf(feeds[name])}.`));
    if (!made.feeds.has(name)) for (const complaint of ofSite) breakFeed(name, complaint);
  }
  return { general, unneeded: left, broken };
}

function siteOf(feed: unknown): SiteName | undefined {
  const site = settingOf(feed, 'site');
  return typeof site === 'string' ? siteName(site) : undefined;
}

/** The same data without broken feeds, and without what is wrong and not needed. */
function withoutWrong(data: unknown, { broken, unneeded }: SortedComplaints): unknown {
  if (typeof data !== 'object' || data === null) return data;
  const wrong = new Set(unneeded.map(({ setting }) => setting.split('.')[0]));
  const kept = Object.entries(settingsIn(data, 'feeds')).filter(([name]) => !broken.has(name as FeedName));
  const settings = Object.entries({ ...data, feeds: Object.fromEntries(kept) }).filter(([name]) => !wrong.has(name));
  // Sites and feeds are made each by itself.
  return { sites: {}, feeds: {}, ...Object.fromEntries(settings) };
}

// Finds valid settings that can't work: nothing to mirror, or feeds whose file is missing.

/** @param folder the folder of the configuration file, the base of relative paths. */
async function findUnusable(data: unknown, source: YamlSource, folder: string): Promise<readonly Complaint[]> {
  const complaints: Complaint[] = [];
  for (const group of ['sites', 'feeds'] as const) {
    const written = settingOf(data, group);
    // The schema reports a missing group.
    if (typeof written !== 'object' || written === null || Object.keys(written).length > 0) continue;
    if (group === 'feeds' && settingOf(data, 'include') !== undefined) {
      const message = `names no file yet, and there is no other feed, so there is nothing to mirror; write one there, or add it on the pages of a running start`;
      complaints.push(source.complain(['include'], message));
      continue;
    }
    const elsewhere = group === 'feeds' ? ', or write include: feeds/*.yaml to add it on the pages of start' : '';
    const message = `has no ${group === 'sites' ? 'site' : 'feed'}, so there is nothing to mirror; add one, as config/jobmirror.example.yaml shows${elsewhere}`;
    complaints.push(source.complain([group], message));
  }
  for (const [name, feed] of Object.entries(settingsIn(data, 'feeds'))) {
    const sources = settingOf(feed, 'sources');
    const hasSeveral = Array.isArray(sources);
    for (const [at, written] of (hasSeveral ? sources : [settingOf(feed, 'source')]).entries()) {
      if (typeof written !== 'string' || !isPath(written)) continue;
      const path = resolve(folder, written);
      const fault = settingOf(feed, 'files') === undefined ? await fileFault(path) : await folderFault(path);
      const setting = hasSeveral ? ['sources', at] : ['source'];
      if (fault !== undefined) complaints.push(source.complain(['feeds', name, ...setting], fault));
    }
  }
  return complaints;
}

const isPath = (source: string): boolean => source !== '' && source !== '-' && !isAddress(source);

async function fileFault(path: string): Promise<string | undefined> {
  try {
    if ((await stat(path)).isDirectory()) {
      return `${path} is a folder, not a feed; name the file in it, or set files: newest or files: all`;
    }
    await access(path, constants.R_OK);
    return undefined;
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    const next =
      cause.code === 'ENOENT' && /[*?[{]/.test(path)
        ? '; to read the files that match a pattern, set files: newest or files: all'
        : '; a relative path starts at the folder of the configuration file';
    return `${path} can't be read: ${fileErrorInWords(cause)}${cause.code === 'ENOENT' ? next : ''}`;
  }
}

/** For a folder, or a pattern of the names in it. It may be empty now. */
async function folderFault(path: string): Promise<string | undefined> {
  const folder = /[*?]/.test(basename(path)) ? dirname(path) : path;
  try {
    if (!(await stat(folder)).isDirectory()) return `${folder} is no folder; remove files to read it as one file`;
    await access(folder, constants.R_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    const next = cause.code === 'ENOENT' ? '; a relative path starts at the folder of the configuration file' : '';
    return `${folder} can't be read: ${fileErrorInWords(cause)}${next}`;
  }
}

// Builds the settings of what `start` does besides mirroring, and reads the secrets in them: alert destinations, and
// the token that protects `/metrics`.

interface Services extends Pick<Config, 'metricsToken' | 'alerts' | 'web'> {
  readonly complaints: readonly Complaint[];
  readonly warnings: readonly string[];
}

/** Builds them from raw settings. Skips what violates the schema: the check of the whole file reports it. */
async function readServices(
  data: unknown,
  source: YamlSource,
  {
    env,
    folder,
    absent,
    proxies,
  }: Pick<SecretSettings, 'env' | 'folder' | 'absent'> & { readonly proxies: ProxyReader },
): Promise<Services> {
  const complaints: Complaint[] = [];
  const warnings: string[] = [];
  const within = (group: string): SecretSettings => ({
    env,
    folder,
    setting: group,
    complain: (path, message) => complaints.push(source.complain([group, ...path], message)),
    warn: (message) => warnings.push(message),
    absent: (path, message) => absent([group, ...path], message),
  });
  const listen = settingOf(data, 'listen');
  const web = await makeWebConfig(webSchema.optional().safeParse(settingOf(data, 'web'), CHECKED_ONCE).data, {
    ...within('web'),
    listens: listen !== undefined,
    listen: listenSchema.safeParse(listen ?? {}, CHECKED_ONCE).data ?? { host: '127.0.0.1', port: 8080 },
  });
  return {
    metricsToken: await readMetricsToken(settingOf(data, 'metrics'), within('metrics')),
    alerts: await readAlerts(data, within('alerts'), proxies),
    web,
    complaints,
    warnings,
  };
}

// Builds the alert destinations, and reads their secrets.

/** Skips destinations that violate the schema, which are reported elsewhere, or have a wrong secret, which is reported here. */
async function readAlerts(
  data: unknown,
  around: SecretSettings,
  proxies: ProxyReader,
): Promise<ReadonlyMap<string, AlertDestination>> {
  const destinations = new Map<string, AlertDestination>();
  for (const [name, raw] of Object.entries(settingsIn(data, 'alerts'))) {
    const written = alertsSchema.safeParse({ [name]: raw }, CHECKED_ONCE).data?.[name];
    const proxy = proxies.of(['alerts', name, 'proxy'], written?.proxy);
    const channel = written && (await channelOf(name, written, proxy, around));
    if (written === undefined || channel === undefined) continue;
    destinations.set(name, {
      name,
      channel,
      kinds: new Set(ALERT_KINDS.filter((kind) => written.on.includes(kind))),
      events: POSTING_EVENTS.filter((event) => written.on.includes(event)),
      feeds: written.feeds === undefined ? undefined : new Set(written.feeds),
      rejectedPercent: written.rejected_percent,
    });
  }
  return destinations;
}

async function channelOf(
  name: string,
  { url, email, format, ...written }: WrittenDestination,
  proxy: ProxySettings | undefined,
  around: SecretSettings,
): Promise<AlertDestination['channel'] | undefined> {
  const address = (text: string, path: readonly string[], schemes: RegExp, form: string): Secret | undefined => {
    const absent = around.absent([name, ...path]);
    if (absent !== undefined) return absent;
    const filled = fillText(text, around.env);
    if (schemes.test(filled) && URL.canParse(filled)) return new Secret(filled);
    around.complain([name, ...path], `must be an address such as ${form}`);
    return undefined;
  };
  if (email !== undefined) {
    const smtp = address(email.smtp, ['email', 'smtp'], /^smtps?:\/\//, 'smtps://user:password@host:465');
    return smtp && { kind: 'email', smtp, from: email.from, to: email.to };
  }
  const target = url === undefined ? undefined : address(url, ['url'], /^https?:\/\//, 'https://host/path');
  if (format === 'slack') return target && { kind: 'slack', url: target, proxy };
  const secret = await readSecret(written, [[name], 'secret'], around, signingFault);
  return target === undefined || secret === undefined ? undefined : { kind: 'webhook', url: target, secret, proxy };
}

/** The token, if one is set; `undefined` also after a complaint. Skips settings that violate the schema, which are reported elsewhere. */
async function readMetricsToken(written: unknown, around: SecretSettings): Promise<Secret | undefined> {
  const { data } = metricsSchema.safeParse(written ?? {}, CHECKED_ONCE);
  return data === undefined ? undefined : readSecret(data, [[], 'token'], around, bearerFault(16));
}
