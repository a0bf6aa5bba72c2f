// Sets up the demo in one folder: a database, a job site, a feed and a configuration, and the worker that connects them.
import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { SiteConfig } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { packageRoot } from '../../config/package-root.ts';
import { identityOf, isAlive } from '../../embedded-postgres/process-identity.ts';
import { openEmbeddedServer, removeCluster } from '../../embedded-postgres/server.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { type App, openAppFor } from '../../runtime/app.ts';
import { type Engine, startEngine } from '../../runtime/engine.ts';
import { feedSetups } from '../../runtime/feed-setups.ts';
import { STOP_WITHIN_MS, UserError } from '../../runtime/stop-signal.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { printNotice } from '../../telemetry/print.ts';
import { serveWeb } from '../serve-web.ts';

export const DEMO_ACCOUNT = 'demo@example.com';

type FeedVersion = 1 | 2;

/** Everything that runs during a demo. */
export interface DemoInstallation {
  readonly sandbox: Sandbox;
  /** The password of {@link DEMO_ACCOUNT}. */
  readonly password: string;
  readonly configPath: string;
  readonly app: App;
  readonly engine: Engine;
  readonly setup: FeedSetup;
  readonly site: SiteConfig;
  /** Where the pages are: `http://host:port`. */
  readonly pages: string;
  /** Makes the source serve this version of the feed. */
  publish(version: FeedVersion): void;
  close(): Promise<void>;
}

/** The data is deleted afterwards, so it need not survive a power cut. */
const POSTGRES_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** Opens the demo's installation in `folder`. `signal` ends pulls that were started on the pages. If a part fails to open, the parts opened before are closed. */
export async function openDemoInstallation(folder: string, signal: AbortSignal): Promise<DemoInstallation> {
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (let end = closers.pop(); end !== undefined; end = closers.pop()) await end();
  };
  try {
    const server = await openEmbeddedServer(folder, { settings: POSTGRES_SETTINGS });
    closers.push(() => server.leave());
    const sandbox = await startSandbox({ databaseUrl: server.url() });
    closers.push(() => sandbox.close());
    const { token, password = '' } = await sandbox.ensureUser(DEMO_ACCOUNT);

    const feedPath = join(folder, 'feed.xml');
    const publish = (version: FeedVersion): void =>
      copyFileSync(join(packageRoot, 'config/demo', `feed-${version}.xml`), feedPath);
    publish(1);
    writeFileSync(join(folder, 'token'), token, { mode: 0o600 });
    const configPath = join(folder, 'jobmirror.yaml');
    writeFileSync(configPath, configurationFor(sandbox.url));

    // From here on, everything is exactly what `jobmirror sync` does, and `jobmirror start` for the pages.
    const config = await loadConfig({ path: configPath, env: process.env, cwd: folder });
    const app = await openAppFor(config, { quiet: true });
    closers.push(() => app.close());
    const engine = await startEngine(app, undefined);
    closers.push(() => engine.stop(STOP_WITHIN_MS));
    const web = await serveWeb(app);
    closers.push(() => web.stop(STOP_WITHIN_MS));
    const setups = feedSetups(config, []);
    web.begin(engine, setups, signal);
    const [setup] = setups;
    const [site] = config.sites.values();
    if (setup === undefined || site === undefined) throw new Error('the demo configuration has no feed or no site');
    return { sandbox, password, configPath, app, engine, setup, site, pages: web.url, publish, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Slow enough to watch the postings being sent one after another. */
const REQUESTS_PER_SECOND = 40;

const configurationFor = (siteUrl: string): string => `# Written by \`jobmirror demo\`, and removed when it ends.
database: embedded
data_dir: .                   # this folder
web:
  listen: 127.0.0.1:0       # any free port
sites:
  board:
    base_url: ${siteUrl}
    token_file: token         # the site's page My Account, section API, Show Key
    reference_field: number   # together with list_path: finds jobs whose creation is in doubt
    list_path: /jobs.xml
    limits: { requests_per_second: ${REQUESTS_PER_SECOND}, concurrency: 4 }
feeds:
  corrandale:
    source: feed.xml          # most often an https:// address
    format: indeed
    site: board
`;

// Creates the demo's folder and removes it again, together with the folders that killed demos left behind.

export interface DemoFolder {
  /** Absolute. */
  readonly path: string;
  /** Removes the folder. Stop its database server first. */
  remove(): Promise<void>;
}

/** Holds the identity of the owning process: a process ID alone can be reused. */
const OWNER_FILE = 'owner';

/**
 * Creates `.jobmirror/demo-<pid>` below `parent`.
 * @throws UserError if that fails
 */
export async function makeDemoFolder(parent: string): Promise<DemoFolder> {
  const area = join(parent, '.jobmirror');
  const path = join(area, `demo-${process.pid}`);
  try {
    mkdirSync(area, { recursive: true });
    await removeLeftovers(area);
    mkdirSync(path);
    writeFileSync(join(path, OWNER_FILE), identityOf(process.pid) ?? '');
  } catch (cause) {
    throw new UserError(
      `the demo can't keep its files in ${area}: ${(cause as Error).message}\nStart it in a folder that you may write to.`,
      { cause },
    );
  }
  return {
    path,
    async remove() {
      await removeFolder(path);
      removeIfEmpty(area);
    },
  };
}

/** Removes the folders of demos whose process is gone. A folder that can't be removed is left to the next demo. */
async function removeLeftovers(area: string): Promise<void> {
  for (const name of readdirSync(area).filter(isLeftover(area))) {
    // Renaming claims the folder: of several demos that start at once, only one succeeds. The new name is recognised again.
    const claimed = join(area, `demo-${process.pid}-leftover-${randomBytes(4).toString('hex')}`);
    try {
      renameSync(join(area, name), claimed);
      await removeFolder(claimed);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') printNotice(`${join(area, name)}, of an earlier demo, stays: ${message}`);
    }
  }
}

const isLeftover =
  (area: string) =>
  (name: string): boolean => {
    const [, pid, claimed] = /^demo-(\d+)(-leftover-[0-9a-f]+)?$/.exec(name) ?? [];
    if (pid === undefined) return false;
    if (identityOf(Number(pid)) === undefined) return true;
    // The owner file of a claimed folder still names the first owner, so go by the claimer's pid. We have claimed nothing
    // yet: a folder with our pid is left over from an earlier process.
    if (claimed !== undefined) return Number(pid) === process.pid;
    const owner = readOwner(join(area, name));
    return owner !== undefined && !isAlive(owner);
  };

/** `undefined`: the owner has not written it yet, or is removing the folder. */
function readOwner(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, OWNER_FILE), 'utf8') || undefined;
  } catch {
    return undefined;
  }
}

async function removeFolder(path: string): Promise<void> {
  await removeCluster(path);
  // A server process may still be writing for a moment.
  rmSync(path, { recursive: true, force: true, maxRetries: 10 });
}

/** Keeps the folder if it holds the user's own database or another demo. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error;
  }
}
