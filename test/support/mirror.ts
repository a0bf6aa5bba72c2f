// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration itself contains ${NAME}.
// Sets up a whole installation for one test: database, sandbox site, configuration, and commands.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { actionWriter } from '../../src/cli/adapter/write-action.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { type App, openAppFor } from '../../src/runtime/app.ts';
import { type PullReportJson, pullReportJson } from '../../src/runtime/conclude-pull.ts';
import { type Engine, startEngine } from '../../src/runtime/engine.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { mirrorFeed } from '../../src/runtime/mirror-feed.ts';
import type { Timing } from '../../src/runtime/timing.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import type { SandboxSettings } from '../../src/sandbox/settings.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { ACCOUNTS } from './accounts.ts';
import { createTestDatabase } from './database.ts';
import { FAST_TIMING } from './fast-timing.ts';
import { feedXml, type TestPosting } from './indeed-feed.ts';

export interface MirrorOptions {
  /** `database`, or a Redis URL. */
  readonly queue?: string;
  /** A separate database for the mirror. By default it shares one with the sandbox. */
  readonly databaseUrl?: string;
  readonly sandbox?: Partial<SandboxSettings>;
  /** Settings of the site: a key replaces the default, undefined removes it. */
  readonly site?: Readonly<Record<string, string | undefined>>;
  /** The same for the feed `acme`. */
  readonly feed?: Readonly<Record<string, string>>;
  /** Whether the site is searched for jobs of the feed before its first create; by default it is declared to have none. */
  readonly searched?: boolean;
  /** By default a fast one, so that tests wait for less; `mirror.test.ts` and `stopped.test.ts` use the real one. */
  readonly timing?: Timing;
}

/** The program with its configuration and a database, for one site. */
export interface Program {
  readonly folder: string;
  readonly configPath: string;
  readonly env: Readonly<Record<string, string>>;
  /** Opens the app, unless it is open. */
  app(): Promise<App>;
  /** Asks the database of the app. */
  readonly query: Database['query'];
  /** Starts sending, unless started. */
  engine(): Promise<Engine>;
  /** Stops both, as a stop of the process would; with 0 ms, cuts off requests in flight. */
  stopEngine(graceMs?: number): Promise<void>;
  writeFeed(content: string | Buffer): Promise<void>;
  /** Stops both, and replaces a part of the configuration, which must have it. */
  configure(from: string | RegExp, to: string): Promise<void>;
  /** Mirrors one feed once, `acme` if none is named. */
  sync(feed?: string): Promise<PullReportJson>;
  /** Writes the feed with these postings, and mirrors it once. */
  syncOf(postings: readonly TestPosting[]): Promise<PullReportJson>;
  close(): Promise<void>;
}

/** One installation with a sandbox. `close` ends all of it. */
export interface Mirror extends Program {
  readonly sandbox: Sandbox;
  /** The site's jobs by `number`, without the fields that the site adds. */
  siteJobs(): Promise<Map<string, Readonly<Record<string, string>>>>;
}

const DEFAULT_SITE = {
  reference_field: 'number',
  list_path: '/jobs.xml',
  limits: '{ requests_per_second: 5000, concurrency: 8, timeout_seconds: 5 }',
  retry: '{ attempts: 5, first_delay_seconds: 0.05, max_delay_seconds: 0.5 }',
};

/** For sites with the default limits: the shortest wait that their timeout allows. */
const DEFAULT_DOUBTS = '{ resolve_after_seconds: 5.5 }';

const DEFAULT_FEED = { source: 'feed.xml', format: 'indeed' };

export async function openMirror(options: MirrorOptions = {}): Promise<Mirror> {
  const database = await createTestDatabase({ accounts: true });
  const sandbox = await startSandbox({ databaseUrl: database.url, settings: options.sandbox });
  const { token } = await sandbox.ensureUser(ACCOUNTS[0].email, undefined, randomBytes(20).toString('hex'));
  const program = await openProgram({ url: sandbox.url, token }, options.databaseUrl ?? database.url, options);
  return {
    ...program,
    sandbox,
    async siteJobs() {
      const jobs = await sandbox.inspect.jobs();
      return new Map(jobs.map((siteJob) => [siteJob.fields.number ?? siteJob.id, siteJob.fields]));
    },
    async close() {
      await program.close();
      await sandbox.close();
      await database.drop();
    },
  };
}

/** @param site where it is, and the token to act with */
export async function openProgram(
  site: { readonly url: string; readonly token: string },
  databaseUrl: string,
  options: Omit<MirrorOptions, 'databaseUrl' | 'sandbox'> = {},
): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-mirror-'));
  const configPath = join(folder, 'jobmirror.yaml');
  const env = { BOARD_TOKEN: site.token, DATABASE_URL: databaseUrl };
  await writeFile(configPath, configText(site.url, options));
  let opened: Promise<App> | undefined;
  let started: Promise<Engine> | undefined;

  async function openTheApp(): Promise<App> {
    const config = await loadConfig({ path: configPath, env, cwd: folder });
    const app = await openAppFor(
      { ...config, log: { level: 'error' } },
      {
        quiet: true,
        timing: options.timing ?? FAST_TIMING,
        writeAction: actionWriter((words) => ['jobmirror', ...words].join(' ')),
      },
    );
    app.log.level = process.env.TEST_LOG ?? 'silent';
    if (options.searched !== true) await declareNew(app.db);
    return app;
  }
  function app(): Promise<App> {
    opened ??= openTheApp();
    return opened;
  }
  function engine(): Promise<Engine> {
    started ??= app().then((open) => startEngine(open, undefined));
    return started;
  }
  async function stopEngine(graceMs = 5_000): Promise<void> {
    await (await started)?.stop(graceMs);
    await (await opened)?.close();
    started = undefined;
    opened = undefined;
  }
  const writeFeed = (content: string | Buffer): Promise<void> => writeFile(join(folder, 'feed.xml'), content);
  async function sync(feed = 'acme'): Promise<PullReportJson> {
    const open = await app();
    const [setup] = feedSetups(open.config, [feed]);
    if (setup === undefined) throw new Error(`the configuration has no feed ${feed}`);
    const report = await mirrorFeed(open, engine, setup, { signal: new AbortController().signal });
    await untilIdle(await started);
    return pullReportJson(report, open.writeAction);
  }
  return {
    folder,
    configPath,
    env,
    app,
    query: async (text, values) => (await app()).db.query(text, values),
    engine,
    stopEngine,
    writeFeed,
    async configure(from, to) {
      const text = await readFile(configPath, 'utf8');
      const isThere = typeof from === 'string' ? text.includes(from) : from.test(text);
      if (!isThere) throw new Error(`the configuration has no ${from} to replace:\n${text}`);
      await stopEngine();
      await writeFile(configPath, text.replace(from, to));
    },
    sync,
    async syncOf(postings) {
      await writeFeed(feedXml(postings));
      return sync();
    },
    async close() {
      await stopEngine();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Waits for what the last attempts ask the site after their outcome is recorded, as the command does before it ends: it would
 * otherwise be among the requests of what follows.
 */
async function untilIdle(engine: Engine | undefined): Promise<void> {
  const contexts = [...(engine?.siteContexts.values() ?? [])];
  while (contexts.some(({ inFlight }) => inFlight.taken > 0)) await pause(5);
}

/** Declares that the new site has no jobs of the feed. Whatever a restore or a new name has made of the feed since stays. */
async function declareNew(db: Database): Promise<void> {
  await db.query(
    `insert into feed_state (feed, site, site_checked_at) values ('acme', 'board', now()) on conflict (feed) do nothing`,
  );
}

function configText(url: string, options: MirrorOptions): string {
  const lines = (entries: Readonly<Record<string, string | undefined>>) =>
    Object.entries(entries).flatMap(([name, value]) => (value === undefined ? [] : [`    ${name}: ${value}`]));
  const doubts = options.site !== undefined && 'limits' in options.site ? undefined : DEFAULT_DOUBTS;
  return [
    'database: ${DATABASE_URL}',
    `queue: ${options.queue ?? 'database'}`,
    'sites:',
    '  board:',
    ...lines({ base_url: url, token: '${BOARD_TOKEN}', ...DEFAULT_SITE, doubts, ...options.site }),
    'feeds:',
    '  acme:',
    ...lines({ site: 'board', ...DEFAULT_FEED, ...options.feed }),
    '',
  ].join('\n');
}
