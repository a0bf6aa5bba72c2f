// The composition with a feed of the test: writes the feed's versions, and compares the sandbox's jobs with them.
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../src/config/package-root.ts';
import { createSiteClient } from '../../src/site/http/client.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { compose, type Environment, makeSecrets, type SecretName } from './docker.ts';

/** The ports that docker-compose.yml publishes on loopback. */
export const PORTS = { worker: 8080, sandbox: 8081 };

/** Postings of each version of the feed, and how many of them the next version replaces. */
const SIZE = 100;
const REPLACED = 20;

export interface Installation {
  readonly secrets: Readonly<Record<SecretName, string>>;
  /** For Compose: the secrets and the folder. */
  readonly env: Environment;
  /** Runs Compose with these. */
  compose(...args: readonly string[]): Promise<string>;
  /** Writes the next version of the feed: every posting is new, changed or gone. Returns its titles by posting key. */
  writeNextFeed(): Promise<Readonly<Record<string, string>>>;
  /** The sandbox's jobs: `key: title`, sorted; a key that is there twice comes twice. Throws if it does not answer. */
  siteJobs(): Promise<readonly string[]>;
  remove(): Promise<void>;
}

export async function prepareInstallation(): Promise<Installation> {
  for (const port of Object.values(PORTS)) await expectFree(port);
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-docker-'));
  await mkdir(join(folder, 'feeds'));
  await chmod(join(folder, 'feeds'), 0o755);
  await writeFile(join(folder, 'jobmirror.yaml'), await configuration(), { mode: 0o644 });
  const secrets = makeSecrets();
  const env = { ...secrets, JOBMIRROR_TEST_FOLDER: folder };
  const client = createSiteClient({
    baseUrl: new URL(`http://127.0.0.1:${PORTS.sandbox}`),
    token: { reveal: () => secrets.BOARD_TOKEN },
    listPath: '/jobs.xml',
    timeoutMs: 10_000,
    concurrency: 1,
  });
  let version = 0;
  return {
    secrets,
    env,
    compose: (...args) => compose(args, env),
    async writeNextFeed() {
      version += 1;
      const titles = titlesOf(version);
      const path = join(folder, 'feeds', 'acme.xml');
      const postings = Object.entries(titles).map(([key, title]) => posting(key, { title }));
      await writeFile(`${path}.part`, feedXml(postings), { mode: 0o644 });
      await rename(`${path}.part`, path);
      return titles;
    },
    async siteJobs() {
      const jobs: string[] = [];
      const listing = await client.list(({ fields }) => jobs.push(jobLine(fields.number, fields.title)));
      if (listing.kind === 'unreadable') throw new Error(listing.message);
      return jobs.sort();
    },
    async remove() {
      await client.close();
      await compose(['down', '--volumes', '--remove-orphans', '--timeout=15'], env);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const jobLine = (key: string | undefined, title: string | undefined): string => `${key}: ${title}`;

function titlesOf(version: number): Readonly<Record<string, string>> {
  const keys = Array.from({ length: SIZE }, (_, at) => `p${version * REPLACED + at}`);
  return Object.fromEntries(keys.map((key) => [key, `Nurse ${key}, version ${version}`]));
}

/** The configuration of the composition with the test's feed: pulled often, sent slowly, doubts resolved soon. */
async function configuration(): Promise<string> {
  const config = parse(await readFile(join(packageRoot, 'config/jobmirror.compose.yaml'), 'utf8'));
  Object.assign(config.sites.board, {
    limits: { requests_per_second: 25, timeout_seconds: 5 },
    retry: { first_delay_seconds: 1, max_delay_seconds: 5 },
    doubts: { resolve_after_seconds: 10 },
  });
  config.feeds = {
    acme: {
      source: '/feeds/acme.xml',
      format: 'indeed',
      site: 'board',
      schedule: '*/5 * * * * *',
      delete_guard: { percent: 100, count: SIZE },
    },
  };
  return stringify(config);
}

function expectFree(port: number): Promise<void> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new Error(`port ${port} of 127.0.0.1 must be free for this test`, { cause })),
    );
    server.listen(port, '127.0.0.1', () => server.close(() => resolve()));
  });
}
