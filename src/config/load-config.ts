// Turns the configuration file and the environment into a checked configuration, or one error with all that is wrong.
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { check } from './check.ts';
import type { Config } from './config.ts';
import { type Complaint, ConfigError } from './config-error.ts';
import { type Environment, type Filling, fillFromEnvironment, hideValues } from './environment.ts';
import { packageRoot } from './package-root.ts';
import { makeParts, type Parts } from './parts.ts';
import { configSchema, type WrittenConfig } from './schema.ts';
import { Secret } from './secret.ts';
import { readText } from './settings-file.ts';
import { parseYaml, type SettingPath, toData } from './yaml-source.ts';

/** The file that is looked for in the current folder where no other is named. */
export const CONFIG_FILE = 'jobmirror.yaml';

export interface LoadOptions {
  /** The file, relative to `cwd`; absent: `jobmirror.yaml` there. */
  readonly path?: string;
  readonly env: Environment;
  readonly cwd: string;
}

/** Reads the configuration. Throws a {@link ConfigError} that lists everything that is wrong with it. */
export async function loadConfig({ path, env, cwd }: LoadOptions): Promise<Config> {
  const absolutePath = resolve(cwd, path ?? CONFIG_FILE);
  if (path === undefined) await expectFile(absolutePath);
  const source = parseYaml(shorter(cwd, absolutePath), await readText(absolutePath));
  const filling = fillFromEnvironment(source, env, isSecretSetting);
  const data = toData(source);

  const top = check(configSchema, data, source);
  const parts = await makeParts(data, source, { env, folder: dirname(absolutePath) });
  const complaints = [...filling.complaints, ...(top.kind === 'refused' ? top.complaints : []), ...parts.complaints];
  if (top.kind === 'refused' || complaints.length > 0) throw refusal(complaints, filling);
  return makeConfig(absolutePath, top.settings, parts);
}

async function expectFile(path: string): Promise<void> {
  if (existsSync(path)) return;
  const example = join(packageRoot, 'config', 'jobmirror.example.yaml');
  const message = `there is no such file; copy ${example} there and fit it, or name your own with --config FILE`;
  throw new ConfigError([{ file: path, setting: '', message }]);
}

/** Relative where that is shorter to read, absolute where it would climb out of the current folder. */
function shorter(cwd: string, path: string): string {
  const short = relative(cwd, path);
  return short.startsWith('..') ? path : short;
}

/** Where secrets stand: as `${NAME}`, filled in only when the secret is wrapped. */
function isSecretSetting([group, , setting, ...rest]: SettingPath): boolean {
  if (group === 'sites') return setting === 'token' && rest.length === 0;
  return group === 'feeds' && setting === 'headers' && rest.length === 1;
}

function refusal(complaints: readonly Complaint[], { complaints: fromFilling, used }: Filling): ConfigError {
  const unfilled = new Set(fromFilling.map(({ setting }) => setting));
  // What else is said of a setting whose variable is missing only says that `${NAME}` itself is no good value.
  const kept = complaints.filter((complaint) => fromFilling.includes(complaint) || !unfilled.has(complaint.setting));
  return new ConfigError(kept.map((complaint) => ({ ...complaint, message: hideValues(complaint.message, used) })));
}

function makeConfig(path: string, written: WrittenConfig, { sites, feeds, warnings }: Parts): Config {
  const { database, queue, retention } = written;
  return {
    path,
    database: database === 'embedded' ? { kind: 'embedded' } : { kind: 'postgres', url: new Secret(database) },
    queue: queue === 'database' ? { kind: 'database' } : { kind: 'redis', url: new Secret(queue) },
    dataDir: resolve(dirname(path), written.data_dir),
    log: written.log,
    listen: written.listen,
    retention: {
      requestsDays: retention.requests_days,
      failuresDays: retention.failures_days,
      auditDays: retention.audit_days,
      pullsDays: retention.pulls_days,
    },
    sites,
    feeds,
    warnings,
  };
}
