// Starts Redmine (`redmine-site.rb`) with a database of its own, and inspects it from within. Without it, says why tests are skipped.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { request } from 'undici';
import { packageRoot } from '../../src/config/package-root.ts';
import { fastFolder } from '../support/fast-folder.ts';
import { freePort } from '../support/free-port.ts';

/** A row, also that of a closed issue. */
export interface RedmineIssue {
  readonly id: number;
  readonly project_id: number;
  readonly subject: string;
  readonly description: string | null;
  readonly status_id: number;
  readonly closed: boolean;
  readonly updated_on: string;
}

/** See `Inside` in `redmine-site.rb`. */
export interface RedmineFault {
  readonly name: 'before' | 'after' | 'lost';
  readonly on?: readonly string[];
  readonly count?: number;
  readonly every?: number;
  /** The API key from then on. */
  readonly key?: string;
}

export interface RedmineSite {
  readonly url: string;
  /** The administrator's API key when Redmine was first started. */
  readonly key: string;
  /** Of a project. */
  issues(project: number): Promise<readonly RedmineIssue[]>;
  edit(id: number, attributes: Readonly<Record<string, unknown>>): Promise<void>;
  remove(id: number): Promise<void>;
  /** Makes a public project; returns its ID. */
  addProject(): Promise<number>;
  setKey(key: string): Promise<void>;
  setFaults(faults: readonly RedmineFault[]): Promise<void>;
  /** Methods and paths of those that arrived since the last {@link clearRequests}. */
  requests(): Promise<readonly { readonly method: string; readonly path: string }[]>;
  clearRequests(): Promise<void>;
  /** `kill -9`, and starts it again with the same rows. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const REDMINE = '/usr/share/redmine';
const PACKAGES = 'redmine redmine-sqlite puma';
const PROGRAM = join(packageRoot, 'test/real-sites/redmine-site.rb');

/**
 * Whether the tests of Redmine run here, and a suffix for their titles that says why not.
 * @throws Error if it is missing and `JOBMIRROR_REQUIRE_ALL=1` forbids skipping (as in CI).
 */
export function redmineForTests(): { readonly available: boolean; readonly note: string } {
  const available = existsSync(join(REDMINE, 'config.ru')) && spawnSync('ruby', ['-rpuma', '-e', '']).status === 0;
  if (!available && process.env.JOBMIRROR_REQUIRE_ALL === '1')
    throw new Error(`JOBMIRROR_REQUIRE_ALL=1, but no Redmine 5.0: install it (Debian: apt-get install ${PACKAGES})`);
  return { available, note: available ? '' : ` (skipped: no Redmine 5.0; Debian: apt-get install ${PACKAGES})` };
}

export async function startRedmine(): Promise<RedmineSite> {
  const folder = await mkdtemp(join(await fastFolder(), 'jobmirror-redmine-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await prepare(folder);
  let running = await run(folder, port);
  const { key } = running;
  const inside = async <Value>(method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, input?: unknown) => {
    const body = input === undefined ? null : JSON.stringify(input);
    const answer = await request(`${url}/-/${path}`, { method, body });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 500)}`);
    return JSON.parse(text) as Value;
  };
  return {
    url,
    key,
    issues: async (project) => {
      const all = await inside<RedmineIssue[]>('GET', 'issues');
      return all.filter((issue) => issue.project_id === project);
    },
    edit: (id, attributes) => inside('PUT', `issues/${id}`, attributes),
    remove: (id) => inside('DELETE', `issues/${id}`),
    addProject: async () =>
      (await inside<{ id: number }>('POST', 'projects', { identifier: `jobs-${randomBytes(4).toString('hex')}` })).id,
    setKey: (next) => inside('PUT', 'key', { key: next }),
    setFaults: (faults) => inside('PUT', 'faults', faults),
    requests: () => inside('GET', 'requests'),
    clearRequests: () => inside('DELETE', 'requests'),
    restart: async () => {
      await running.kill();
      running = await run(folder, port);
    },
    close: async () => {
      await running.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const environment = (folder: string) => ({
  PATH: process.env.PATH,
  LANG: 'C.UTF-8',
  HOME: folder,
  RAILS_ENV: 'production',
  REDMINE_INSTANCE: join('../../../..', folder),
});

/** Writes the settings of an instance without tables. */
async function prepare(folder: string): Promise<void> {
  for (const name of ['config', 'db', 'files', 'log', 'tmp']) await mkdir(join(folder, name));
  const database = { adapter: 'sqlite3', database: join(folder, 'db/redmine.sqlite3'), pool: 20, timeout: 5_000 };
  await writeFile(join(folder, 'config/database.yml'), JSON.stringify({ production: database }));
  await writeFile(join(folder, 'config/secret_key.txt'), randomBytes(32).toString('hex'));
}

/** Resolves once it accepts connections. It ends with this process, whose end closes its standard input. */
async function run(folder: string, port: number): Promise<{ readonly key: string; kill(): Promise<void> }> {
  const child = spawn('ruby', ['-W0', PROGRAM, folder, String(port)], {
    cwd: folder,
    env: environment(folder),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (piece: Buffer) => {
    said = (said + piece.toString()).slice(-2_000);
  });
  const exited = once(child, 'exit');
  const ended = once(child, 'close').then(() => {
    throw new Error(`Redmine ended: ${said}`);
  });
  ended.catch(() => undefined);
  const line = await Promise.race([ended, once(createInterface({ input: child.stdout }), 'line')]);
  // The first request loads most of Redmine.
  await request(`http://127.0.0.1:${port}/issues.xml`).then(({ body }) => body.dump());
  return {
    key: JSON.parse(String(line[0])).key,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
