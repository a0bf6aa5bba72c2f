// `jobmirror check`: shows how the configuration is understood, and on request probes the sites and reads the beginning of each feed.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { describeMove } from '../../apply/confirm-address.ts';
import { SITE_WITHOUT_LIST } from '../../apply/search-site.ts';
import { evidenceOf } from '../../apply/site-health.ts';
import { type Config, type FeedConfig, namedFeeds, type SiteConfig } from '../../config/config.ts';
import { sourceDigest, warnOfSameFeeds } from '../../config/config-digests.ts';
import { type Complaint, ConfigError, complaintLine } from '../../config/config-error.ts';
import { CONFIG_FILE } from '../../config/include.ts';
import { loadConfig } from '../../config/load-config.ts';
import { isKnownEncoding } from '../../feed/decode/charset.ts';
import { httpOf, kindOf, type SourceConfig } from '../../feed/source/sources.ts';
import { type ProxySettings, routeTo } from '../../flow/proxy.ts';
import { type Message, plural, reword } from '../../plan/message.ts';
import { deletesMissing, updatesJobs } from '../../plan/policy.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import { sampleFeed } from '../../pull/record-sample.ts';
import { refuseNewName, refuseSite } from '../../pull/refuse-feed.ts';
import { openServer } from '../../runtime/app.ts';
import { chooseFeeds, describeLeft } from '../../runtime/feed-setups.ts';
import { openProvenClient, openSiteClient } from '../../runtime/open-site-client.ts';
import { nextRun as nextRunAfter } from '../../runtime/schedule/next-run.ts';
import { ExitStatus, untilSignalled } from '../../runtime/stop-signal.ts';
import type { ProbeResult, TokenCheck } from '../../site/exchange.ts';
import { addressOf } from '../../site/http/job-address.ts';
import { readFeedState } from '../../store/feed/feed-state.ts';
import { otherNames, unconfiguredFeeds } from '../../store/feed/unconfigured-feeds.ts';
import { jobsWithReference } from '../../store/mapping/visible-jobs.ts';
import { type Database, openDatabase } from '../../store/postgres/database.ts';
import { migrate } from '../../store/postgres/migrate.ts';
import { onUsableServer, UnusableServerError } from '../../store/postgres/usable-server.ts';
import { describeReference, noteReference, referenceState, type SiteReference } from '../../store/site/kept-values.ts';
import { findMove } from '../../store/site/known-address.ts';
import { printJson, printLines, printNotice } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { CONFIG, type CommonOptions, commandWriter, type WriteCommand } from '../adapter/command-line.ts';
import { say } from '../adapter/write-action.ts';

/** What came back from a site, and whether that proves that it accepts the token. */
interface SiteAnswer extends ProbeResult {
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
    .option(...CONFIG)
    .option('--json', 'print one JSON object')
    .action(async (options: CheckOptions) => {
      const config = await readThoroughly(options);
      const answers: Answers = options.online === true ? await probeSites(config) : new Map();
      const mistakes = mistakesOf(config);
      const likely = namedFeeds(config).size === 0 ? [] : await checkFeeds(config, options.online === true);
      const warnings = [
        ...warnOfSameFeeds(config.feeds.values()),
        ...likely,
        ...(await checkQueue(config)),
        ...(options.online === true && config.proxy === undefined ? warnOfProxies(process.env) : []),
      ];
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

/** What other programs reach only through a proxy looks like an outage here. */
function warnOfProxies(env: NodeJS.ProcessEnv): string[] {
  const names = Object.keys(env).filter((name) => /^(?:https?|all)_proxy$/i.test(name) && env[name]);
  if (names.length === 0) return [];
  return [
    `${names.sort().join(', ')}: set, but not used: jobmirror connects to sites and sources without a proxy; write proxy: environment to use it, or proxy: none`,
  ];
}

/** The check of the database with its commands written. */
interface WrittenCheck extends Pick<DatabaseCheck, 'unseen'> {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

interface CheckOptions extends CommonOptions {
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
    .map(({ name }) => reword(SITE_WITHOUT_LIST, (text) => `site ${name}: ${text}`));
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

/** Nothing without one. */
const proxyLine = (url: URL, proxy: ProxySettings | undefined): string[] => {
  const route = routeTo(url, proxy);
  return route === undefined ? [] : [`  through ${route.name}`];
};

function describeSite({ name, options, requestsPerSecond, stateField }: SiteConfig, answer?: SiteAnswer): string[] {
  const doubts =
    options.listPath === undefined
      ? 'creates in doubt wait for a person, because list_path is not set'
      : `creates in doubt are resolved with the list at ${options.listPath}`;
  return [
    '',
    `site ${name}: ${options.baseUrl.href}`,
    ...proxyLine(options.baseUrl, options.proxy),
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

function meaningOf(answer: SiteAnswer): string {
  if (answer.kind !== 'accepted' || isProven(answer)) return `${ANSWERS[answer.kind]}: ${answer.message}`;
  return `it is readable; that the token may write is not proven: ${answer.message}; ${answer.token?.message}`;
}

const ANSWERS: Readonly<Record<ProbeResult['kind'], string>> = {
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
  const http = httpOf(feed.source.from);
  const next = nextRun(feed);
  const schedule =
    next === undefined
      ? 'pulled only by sync'
      : `pulled at "${feed.schedule}" (${feed.timeZone}), next ${formatTime(next)}`;
  const grace = missingPulls > 1 ? `; a posting must be missing from ${missingPulls} pulls` : '';
  return [
    '',
    `feed ${feed.name}: ${placeOf(feed)}`,
    ...(http === undefined ? [] : proxyLine(new URL(http.url), http.proxy)),
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
  schedule === undefined ? undefined : nextRunAfter({ pattern: schedule, timeZone }, new Date());

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

// Compares a configuration with an existing database: finds feeds that seem to be renamed, sites that seem to have moved, and sites that do
// not keep the reference that creates send.

interface DatabaseCheck {
  /** Reasons why a feed will not be pulled or nothing will be sent to a site. */
  readonly problems: readonly Message[];
  /** Facts worth knowing that stop nothing. */
  readonly warnings: readonly Message[];
  /** Why the database could not be checked; `undefined` if it was, or does not exist yet. */
  readonly unseen?: string;
}

const NOTHING: DatabaseCheck = { problems: [], warnings: [] };

/** @param online whether sites are asked for jobs of ours. Never creates a database. An unreachable one is not a configuration error, so it is reported as `unseen`. */
async function checkDatabase(config: Config, online: boolean): Promise<DatabaseCheck> {
  if (config.database.kind === 'embedded' && !existsSync(join(config.dataDir, 'postgres'))) return NOTHING;
  try {
    const server = await openServer(config, () => undefined);
    const db = openDatabase(server.url, { max: 1 });
    try {
      const [found] = await onUsableServer(db, (session) =>
        session.query<{ any: boolean }>(`select to_regclass('migration') is not null as any`),
      );
      if (found?.any !== true) return NOTHING;
      await migrate(server.url);
      return await compare(config, db, online);
    } finally {
      await db.close();
      await server.leave();
    }
  } catch (error) {
    if (error instanceof UnusableServerError) return { ...NOTHING, problems: [`database: ${error.message}`] };
    return { ...NOTHING, unseen: `the database can't be read: ${(error as Error).message}` };
  }
}

/** What is wrong with the Redis of a configuration, or why that is unknown. */
async function checkQueue({ queue }: Config): Promise<readonly string[]> {
  if (queue.kind === 'database') return [];
  try {
    // Loads libraries that no other configuration needs.
    return await (await import('../../queue/backend.ts')).inspectRedis(queue.url.reveal());
  } catch (error) {
    return [(error as Error).message];
  }
}

async function compare(config: Config, db: Database, online: boolean): Promise<DatabaseCheck> {
  const { feeds, sites } = config;
  const named = namedFeeds(config);
  const problems: Message[] = [];
  for (const { name, options } of sites.values()) {
    const move = await findMove(db, name, addressOf(options));
    if (move !== undefined) problems.push(reword(describeMove(name, move), (text) => `site ${name}: ${text}`));
  }
  const reported = new Set<FeedName>();
  for (const { name, siteName, source } of feeds.values()) {
    const address = addressOf((sites.get(siteName) as SiteConfig).options);
    const asked = { feed: name, site: siteName, address, source: sourceDigest(source) };
    const elsewhere = refuseSite(await readFeedState(db, name), asked);
    if (elsewhere !== undefined) problems.push(elsewhere);
    const { former } = await otherNames(db, asked, named);
    if (former.length > 0) problems.push(refuseNewName(name, siteName, former));
    for (const { feed } of former) reported.add(feed);
  }
  const left = (await unconfiguredFeeds(db, named)).filter(({ live, unsent }) => live + unsent > 0);
  const warnings = left.filter(({ feed }) => !reported.has(feed)).map(describeLeft);
  // At another address the site may be another one.
  if (problems.length === 0) warnings.push(...(await checkReferences(config, db, online)));
  return { problems, warnings };
}

/** So many jobs are asked for. */
const MOST_ASKED = 3;

/** @returns warnings */
async function checkReferences({ sites }: Config, db: Database, online: boolean): Promise<Message[]> {
  const warnings: Message[] = [];
  for (const site of sites.values()) {
    const { name, options } = site;
    if (options.referenceField === undefined) continue;
    const reference = { site: name, address: addressOf(options), field: options.referenceField };
    if (online) await lookAtJobs(db, site, reference);
    const message = describeReference(reference.field, await referenceState(db, reference));
    if (message !== undefined) warnings.push(reword(message, (text) => `site ${name}: ${text}`));
  }
  return warnings;
}

/** What a site that cannot be asked keeps is not known. */
async function lookAtJobs(db: Database, site: SiteConfig, reference: SiteReference): Promise<void> {
  const jobs = await jobsWithReference(db, site.name, reference.field, MOST_ASKED);
  if (jobs.length === 0) return;
  const client = await openProvenClient(db, site);
  try {
    // Everybody may see less of a job than the user of the token.
    const token = await client.checkToken('list');
    const isUser = token.kind === 'accepted' || token.kind === 'needed';
    for (const { siteJobId, fields } of jobs) {
      const shown = await client.show(siteJobId).catch(() => undefined);
      const evidence = shown === undefined ? undefined : evidenceOf(fields, shown, reference.field);
      if (evidence?.kind === 'shown' || (evidence !== undefined && isUser))
        await noteReference(db, reference, evidence);
    }
  } finally {
    await client.close();
  }
}

// Reads the beginning of feeds to warn about likely mistakes of their mappings: files always, other sources on request.

/** Many feeds are not read one after the other. */
const AT_ONCE = 8;

/** One line for each likely mistake, with the name of its feed. @param online whether sources elsewhere are read, too. */
async function checkFeeds(config: Config, online: boolean): Promise<readonly string[]> {
  const { setups } = chooseFeeds(config, []);
  const waiting = [...setups.entries()].filter(([, { source }]) => isRead(source.from, online));
  const warnings: (readonly string[])[] = [];
  const lane = async (signal: AbortSignal) => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, setup] = next;
      const found = await sampleFeed(setup, signal);
      warnings[at] = found.map((text) => `feed ${setup.feed}: ${text}`);
    }
  };
  await untilSignalled((signal) => Promise.all(Array.from({ length: AT_ONCE }, () => lane(signal))));
  return warnings.flat();
}

/** Standard input can be read only once, and what was uploaded is in the database. */
function isRead(source: SourceConfig, online: boolean): boolean {
  switch (source.kind) {
    case 'stdin':
    case 'upload':
      return false;
    case 'file':
    case 'files':
      return true;
    case 'several':
      return source.members.every((member) => isRead(member, online));
    default:
      return online;
  }
}
