// `jobmirror check`: shows how the configuration is understood, and on request probes the sites and reads the beginning of each feed.

import { resolve } from 'node:path';
import { Command } from 'commander';
import { CANNOT_SEARCH } from '../../apply/doubts/search-site.ts';
import { type Config, type FeedConfig, namedFeeds, type SiteConfig } from '../../config/config.ts';
import { type Complaint, ConfigError, complaintLine } from '../../config/config-error.ts';
import { CONFIG_FILE } from '../../config/config-file.ts';
import { loadConfig } from '../../config/load-config.ts';
import { parseCron } from '../../config/parse-cron.ts';
import { isKnownEncoding } from '../../feed/decode/charset.ts';
import { kindOf } from '../../feed/source/sources.ts';
import { type Message, reword } from '../../plan/message.ts';
import { plural } from '../../plan/plural.ts';
import { deletesMissing, updatesJobs } from '../../plan/policy.ts';
import type { SiteName } from '../../posting/identifiers.ts';
import { ExitStatus } from '../../runtime/exit-status.ts';
import { chooseFeeds } from '../../runtime/feed-setups.ts';
import { openSiteClient } from '../../runtime/open-site-client.ts';
import type { Probe, TokenCheck } from '../../site/exchange.ts';
import { printJson, printLines, printNotice } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { commandWriter, type WriteCommand } from '../adapter/command-line.ts';
import { say } from '../adapter/write-action.ts';
import { checkDatabase, checkQueue, type DatabaseCheck } from '../check/check-database.ts';
import { checkFeeds } from '../check/check-feeds.ts';

/** What came back from a site, and whether that proves that it accepts the token. */
interface SiteAnswer extends Probe {
  /** Without a write; `undefined`: the site gave no answer that could prove it. */
  readonly token: TokenCheck | undefined;
}

type Answers = ReadonlyMap<SiteName, SiteAnswer>;

export function checkCommand(): Command {
  return new Command('check')
    .option(
      '--online',
      'also send each site a few harmless GETs (is the interface there, does it accept the token, does it keep references?), and read the beginning of each feed',
    )
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object')
    .action(async (options: CheckOptions) => {
      const config = await readThoroughly(options);
      const answers: Answers = options.online === true ? await probeSites(config) : new Map();
      const mistakes = mistakesOf(config);
      const likely = namedFeeds(config).size === 0 ? [] : await checkFeeds(config, options.online === true);
      const warnings = [...likely, ...(await checkQueue(config))];
      const databaseCheck = writeOutCheck(
        config,
        await checkDatabase(config, options.online === true),
        commandWriter(options.config),
        warnings,
      );
      const problems = [...databaseCheck.problems, ...refusalsOf(answers)];
      if (options.json === true) await printJson(toJson(config, answers, databaseCheck, [...mistakes, ...problems]));
      else {
        const isRight = mistakes.length + problems.length === 0;
        // With problems, print little else: nobody would find them below a hundred feeds.
        await printLines(isRight ? describe(config, answers, databaseCheck) : warningLines(config, databaseCheck));
        for (const mistake of mistakes) printNotice(`jobmirror: ${mistake}`);
        // The verdict comes last, after everything that is wrong.
        await printLines([
          ...problems.map((problem) => `problem: ${problem}`),
          verdict(config, mistakes, problems, unseenOf(databaseCheck, answers)),
        ]);
      }
      process.exitCode = mistakes.length + problems.length > 0 ? ExitStatus.failed : ExitStatus.done;
    });
}

/** The check of the database with its commands written. */
interface WrittenCheck extends Pick<DatabaseCheck, 'unseen'> {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

interface CheckOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly online?: boolean;
}

/** Throws if no part of the configuration can be used; with `--json`, prints the mistakes as an object first. */
async function readThoroughly(options: CheckOptions): Promise<Config> {
  try {
    return await loadConfig({
      path: options.config,
      env: process.env,
      cwd: process.cwd(),
      brokenFeeds: 'leave_out',
      thorough: true,
    });
  } catch (error) {
    if (options.json === true && error instanceof ConfigError) {
      const path = resolve(options.config ?? CONFIG_FILE);
      await printJson({ path, right: false, problems: error.complaints.map(complaintLine) });
    }
    throw error;
  }
}

/** Every mistake of a feed, including mistakes of its mapping that show only in use. */
function mistakesOf(config: Config): string[] {
  if (namedFeeds(config).size === 0) return [];
  const complaints = [...config.brokenFeeds.values()].flatMap((feed) => feed.complaints);
  const written = complaints.toSorted(byPlace).map(complaintLine);
  const { broken } = chooseFeeds(config, []);
  const unusable = broken.filter(({ feed }) => !config.brokenFeeds.has(feed));
  return [
    ...written,
    ...[...config.feeds.values()].flatMap(unknownEncoding),
    ...unusable.map(({ feed, message }) => `feed ${feed}: ${message}`),
  ];
}

const byPlace = (one: Complaint, other: Complaint): number =>
  (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);

function unknownEncoding({ name, source: { encoding } }: FeedConfig): string[] {
  if (encoding === undefined || isKnownEncoding(encoding)) return [];
  return [`feed ${name}: the encoding "${encoding}" is unknown; set one such as utf-8 or windows-1252`];
}

const refusalsOf = (answers: Answers): string[] =>
  [...answers]
    .filter(([, { kind }]) => kind !== 'accepted')
    .map(([site, answer]) => `site ${site}: ${meaningOf(answer)}`);

function verdict(
  { path }: Config,
  mistakes: readonly string[],
  problems: readonly string[],
  unseen: string | undefined,
): string {
  const count = mistakes.length + problems.length;
  if (count > 0) return `${path} is not usable as it is: ${plural(count, 'problem')}.`;
  if (unseen === undefined) return `${path} is right.`;
  return `No mistake was found in ${path}, but ${unseen}.`;
}

async function probeSites({ sites }: Config): Promise<Answers> {
  const answers = new Map<SiteName, SiteAnswer>();
  for (const { name, options } of sites.values()) {
    const client = await openSiteClient(options);
    try {
      const probe = await client.probe();
      const token = probe.kind === 'accepted' ? await client.checkToken('list') : undefined;
      answers.set(name, {
        ...probe,
        token,
        ...(token?.kind === 'refused' ? { kind: 'unauthorized', message: token.message } : {}),
      });
    } finally {
      await client.close();
    }
  }
  return answers;
}

const writeOutCheck = (
  config: Config,
  { problems, warnings, unseen }: DatabaseCheck,
  write: WriteCommand,
  likely: readonly string[],
): WrittenCheck => ({
  unseen,
  problems: problems.map((message) => say(message, write)),
  warnings: [...likely, ...[...unsearchedSites(config), ...warnings].map((message) => say(message, write))],
});

const warningsOf = ({ warnings, unseen }: WrittenCheck): readonly string[] =>
  unseen === undefined ? warnings : [...warnings, unseen];

/** Warns of sites that cannot be searched for existing jobs before the first create. */
const unsearchedSites = ({ feeds, sites }: Config): Message[] => {
  const used = new Set([...feeds.values()].map(({ siteName }) => siteName));
  return [...sites.values()]
    .filter(({ name, options }) => used.has(name) && options.listPath === undefined)
    .map(({ name }) => reword(CANNOT_SEARCH, (text) => `site ${name}: ${text}`));
};

function describe(config: Config, answers: Answers, databaseCheck: WrittenCheck): string[] {
  return [
    `configuration: ${config.path}`,
    `database: ${config.database.kind === 'embedded' ? `embedded, in ${config.dataDir}` : 'Postgres'}`,
    `queue: ${config.queue.kind === 'database' ? 'in the database' : 'Redis'}`,
    ...[...config.sites.values()].flatMap((site) => describeSite(site, answers.get(site.name))),
    ...[...config.feeds.values()].flatMap(describeFeed),
    ...describeOwnPresets(config),
    '',
    ...warningLines(config, databaseCheck),
  ];
}

const warningLines = (config: Config, databaseCheck: WrittenCheck): string[] =>
  [...config.warnings, ...warningsOf(databaseCheck)].map((warning) => `warning: ${warning}`);

function describeSite({ name, options, requestsPerSecond, stateField }: SiteConfig, answer?: SiteAnswer): string[] {
  const doubts =
    options.listPath === undefined
      ? 'creates in doubt wait for a person, because list_path is not set'
      : `creates in doubt are resolved with the list at ${options.listPath}`;
  return [
    '',
    `site ${name}: ${options.baseUrl.href}`,
    `  at most ${requestsPerSecond} requests a second, ${options.concurrency} at once, ${options.timeoutMs / 1000} s each`,
    `  the state is in ${stateField.name}, as ${stateField.values}; ${doubts}`,
    ...(answer === undefined ? [] : [`  probed now: ${meaningOf(answer)}`]),
  ];
}

/** What could not be checked. */
const unseenOf = ({ unseen }: WrittenCheck, answers: Answers): string | undefined => {
  const unproven = [...answers].filter(([, answer]) => answer.kind === 'accepted' && !isProven(answer));
  const tokens = unproven.map(([site]) => `that the token of site ${site} may write is not proven`);
  return unseen === undefined && tokens.length === 0
    ? undefined
    : [...(unseen === undefined ? [] : [unseen]), ...tokens].join(', and ');
};

const isProven = ({ token }: SiteAnswer): boolean => token?.kind === 'accepted' || token?.kind === 'needed';

/** What the answer means, for people. */
function meaningOf(answer: SiteAnswer): string {
  if (answer.kind !== 'accepted' || isProven(answer)) return `${ANSWERS[answer.kind]}: ${answer.message}`;
  return `it is readable; that the token may write is not proven: ${answer.message}; ${answer.token?.message}`;
}

const ANSWERS: Readonly<Record<Probe['kind'], string>> = {
  accepted: 'it answers, and accepts the token',
  forbidden: 'it accepts the token, but not for this request',
  unauthorized: 'it refuses the token',
  throttled: 'it asks to wait',
  unreachable: 'it cannot be reached',
  unknown: 'its answer proves nothing',
  misconfigured: 'no interface was found there',
};

function describeFeed(feed: FeedConfig): string[] {
  const { percent, count, missingPulls } = feed.guard;
  const next = nextRun(feed);
  const schedule =
    next === undefined
      ? 'pulled only by sync'
      : `pulled at "${feed.schedule}" (${feed.timeZone}), next ${formatTime(next)}`;
  const grace = missingPulls > 1 ? `; a posting must be missing from ${missingPulls} pulls` : '';
  return [
    '',
    `feed ${feed.name}: ${placeOf(feed)}`,
    `  into site ${feed.siteName}; ${schedule}`,
    `  key: ${feed.mapping.key.paths.join(' | ')}; fields: ${Object.keys(feed.mapping.fields).join(', ')}`,
    ...(feed.expireAfterDays === undefined
      ? []
      : [`  jobs end after ${plural(feed.expireAfterDays, 'day')} on the site`]),
    deletesMissing(feed.policy)
      ? `  deletes are held if they are more than ${count} and more than ${percent} % in 24 hours${grace}`
      : `  policy ${feed.policy}: no job is deleted${updatesJobs(feed.policy) ? '' : ' or updated'}`,
    ...(feed.mapping.createOnly === undefined
      ? []
      : [`  set only on create, then left to the site: ${feed.mapping.createOnly.join(', ')}`]),
  ];
}

function describeOwnPresets({ ownPresets }: Config): string[] {
  return ownPresets.length === 0 ? [] : ['', ...ownPresets.map(({ name, file }) => `preset ${name}: ${file}`)];
}

const placeOf = ({ source: { from } }: FeedConfig): string => kindOf(from).placeOf(from);

const nextRun = ({ schedule, timeZone }: FeedConfig): Date | undefined =>
  schedule === undefined ? undefined : parseCron(schedule, { tz: timeZone }).next().toDate();

const tokenProven = (answer: SiteAnswer | undefined): boolean | null =>
  answer?.kind === 'accepted' ? isProven(answer) : null;

function toJson(config: Config, answers: Answers, databaseCheck: WrittenCheck, problems: readonly string[]): object {
  return {
    path: config.path,
    right: problems.length === 0 && unseenOf(databaseCheck, answers) === undefined,
    database: config.database.kind,
    queue: config.queue.kind,
    sites: [...config.sites.values()].map(({ name, options }) => ({
      site: name,
      base_url: options.baseUrl.href,
      reference_field: options.referenceField ?? null,
      list_path: options.listPath ?? null,
      answer: answers.get(name)?.kind ?? null,
      answer_message: answers.get(name)?.message ?? null,
      token_proven: tokenProven(answers.get(name)),
    })),
    feeds: [...config.feeds.values()].map((feed) => ({
      feed: feed.name,
      site: feed.siteName,
      source: placeOf(feed),
      schedule: feed.schedule ?? null,
      time_zone: feed.timeZone,
      next_run: nextRun(feed) ?? null,
      fields: Object.keys(feed.mapping.fields),
    })),
    presets: config.ownPresets.map(({ name, file }) => ({ preset: name, file })),
    warnings: [...config.warnings, ...warningsOf(databaseCheck)],
    problems,
  };
}
