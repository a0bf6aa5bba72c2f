// Turns a data folder into a running Postgres server.
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { completeLibraries, findBinaries, initdbPath, postgresPath } from './binaries.ts';

export interface EmbeddedServer {
  url(databaseName?: string): string;
  leave(): Promise<void>;
}

export interface EmbeddedServerOptions {
  readonly onNotice?: (text: string) => void;
  readonly settings?: Readonly<Record<string, string>>;
}

export async function openEmbeddedServer(
  dataDir: string,
  options: EmbeddedServerOptions = {},
): Promise<EmbeddedServer> {
  const binaries = findBinaries();
  completeLibraries(binaries.folder);
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const area = join(dataDir, 'postgres');
  mkdirSync(area, { recursive: true });
  const home = mkdtempSync(join(area, 'c-'));
  const password = randomBytes(16).toString('hex');
  writeFileSync(join(home, 'pw'), password);
  if (user.uid) for (const f of [home, join(home, 'pw')]) chownSync(f, user.uid, user.gid);
  const env = { PATH: process.env.PATH ?? '', TZ: 'UTC', LC_ALL: 'C' };
  const data = join(home, 'data');
  await promisify(execFile)(
    initdbPath(binaries),
    [
      '-D',
      data,
      '-U',
      'jobmirror',
      `--pwfile=${join(home, 'pw')}`,
      '--auth=scram-sha-256',
      '--locale=C',
      '--encoding=UTF8',
      '--no-sync',
    ],
    { ...user, cwd: '/', env },
  );
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    ...options.settings,
  };
  const child = spawn(
    postgresPath(binaries),
    ['-D', data, '-p', String(port), ...Object.entries(settings).flatMap(([k, v]) => ['-c', `${k}=${v}`])],
    { ...user, cwd: '/', env, detached: true, stdio: 'ignore' },
  );
  child.unref();
  const url = (name = 'jobmirror') => `postgres://jobmirror:${password}@127.0.0.1:${port}/${name}`;
  for (let attempt = 0; ; attempt++) {
    const client = new pg.Client({ connectionString: url('postgres') });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('create database jobmirror');
      await client.end();
      break;
    } catch (error) {
      await client.end().catch(() => {});
      if (attempt > 200) throw error;
      await delay(50);
    }
  }
  return {
    url,
    leave: async () => {
      child.ref();
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGINT');
      await gone;
    },
  };
}
