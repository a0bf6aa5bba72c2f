// Loads the configuration file with the environment. Returns a checked configuration, or one error with every mistake.
import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { sortByFeed, withoutFeeds } from './broken-feeds.ts';
import type { Config } from './config.ts';
import { type Complaint, ConfigError } from './config-error.ts';
import { CONFIG_FILE } from './config-file.ts';
import { type Environment, type Filling, fillFromEnvironment, hideValues } from './environment.ts';
import { packageRoot } from './package-root.ts';
import { configSchema, type WrittenConfig } from './schema/config-schema.ts';
import { isSecretCredential } from './schema/credentials-schema.ts';
import { Secret } from './secret.ts';
import { readServices, type Services } from './services.ts';
import { readText } from './settings-file.ts';
import { makeSitesAndFeeds, type SitesAndFeeds } from './sites-and-feeds.ts';
import { findUnusable } from './unusable.ts';
import { validate } from './validate.ts';
import { parseYaml, type SettingPath, sharesSettings, toData } from './yaml-source.ts';

export interface LoadOptions {
  /** The file, relative to `cwd`; default: `jobmirror.yaml`. */
  readonly path?: string;
  readonly env: Environment;
  readonly cwd: string;
  /** `leave_out`: a feed with mistakes goes into `brokenFeeds` and does not stop the others. Default: `refuse`. */
  readonly brokenFeeds?: 'refuse' | 'leave_out';
  /** Also refuses valid settings that can't work: nothing to mirror, missing feed files. */
  readonly thorough?: boolean;
}

/** Reads the configuration. Throws a {@link ConfigError} that lists every mistake. */
export async function loadConfig({ path, env, cwd, brokenFeeds, thorough }: LoadOptions): Promise<Config> {
  const absolutePath = resolve(cwd, path ?? CONFIG_FILE);
  if (path === undefined) await expectFile(absolutePath);
  const source = parseYaml(shorter(cwd, absolutePath), await readText(absolutePath));
  const filling = fillFromEnvironment(source, env, isSecretSetting);
  const data = toData(source);
  const folder = dirname(absolutePath);
  if (data === null || data === undefined) throw withoutSettings(shorter(cwd, absolutePath));

  const top = validate(configSchema, data, source);
  const sitesAndFeeds = await makeSitesAndFeeds(data, source, { env, used: filling.used, folder });
  const services = await readServices(data, source, { env, folder });
  const parts = {
    ...sitesAndFeeds,
    ...services,
    complaints: [...sitesAndFeeds.complaints, ...services.complaints],
    warnings: [...sitesAndFeeds.warnings, ...services.warnings],
  };
  const complaints = tidy(
    [
      ...filling.complaints,
      ...(top.kind === 'refused' ? top.complaints : []),
      ...parts.complaints,
      ...(thorough === true ? await findUnusable(data, source, folder) : []),
    ],
    filling,
  );
  if (top.kind === 'settings' && complaints.length === 0) return makeConfig(absolutePath, top.settings, parts);
  if (brokenFeeds !== 'leave_out' || sharesSettings(source)) throw new ConfigError(complaints);

  const sorted = sortByFeed(complaints, data);
  const rest = validate(configSchema, withoutFeeds(data, sorted.broken), source);
  if (sorted.general.length > 0 || rest.kind === 'refused') throw new ConfigError(complaints);
  const feeds = new Map([...parts.feeds].filter(([name]) => !sorted.broken.has(name)));
  return makeConfig(absolutePath, rest.settings, { ...parts, feeds }, sorted.broken);
}

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
  if (group === 'metrics') return name === 'token' && setting === undefined;
  if (group === 'sites') return setting === 'token' && rest.length === 0;
  if (group === 'alerts') return isSecretOfAlert([setting, ...rest].join('.'));
  if (group !== 'feeds') return false;
  return setting === 'headers' ? rest.length === 1 : setting === 'credentials' && isSecretCredential(rest);
}

const isSecretOfAlert = (setting: string): boolean => ['url', 'secret', 'email.smtp'].includes(setting);

function tidy(complaints: readonly Complaint[], { complaints: fromFilling, used }: Filling): readonly Complaint[] {
  const unfilled = new Set(fromFilling.map(({ setting }) => setting));
  // Drop other complaints about a setting whose variable is missing: they only object to the text `${NAME}`.
  const kept = complaints.filter((complaint) => fromFilling.includes(complaint) || !unfilled.has(complaint.setting));
  return kept.map((complaint) => ({ ...complaint, message: hideValues(complaint.message, used) }));
}

function makeConfig(
  path: string,
  written: WrittenConfig,
  { sites, feeds, warnings, ownPresets, metricsToken, alerts, web }: SitesAndFeeds & Services,
  brokenFeeds: Config['brokenFeeds'] = new Map(),
): Config {
  const { database, queue, retention } = written;
  return {
    path,
    database: database === 'embedded' ? { kind: 'embedded' } : { kind: 'postgres', url: new Secret(database) },
    queue: queue === 'database' ? { kind: 'database' } : { kind: 'redis', url: new Secret(queue) },
    dataDir: resolve(dirname(path), written.data_dir),
    log: written.log,
    listen: written.web?.listen ?? written.listen,
    metricsToken,
    alerts,
    web,
    retention: {
      requestsDays: retention.requests_days,
      failuresDays: retention.failures_days,
      auditDays: retention.audit_days,
      pullsDays: retention.pulls_days,
      undoDays: retention.undo_days,
    },
    sites,
    feeds,
    brokenFeeds,
    warnings,
    ownPresets,
  };
}
