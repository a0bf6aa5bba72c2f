// Takes a changed configuration over while the process runs: when a person asks, on SIGHUP, and once changed files pass the check.
import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Config } from '../config/config.ts';
import { type ConfigChanges, changedParts, configDigests } from '../config/config-digests.ts';
import { ConfigError, complaintLine } from '../config/config-error.ts';
import { startRounds } from '../flow/pause.ts';
import type { SiteName } from '../posting/identifiers.ts';
import {
  newestReload,
  type RecordedReload,
  type ReloadingProcess,
  readReports,
  recordReload,
  removeReport,
  type StoredReport,
  storeReport,
} from '../store/access/reload-reports.ts';
import { type LiveProcess, liveProcesses, type ProcessAbout, tokenPart } from '../store/locks/processes.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { NewerSchemaError, refuseNewerSchema } from '../store/postgres/migrate.ts';
import { withRetry } from '../store/postgres/transient-error.ts';
import { createLogger, type Logger } from '../telemetry/log.ts';
import { formatTime } from '../telemetry/times.ts';
import { type App, configSecrets, expectSecrets, readConfig, withoutFeedsLackingSecrets } from './app.ts';
import { chooseFeeds } from './feed-setups.ts';
import { STOP_WITHIN_MS, type StopSignal, UserError } from './stop-signal.ts';

/** What became of a configuration that was read again. */
export interface ReloadReport {
  /** `begun`: it is being taken over. `refused`: it is wrong. `failed`: it could not be begun with. After both, the former one stays. */
  readonly kind: 'begun' | 'applied' | 'unchanged' | 'refused' | 'failed';
  /** Why it was read: `file`, `signal`, or who asked. */
  readonly cause: string;
  readonly changes: ConfigChanges;
  /** Settings that differ and take effect with the next start. */
  readonly restart: readonly string[];
  /** What is wrong, one line each. */
  readonly problems: readonly string[];
}

interface ReloadOptions {
  readonly command: 'start' | 'work';
  /** Path of the configuration file, as the command was given it. */
  readonly path: string | undefined;
  /** The groups of settings whose secrets the process needs. */
  readonly secrets: Parameters<typeof expectSecrets>[1];
  /** How often SIGHUP has come. */
  hangUps(): number;
  /** Called if the process can't go on with the database. */
  fail(error: Error): void;
  /** Replaces what runs by what this configuration says; a pull that runs ends as it began. Rejects if the former goes on. */
  replace(app: App): Promise<void>;
}

interface Reloading {
  /** Replaces nothing any more; waits for a replacement that runs. */
  endReplacing(): Promise<void>;
  stop(): Promise<void>;
}

/** How often files are looked at, and requests looked for. */
const EVERY_MS = 1_000;

export const NO_CHANGES: ConfigChanges = { added: [], changed: [], removed: [], sites: [], others: [] };

interface Unstored {
  readonly report: ReloadReport;
  readonly answers: number | undefined;
  /** `false`: what became of it belongs in the activity. A person who asks is there already. */
  readonly isTold: boolean;
}

/** What nobody asked for, in the activity. */
async function recordedOf({ config, db }: App, report: ReloadReport): Promise<RecordedReload> {
  const { kind, cause, changes, restart, problems } = report;
  const { added, changed, removed, sites, others } = changes;
  // Commands that only show how processes do load none of that.
  const { keepHandEdits } = await import('../config/feed-files.ts');
  const byHand = staysFormer(report) ? new Set() : await keepHandEdits({ config, db }, [...added, ...changed]);
  const named = Object.entries(staysFormer(report) ? {} : { added, changed, removed });
  const feeds = named.flatMap(([change, names]) => names.map((feed) => ({ feed, change, byHand: byHand.has(feed) })));
  const detail = Object.fromEntries(
    Object.entries({ sites, others, restart, problems }).filter(([, texts]) => texts.length > 0),
  );
  const digest = createHash('sha256')
    .update(JSON.stringify([kind, cause, changes, problems, configDigests(config)]))
    .digest('base64url');
  const reason = cause === 'signal' ? 'SIGHUP' : 'files had changed';
  return { reason, feeds, detail: staysFormer(report) ? { result: kind, ...detail } : detail, digest };
}

/** How a process that takes changes of its configuration over runs, until it is stopped or can't go on. */
interface ReloadingRun {
  /** Aborts when what runs at a stop is cut off: a reload waits longer than a stop may take. */
  readonly cutOff: AbortSignal;
  /** Resolves when it is stopped. Rejects if it can't go on, so that its supervisor restarts it. */
  ended(): Promise<void>;
  fail(error: unknown): void;
  /** Begins with `next`; if that fails, goes on as before, and rejects. */
  beginOr<Parts>(next: Parts, former: Parts, begin: (parts: Parts) => Promise<void>): Promise<void>;
}

export function reloadingRun({ signal, stopped }: Pick<StopSignal, 'signal' | 'stopped'>, log: Logger): ReloadingRun {
  const cutOff = new AbortController();
  signal.addEventListener('abort', () => void setTimeout(() => cutOff.abort(), STOP_WITHIN_MS).unref(), { once: true });
  let failed = (_error: unknown): void => undefined;
  const failing = new Promise<never>((_resolve, reject) => {
    failed = reject;
  });
  // Awaited only once everything has started.
  failing.catch(() => undefined);
  return {
    cutOff: cutOff.signal,
    ended: () => Promise.race([stopped, failing]),
    fail: (error) => failed(error),
    async beginOr(next, former, begin) {
      try {
        await begin(next);
      } catch (error) {
        // It ran a moment ago, so a server that restarts may be why it doesn't.
        const onRetry = (err: unknown) =>
          log.warn({ err }, 'the former configuration could not be begun with again, will retry');
        await withRetry(() => begin(former), signal, { worthAgain: () => true, onRetry }).catch(failed);
        throw error;
      }
    },
  };
}

/** Begins with the configuration of `app`. */
export async function startReloading(app: App, options: ReloadOptions): Promise<Reloading> {
  const { db } = app;
  const self: ReloadingProcess = {
    host: hostname(),
    pid: process.pid,
    startedAt: new Date(),
    command: options.command,
  };
  let present = app;
  let answered = (await newestReload(db))?.id;
  let hangUps = 0;
  let replacing: Promise<unknown> = Promise.resolve();
  let isEnding = false;
  /** Whether the last one that was read was refused. */
  let stayed = false;
  /** The files as they were last read; `undefined`: they may have changed since the process read them. */
  let read: string | undefined;
  /** The files as they were a round ago. */
  let before: string | undefined;
  /** What became of the last one that was read, until it is stored. */
  let unstored: Unstored | undefined;

  async function takeOver(cause: string): Promise<ReloadReport> {
    const report = { cause, changes: NO_CHANGES, restart: [], problems: [] };
    let next: Config;
    try {
      next = await readAgain(present.config, options);
    } catch (error) {
      if (error instanceof UserError) return { ...report, kind: 'refused', problems: error.message.split('\n') };
      if (!(error instanceof ConfigError)) throw error;
      return { ...report, kind: 'refused', problems: error.complaints.map(complaintLine) };
    }
    const { config, restart } = keepingFixed(present.config, next, options);
    const changes = changedParts(present.config, config);
    if (Object.values(changes).every((parts) => parts.length === 0)) {
      return { ...report, kind: 'unchanged', restart };
    }
    const secrets = new Set([...configSecrets(present.config), ...configSecrets(config)]);
    const log = createLogger({ level: config.log.level, secrets: [...secrets], json: true });
    const renewed: App = { ...present, config, log };
    // Until it sends again, nothing else shows that the process lives.
    await storeReport(db, self, { ...report, kind: 'begun', changes, restart }, undefined);
    if (isEnding) return { ...report, kind: 'failed', changes, restart, problems: ['the process is stopping'] };
    replacing = options.replace(renewed);
    try {
      await replacing;
    } catch (error) {
      return { ...report, kind: 'failed', changes, restart, problems: [(error as Error).message] };
    }
    present = renewed;
    return { ...report, kind: 'applied', changes, restart };
  }

  /** @param answers the request that is answered: the last one, if nobody asked */
  async function reload(cause: string, isAsked: boolean, answers: number | undefined): Promise<void> {
    const report = await takeOver(cause);
    const isNothing = report.kind === 'unchanged' && report.restart.length === 0 && !stayed;
    stayed = staysFormer(report);
    if (isNothing && !isAsked) return;
    logReport(present, report);
    // Workers that follow are no action of their own.
    const isTold = options.command === 'work' || (isAsked && cause !== 'signal');
    unstored = { report, answers, isTold };
  }

  async function storeWhatIsLeft(): Promise<void> {
    if (unstored === undefined) return;
    const { report, answers, isTold } = unstored;
    await storeReport(db, self, report, answers);
    if (!isTold) {
      const recorded = await recordedOf(present, report);
      await db.transaction((tx) => recordReload(tx, self, recorded));
    }
    unstored = undefined;
  }

  async function look(): Promise<void> {
    await refuseNewerSchema(db.prepared);
    await storeWhatIsLeft();
    const request = await newestReload(db);
    const files = await filesDigest(present.config);
    const signals = options.hangUps();
    // A reload that fails before it replaces anything is tried again: only one that has ended counts.
    if (signals !== hangUps || (request !== undefined && request.id !== answered)) {
      await reload(signals === hangUps ? (request?.actor ?? '') : 'signal', true, request?.id);
      hangUps = signals;
      answered = request?.id;
      read = files;
      return storeWhatIsLeft();
    }
    // Somebody may still be writing them.
    const isStill = files === before;
    before = files;
    if (files === read || !isStill) return;
    await reload('file', false, answered);
    read = files;
    await storeWhatIsLeft();
  }

  const rounds = startRounds(
    async () => {
      try {
        await look();
      } catch (err) {
        if (err instanceof NewerSchemaError) return options.fail(new UserError(err.message, { cause: err }));
        present.log.warn({ err }, 'the configuration could not be looked at again, will retry');
      }
    },
    { everyMs: EVERY_MS },
  );
  return {
    async endReplacing() {
      isEnding = true;
      await replacing.catch(() => undefined);
    },
    async stop() {
      await rounds.stop();
      await removeReport(db, self).catch(() => undefined);
    },
  };
}

/** @throws {ConfigError | UserError} if it is wrong; feeds that were wrong before stay left out */
async function readAgain(present: Config, { command, path, secrets }: ReloadOptions): Promise<Config> {
  const written = await readConfig({ ...(path === undefined ? {} : { config: path }) });
  // Workers send what others pull, and need no secret of a source.
  const next = command === 'work' ? written : withoutFeedsLackingSecrets(written);
  expectSecrets(next, secrets);
  const wasBroken = new Set(brokenIn(present).map(({ feed }) => feed));
  const complaints = [...next.brokenFeeds].flatMap(([feed, broken]) => (wasBroken.has(feed) ? [] : broken.complaints));
  if (complaints.length > 0) throw new ConfigError(complaints);
  const newly = brokenIn(next).filter(({ feed }) => !wasBroken.has(feed));
  if (newly.length > 0) throw new UserError(newly.map(({ feed, message }) => `feed ${feed}: ${message}`).join('\n'));
  return next;
}

const brokenIn = (config: Config) => (hasNoFeedYet(config) ? [] : chooseFeeds(config, []).broken);

/** An answer of a site is recorded within this time. */
const RECORDED_WITHIN_MS = 2_000;

/** Within this time, every site has answered what was sent to it, or is too late, and that is recorded. */
export const answeredWithinMs = ({ sites }: Config): number =>
  Math.max(0, ...[...sites.values()].map(({ options }) => options.timeoutMs)) + RECORDED_WITHIN_MS;

/** Feeds are to be added on the pages. */
export const hasNoFeedYet = ({ include, feeds, brokenFeeds }: Config): boolean =>
  include !== undefined && feeds.size + brokenFeeds.size === 0;

/** The next configuration with the settings that a running process cannot change. */
function keepingFixed(
  present: Config,
  next: Config,
  { command }: ReloadOptions,
): { readonly config: Config; readonly restart: readonly string[] } {
  const { database, queue, dataDir, listen } = present;
  const { trustedProxies } = present.web;
  const urlOf = (server: Config['database'] | Config['queue']) => ('url' in server ? server.url.reveal() : server.kind);
  const fixed: readonly (readonly [string, boolean])[] = [
    ['database: the process is connected to it', urlOf(database) !== urlOf(next.database)],
    ['queue: the process is connected to it', urlOf(queue) !== urlOf(next.queue)],
    ['data_dir: the database runs there', database.kind === 'embedded' && dataDir !== next.dataDir],
  ];
  const served: typeof fixed = [
    [
      'listen: the process listens at the former address',
      listen.host !== next.listen.host || listen.port !== next.listen.port,
    ],
    [
      'web.trusted_proxies: connections are counted by the former ones',
      trustedProxies.join() !== next.web.trustedProxies.join(),
    ],
  ];
  return {
    config: { ...next, database, queue, dataDir, listen, web: { ...next.web, trustedProxies } },
    restart: (command === 'work' ? fixed : [...fixed, ...served]).flatMap(([setting, differs]) =>
      differs ? [setting] : [],
    ),
  };
}

/** Of the main file, the files of feeds and own presets, without reading them. */
async function filesDigest({ path, include }: Config): Promise<string> {
  const folders = [...(include === undefined ? [] : [include.folder]), join(dirname(path), 'presets')];
  const files = [path];
  for (const folder of folders) {
    const names = await readdir(folder).catch(() => []);
    files.push(...names.filter((name) => !name.startsWith('.')).map((name) => join(folder, name)));
  }
  const lines = files.sort().map(async (file) => {
    const found = await stat(file).catch(() => undefined);
    return `${file} ${found?.ino} ${found?.size} ${found?.mtimeMs}`;
  });
  return createHash('sha256')
    .update((await Promise.all(lines)).join('\n'))
    .digest('hex');
}

const SAID: Readonly<Record<ReloadReport['kind'], string>> = {
  begun: 'the changed configuration is taken over',
  applied: 'configuration reloaded',
  unchanged: 'the configuration has not changed',
  refused: 'the changed configuration is wrong, the former one stays in use',
  failed: 'the changed configuration could not be used, the former one stays in use',
};

const staysFormer = ({ kind }: ReloadReport): boolean => kind === 'refused' || kind === 'failed';

function logReport({ log }: App, report: ReloadReport): void {
  const { kind, cause, changes, restart, problems } = report;
  if (staysFormer(report)) log.error({ cause, problems }, SAID[kind]);
  else log.info({ cause, ...changes, restart }, SAID[kind]);
}

/** A process that is taking a configuration over, and how it or another one has ended that. */
export interface Reloaded {
  readonly command: string;
  readonly host: string;
  readonly pid: number;
  /** `undefined`: it has read the configuration only when it started. */
  readonly last: Pick<StoredReport<ReloadReport>, 'at' | 'report' | 'reload'> | undefined;
}

/** Running processes that take changes over, with what became of the last one. */
export async function reloadedProcesses(db: Queryable): Promise<readonly Reloaded[]> {
  const reports = await readReports<ReloadReport>(db);
  const live = (await liveProcesses(db)).filter(({ command }) => command === 'start' || command === 'work');
  const taking = reports.filter(({ report, isRecent }) => report.kind === 'begun' && isRecent);
  // A process that takes a configuration over may have a former and a new life for a moment, or none.
  const processes = new Map([...live, ...taking].map((process) => [`${process.host} ${process.pid}`, process]));
  return [...processes.values()].map(({ command, host, pid }) => {
    const last = reports.findLast((report) => report.host === host && report.pid === pid);
    return { command, host, pid, last };
  });
}

/** Running processes that do not use the changed configuration, and why, in words. */
export async function keptFormer(db: Queryable): Promise<readonly string[]> {
  return (await reloadedProcesses(db)).flatMap(({ command, host, pid, last }) => {
    if (last === undefined || !staysFormer(last.report)) return [];
    const [first = '', ...more] = last.report.problems;
    const others = more.length === 0 ? '' : `, and ${more.length} more`;
    return [`${command} (process ${pid} on ${host}): ${first}${others}`];
  });
}

// Detects processes that use one database with different configurations, and describes the differences.

/** Maximum number of parts named in one message. */
const MOST_NAMED = 5;

/** A site or feed that live processes have configured differently. */
interface Difference {
  /** For example `feed acme`. */
  readonly part: string;
  readonly kind: 'differs' | 'missing';
  /**
   * `missing`: the processes without it. `differs`: those whose version is not that of the newest process that has it.
   */
  readonly processes: readonly LiveProcess[];
}

/** Differences between live processes, by name. `processes` is ordered from oldest to newest. */
export function differencesOf(processes: readonly LiveProcess[]): Difference[] {
  const names = new Set(processes.flatMap((process) => Object.keys(process.parts)));
  // The feed's own part already covers its source.
  const parts = [...names].filter((name) => !name.startsWith('source of ')).sort();
  return parts.flatMap((part): Difference[] => {
    const newest = processes.findLast((process) => process.parts[part] !== undefined)?.parts[part];
    const lacking = processes.filter((process) => process.parts[part] === undefined);
    const others = processes.filter((process) => process.parts[part] !== undefined && process.parts[part] !== newest);
    return [
      ...(others.length === 0 ? [] : [{ part, kind: 'differs', processes: others } as const]),
      ...(lacking.length === 0 ? [] : [{ part, kind: 'missing', processes: lacking } as const]),
    ];
  });
}

/** The differences in one sentence; `undefined`: there are none. */
export function describeDifferences(differences: readonly Difference[]): string | undefined {
  if (differences.length === 0) return undefined;
  const named = differences.slice(0, MOST_NAMED).map(({ part, kind, processes }) => {
    const who = processes.map(nameOfProcess).join(', ');
    return kind === 'missing' ? `${part} is missing from ${who}` : `${part} differs in ${who}`;
  });
  const more = differences.length - named.length;
  return (
    `processes with different configurations work on this database: ${named.join('; ')}` +
    `${more > 0 ? `; and ${more} more` : ''}. Each process pulls the feeds in its own configuration; the newest process pulls those that differ; ` +
    'to fix this, give all processes the same configuration and restart the others'
  );
}

/** Names a process in a message. */
export const nameOfProcess = ({ command, host, pid, startedAt }: LiveProcess): string =>
  `${command} (process ${pid} on ${host}, since ${formatTime(startedAt)})`;

/** Returns a function to call regularly: it warns whenever the differences change. */
export function watchConfigurations(db: Database, log: Logger): () => Promise<void> {
  let known: string | undefined;
  return async () => {
    const text = describeDifferences(differencesOf(await liveProcesses(db)));
    if (text !== undefined && text !== known) log.warn(text);
    if (text === undefined && known !== undefined) log.info('all processes have the same configuration again');
    known = text;
  };
}

/** @param tokens digest of the token of each site: see `tokenDigest`. */
export const aboutProcess = (config: Config, command: string, tokens: ReadonlyMap<SiteName, string>): ProcessAbout => ({
  command,
  host: hostname(),
  pid: process.pid,
  parts: {
    ...configDigests(config),
    ...Object.fromEntries([...tokens].map(([site, token]) => [tokenPart(site), token])),
  },
  feeds: new Map([...config.feeds.values()].map(({ name, siteName }) => [name, siteName])),
});
