// `jobmirror init`: recognises a feed, writes a configuration for it, and shows what its first postings become.
import { existsSync } from 'node:fs';
import { readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import type { Environment } from '../../config/environment.ts';
import { CONFIG_FILE } from '../../config/include.ts';
import { loadConfig } from '../../config/load-config.ts';
import { SCHEME_SOURCES, SCHEMES } from '../../config/scheme-sources.ts';
import { secondChoice } from '../../operations/feed-setup.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { type Trial, tryFeed } from '../../pull/preview/try-feed.ts';
import { setupOfFeed } from '../../runtime/feed-setups.ts';
import { ExitStatus, UserError, untilSignalled } from '../../runtime/stop-signal.ts';
import { AccessRefused, type FeedAccess, readFeedAccess } from '../../setup/feed-access.ts';
import type { Proposal } from '../../setup/propose.ts';
import { type Recognition, recogniseFeed } from '../../setup/recognise.ts';
import {
  addToConfig,
  type ExistingConfig,
  proposeFeedName,
  readExisting,
  writeConfig,
} from '../../setup/write-config.ts';
import {
  formatBytes,
  oneLine,
  printJson,
  printLines,
  startProgressLine,
  stopPrintingOn,
} from '../../telemetry/print.ts';
import { commandWriter, pathFromHere } from '../adapter/command-line.ts';
import {
  askForMissing,
  columnLines,
  givenOrAsked,
  type InitOptions,
  type KeptInput,
  keepInput,
} from '../init-answers.ts';
import { printTrial } from '../output/describe-trial.ts';

const SHOWN_POSTINGS = 3;
const several = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

export function initCommand(): Command {
  const command = new Command('init')
    .argument('[source]', `address (http, https, ${SCHEMES.join(', ')}) or file of the feed, or - for standard input`)
    .option('--site <url>', 'address of the job site')
    .option('--site-name <name>', 'name of the site (default: board, or sandbox for an address on this machine)')
    .option('--token-env <variable>', "environment variable that holds the site's API key (default: BOARD_TOKEN)")
    .option('--token-file <file>', 'instead: file that holds it')
    .option('--list-path <path>', "path of the site's list of your jobs, such as /jobs.xml")
    .option('--name <name>', 'name of the feed (default: from its address)')
    .option(
      '--format <preset>',
      'a preset of docs/formats.md, or own for a format of its own (default: the one that fits best)',
    )
    .option('--records <path>', 'where the records are, such as source/job or data/jobs')
    .option('--key <path>', 'what identifies a posting')
    .option('--field <name=path>', 'where a field of the site comes from; may be given several times', several)
    .option('--state <state>', 'U.S. state of all jobs, if the records have none')
    .option(
      '--header <header>',
      `request header for the source, such as 'Authorization: Bearer \${NAME}'; may be given several times`,
      several,
    );
  for (const { scheme, init: ways } of SCHEME_SOURCES)
    for (const [flags, description] of ways.options) command.option(flags, `for ${scheme}: ${description}`);
  return command
    .option('--schedule <cron>', 'when start pulls the feed (default: every 15 minutes, large feeds every hour)')
    .option('--time-zone <zone>', "time zone of the schedule (default: this machine's)")
    .option('--config <file>', 'configuration file to write, or to add the feed to (default: jobmirror.yaml)')
    .option('--force', 'replace the file if it exists, instead of adding the feed to it')
    .option('--json', 'print what was written, the first postings, and what the feed becomes, as JSON objects')
    .action((source: string | undefined, options: InitOptions) =>
      untilSignalled(async (signal) => {
        stopPrintingOn(signal);
        process.exitCode = await init(source, options, signal);
      }),
    );
}

async function init(source: string | undefined, options: InitOptions, signal: AbortSignal): Promise<ExitStatus> {
  const path = resolve(options.config ?? CONFIG_FILE);
  const folder = dirname(path);
  const existing = existsSync(path) && options.force !== true ? await openExisting(path) : undefined;
  const address = await givenOrAsked('source', source, options);
  const name = options.name ?? proposeFeedName(address);
  if (existing?.feeds.includes(name) === true) {
    throw new UserError(
      `${pathFromHere(path)} has a feed ${name} already; choose another name with --name, or replace the whole file with --force`,
    );
  }
  const access = await accessTo(address, name, folder, options, signal);
  try {
    return await writeAndShow(access, { address, name, path, folder, existing }, options, signal);
  } finally {
    await access.input?.remove();
  }
}

/** How the feed is reached, and standard input, which can be read only once otherwise. */
type InitAccess = FeedAccess & { readonly input?: KeptInput };

/** Whoever calls it removes the kept `input`. */
async function accessTo(
  address: string,
  name: string,
  folder: string,
  options: InitOptions,
  signal: AbortSignal,
): Promise<InitAccess> {
  if (address === '-') {
    const input = await keepInput(process.stdin, signal);
    return { source: '-', settings: {}, secrets: {}, from: { kind: 'file', path: input.path }, input };
  }
  try {
    return await readFeedAccess(address, { options: { ...options }, headers: options.header ?? [], name, folder });
  } catch (error) {
    throw error instanceof AccessRefused ? new UserError(error.message) : error;
  }
}

interface Target {
  readonly address: string;
  readonly name: string;
  /** Of the configuration file. */
  readonly path: string;
  readonly folder: string;
  /** The feed is added to it. */
  readonly existing: ExistingConfig | undefined;
}

const WAYS_OUT = 'write to another file with --config FILE, or replace it with --force';

async function openExisting(path: string): Promise<ExistingConfig> {
  const existing = readExisting(await readFile(path, 'utf8'));
  if (existing !== undefined) return existing;
  throw new UserError(
    `${pathFromHere(path)} exists and stays as it is; it holds no settings to which a feed could be added: ${WAYS_OUT}`,
  );
}

async function writeAndShow(
  access: InitAccess,
  { address, name, path, folder, existing }: Target,
  options: InitOptions,
  signal: AbortSignal,
): Promise<ExitStatus> {
  const { opening, encoding, proposal: recognised } = await recognise(access, address, options, folder, signal);
  const { proposal, site } = await askForMissing(recognised, options, existing);
  const usual = opening.isWhole ? '*/15 * * * *' : '7 * * * *';
  const schedule = options.schedule ?? (access.input === undefined ? usual : undefined);
  const timeZone = options.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const feed = { name, source: access.source, access: access.settings, encoding, schedule, timeZone };
  const written = writeConfig({ heading: headingFor(name), site, feed, proposal });
  const text = existing === undefined ? written : addToConfig(existing, written);

  const env: Record<string, string | undefined> = { ...process.env, ...access.secrets };
  // Only to load the configuration: nothing is sent to the site.
  const unset = [...text.replaceAll(/^\s*#.*$/gm, '').matchAll(/\$\{([A-Za-z_]\w*)\}/g)].flatMap(([, variable = '']) =>
    env[variable] === undefined ? [variable] : [],
  );
  for (const variable of unset) env[variable] = 'not-set-yet-by-init';
  const { config, copy } = await writeChecked(path, text, env, existing && { ...existing, feed: name });
  if (options.json === true) {
    const { preset, key, fields, notes, runnerUp } = proposal;
    await printJson({
      config: path,
      former: copy ?? null,
      feed: name,
      site: site.name,
      format: preset?.name ?? null,
      key: key ?? null,
      fields,
      schedule: schedule ?? null,
      time_zone: timeZone,
      notes,
      second: runnerUp ?? null,
    });
  } else {
    await printLines([...describeProposal(proposal, encoding), '']);
  }
  const { status, remedy } = await show(setupOfFeed(config, name), access, proposal, {
    options,
    signal,
    isAdded: copy !== undefined,
  });
  if (options.json !== true) {
    await printLines(nextSteps(path, name, { unset: [...new Set(unset)], access, copy, remedy }, options));
  }
  return status;
}

/** Writes the file only if it can be loaded. A former one stays beside it. */
async function writeChecked(
  path: string,
  text: string,
  env: Environment,
  former: { readonly text: string; readonly feed: string } | undefined,
): Promise<{ readonly config: Config; readonly copy: string | undefined }> {
  // Beside the file, because relative paths start there.
  const draft = `${path}.${process.pid}.init`;
  const mode = former === undefined ? undefined : (await stat(path)).mode & 0o777;
  await writeFile(draft, text, { flag: 'wx', ...(mode === undefined ? {} : { mode }) });
  try {
    const config = await loadConfig({ path: draft, env, cwd: process.cwd() });
    const copy = former === undefined ? undefined : await keepCopy(path, former, mode);
    await rename(draft, existsSync(path) ? await realpath(path) : path);
    return { config: { ...config, path }, copy };
  } catch (error) {
    await rm(draft, { force: true });
    if (!(error instanceof ConfigError)) throw error;
    const faults = error.complaints
      .map(({ setting, message }) => (setting === '' ? message : `${setting}: ${message}`))
      .join('; ');
    throw new UserError(
      former === undefined
        ? `nothing is written, because the configuration would be wrong: ${faults}`
        : `${pathFromHere(path)} exists and stays as it is; with the feed it would be wrong: ${faults}; correct it, ${WAYS_OUT}`,
    );
  }
}

/** Returns its path: the first name that is free. */
async function keepCopy(
  path: string,
  { text, feed }: { readonly text: string; readonly feed: string },
  mode: number | undefined,
): Promise<string> {
  for (let nth = 1; ; nth++) {
    const copy = `${path}.before-${feed}${nth === 1 ? '' : `-${nth}`}`;
    try {
      await writeFile(copy, text, { flag: 'wx', ...(mode === undefined ? {} : { mode }) });
      return copy;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

const headingFor = (name: string): readonly string[] => [
  `Written by jobmirror init. Check it with: jobmirror check; see what it does with: jobmirror try ${name}`,
  'Settings and their defaults: docs/configuration.md. Fields and transforms: docs/mapping.md.',
];

async function recognise(
  { from }: FeedAccess,
  address: string,
  { format, records }: InitOptions,
  folder: string,
  signal: AbortSignal,
): Promise<Extract<Recognition, { kind: 'recognised' }>> {
  const recognition = await recogniseFeed({ from, address, folder, format, records, signal });
  if (recognition.kind === 'refused') {
    const how = recognition.mayNameRecords === true ? ' with --records, such as --records source/job' : '';
    throw new UserError(`${recognition.message}${how}`);
  }
  return recognition;
}

function describeProposal(
  { preset, settings, key, records, notes, runnerUp }: Proposal,
  encoding: string | undefined,
): string[] {
  const own = `a format of its own (${[settings.type, settings.records].filter(Boolean).join(', ')}), with the key ${[key].flat().join(' and ')}`;
  const why = runnerUp === undefined ? 'no preset fits' : 'no preset is better';
  const what =
    preset === undefined
      ? `${why}, so the configuration has ${own}`
      : `the preset ${preset.name} fits: ${preset.description ?? ''}`;
  return [
    `${records} records in the beginning of the feed; ${what}.`,
    ...(encoding === undefined ? [] : [`It is not encoded as UTF-8; ${encoding} is assumed.`]),
    ...(runnerUp === undefined ? [] : [secondChoice(`--format ${runnerUp.format}`, runnerUp)]),
    ...notes.map((note) => `Note: ${note}.`),
  ];
}

async function show(
  setup: FeedSetup | string,
  { input }: InitAccess,
  proposal: Proposal,
  {
    options,
    signal,
    isAdded,
  }: { readonly options: InitOptions; readonly signal: AbortSignal; readonly isAdded: boolean },
): Promise<{ readonly status: ExitStatus; readonly remedy: readonly string[] }> {
  if (typeof setup === 'string') throw new UserError(setup);
  const progress = startProgressLine();
  const onProgress = ({ records, bytes }: { readonly records: number; readonly bytes: number }) =>
    progress.show(`reading the whole feed, ${records} records, ${formatBytes(bytes)}`);
  const trial = await tryFeed(setup, { signal, samples: SHOWN_POSTINGS, onProgress, stdin: input?.read() }).finally(
    () => progress.clear(),
  );
  await printTrial(setup, trial, { json: options.json });
  if (trial.kind === 'failed') return { status: ExitStatus.failed, remedy: [] };
  if (trial.postings > trial.rejected) return { status: ExitStatus.done, remedy: [] };
  return { status: ExitStatus.review, remedy: remedyFor(trial, proposal, isAdded) };
}

/** What to do if no posting would be sent. */
function remedyFor(
  { seen, postings, rejected, unreadable, skipped, rejections }: Extract<Trial, { kind: 'read' }>,
  { columns }: Proposal,
  isAdded: boolean,
): string[] {
  const [reason] = rejections;
  if (seen === 0) return ['No posting would be sent: the feed has no records. Check its address, or --records.'];
  if (postings === 0 && skipped > unreadable)
    return ['No posting would be sent: all records are skipped. Check skip in the configuration.'];
  if (postings === 0)
    return [
      'No posting would be sent: no record can be read. See the problems above; lenient: true repairs common faults, and --key names another key.',
    ];
  const field = reason?.field ?? '';
  const ways: Readonly<Record<string, readonly [option: string, setting: string]>> = {
    'location-state': [
      '--field location-state=PATH, if a path of the records has the state, or --state STATE, if all jobs are in one',
      'location-state: { from: PATH, as: us_state }, or location-state: { value: STATE } if all jobs are in one',
    ],
    title: ['--field title=PATH, the path of the title', 'title: PATH'],
  };
  const name = field === '' ? 'NAME' : field;
  const [option, setting] = ways[field] ?? [`--field ${name}=PATH, the path of the right value`, `${name}: PATH`];
  return [
    `No posting would be sent: all ${rejected} are rejected, most because of this: ${oneLine(reason?.message ?? '', 200)}`,
    isAdded
      ? `Set it in the fields of the feed: ${setting}`
      : `Run init again with --force and ${option}; or change fields in the configuration.`,
    ...columnLines(columns),
  ];
}

function nextSteps(
  path: string,
  name: string,
  {
    unset,
    access,
    copy,
    remedy,
  }: {
    readonly unset: readonly string[];
    readonly access: InitAccess;
    readonly copy: string | undefined;
    readonly remedy: readonly string[];
  },
  options: InitOptions,
): string[] {
  const write = commandWriter(options.config);
  const variables = [...unset, ...Object.keys(access.secrets)];
  const piped = access.input === undefined ? '' : ' < FILE';
  const file = pathFromHere(path);
  const done =
    copy === undefined
      ? `${file} is written.`
      : `The feed ${name} is added to ${file}; the former file is ${pathFromHere(copy)}.`;
  return [
    '',
    ...(remedy.length === 0 ? [] : [...remedy, '']),
    `${done} Adapt it if needed, and go on with:`,
    ...variables.map((variable) => `  export ${variable}=…`),
    `  ${write(['check'])}`,
    `  ${write(['plan', name])}${piped}`,
    `  ${write(['sync', name])}${piped}`,
  ];
}
