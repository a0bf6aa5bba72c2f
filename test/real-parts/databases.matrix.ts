// Real Postgres servers, and pgbouncer before them, that fail in the middle of a sync: each posting has one job in the end.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chooseServerUser } from '../../src/embedded-postgres/server-user.ts';
import { type Installation, openInstallation } from '../laws/installation.ts';
import { openDatabaseProxy } from '../support/database-proxy.ts';
import { freePort } from '../support/free-port.ts';
import { feedXml } from '../support/indeed-feed.ts';
import { runSql, withDatabase } from '../support/sql.ts';
import { BEFORE, liveThrough, ROUND, SITE } from './live-through.ts';
import {
  POSTGRES_VERSIONS,
  type PostgresServer,
  type PostgresVersion,
  startPostgres,
  versionOf,
} from './postgres-servers.ts';
import { preparePackages, startFailover } from './proxies.ts';
import { cellKey, writeSection } from './seen.ts';

/** What a fault happens to. */
interface Stage {
  readonly server: PostgresServer;
  readonly pooler: Pooler | undefined;
  readonly installation: Installation;
}

interface Fault {
  readonly name: string;
  readonly since?: PostgresVersion;
  /** Settings during the whole round of changes. */
  readonly settings?: Readonly<Record<string, string>>;
  /** From the middle of the round on; resolves when the fault is over. */
  readonly pass: (stage: Stage) => Promise<unknown>;
}

const LASTS_MS = 2_000;
const COMPLAINT = /database/;

const during =
  (name: string, value: string) =>
  async ({ server }: Stage) => {
    await server.set({ [name]: value });
    await pause(LASTS_MS);
    await server.set({ [name]: null });
  };
const ending =
  (signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL') =>
  async ({ server }: Stage) => {
    await server.end(signal);
    await pause(500);
    await server.start();
  };
const pooled =
  (act: (pooler: Pooler) => Promise<unknown>) =>
  async ({ pooler }: Stage) => {
    if (pooler !== undefined) await act(pooler);
  };

const FAULTS: readonly Fault[] = [
  { name: 'stopped and started', pass: ending('SIGINT') },
  { name: 'ended at once and started', pass: ending('SIGQUIT') },
  { name: 'killed and started', pass: ending('SIGKILL') },
  { name: 'read-only for 2 s', pass: during('default_transaction_read_only', 'on') },
  { name: 'statement_timeout of 5 ms for 2 s', pass: during('statement_timeout', '5ms') },
  {
    name: 'idle_in_transaction_session_timeout of 100 ms',
    settings: { idle_in_transaction_session_timeout: '100ms' },
    pass: () => pause(LASTS_MS),
  },
  { name: 'idle_session_timeout of 1 s', settings: { idle_session_timeout: '1s' }, pass: () => pause(LASTS_MS) },
  {
    name: 'transaction_timeout of 20 ms for 2 s',
    since: 17,
    pass: during('transaction_timeout', '20ms'),
  },
];
const POOLED: readonly Fault[] = [
  { name: 'pgbouncer killed and started', pass: pooled((pooler) => pooler.restart()) },
  { name: 'pgbouncer: RECONNECT', pass: pooled((pooler) => pooler.command('reconnect')) },
  { name: 'pgbouncer: KILL, RESUME', pass: pooled((pooler) => pooler.killAndResume()) },
];
const PROMOTED = 'standby promoted';
const BEHIND = 'standby promoted that lacks the last second';
const FULL = 'disk full for 5 s';

const COLUMNS = [
  ...POSTGRES_VERSIONS.map((version) => ({ title: `Postgres ${version}`, version, mode: undefined })),
  ...(['session', 'transaction', 'statement'] as const).map((mode) => ({
    title: `15, pgbouncer ${mode}`,
    version: 15 as const,
    mode,
  })),
];
type Mode = (typeof COLUMNS)[number]['mode'];

const cells = new Map<string, string>();
const versions: Record<string, string> = {};
const write = (): void =>
  writeSection({
    title: 'On the database',
    law: `${ROUND} One whose job a promoted standby did not know may wait in review. The disk that is full is a file system of 100 MB in memory, with nothing else on it. A cell has how the command ended whose changes met the fault, and the error codes that it showed; after \`status 1\` the next command puts it right; \`goes on\` without a code: it showed no error.`,
    versions,
    rows: [...FAULTS, ...POOLED].map(({ name }) => name).concat(PROMOTED, BEHIND, FULL),
    columns: COLUMNS.map(({ title }) => title),
    cells,
  });

interface Pooler {
  readonly url: string;
  restart(): Promise<void>;
  command(text: string): Promise<unknown>;
  killAndResume(): Promise<void>;
  close(): Promise<void>;
}

async function startPooler(upstream: number, mode: NonNullable<Mode>): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), 'jobmirror-pgbouncer-'));
  const user = chooseServerUser(join(folder, 'none'));
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o755);
  const port = await freePort();
  writeFileSync(join(folder, 'users.txt'), '"jobmirror" ""\n');
  writeFileSync(
    join(folder, 'conf'),
    `[databases]
* = host=127.0.0.1 port=${upstream}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${folder}/users.txt
admin_users = jobmirror
default_pool_size = 60
max_client_conn = 200
pool_mode = ${mode}
`,
  );
  const url = `postgres://jobmirror@127.0.0.1:${port}/postgres`;
  const start = async () => {
    const child = spawn('/usr/sbin/pgbouncer', ['-q', join(folder, 'conf')], { ...user, cwd: '/', stdio: 'ignore' });
    while ((await runSql(withDatabase(url, 'pgbouncer'), 'show version').catch(() => [])).length === 0) await pause(50);
    return child;
  };
  let child = await start();
  const end = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const command = (text: string) => runSql(withDatabase(url, 'pgbouncer'), text);
  return {
    url,
    command,
    async restart() {
      await end();
      await pause(500);
      child = await start();
    },
    async killAndResume() {
      const names = await runSql<{ name: string }>(withDatabase(url, 'pgbouncer'), 'show databases');
      const own = names.map(({ name }) => name).filter((name) => name.startsWith('mirror_'));
      for (const name of own) await command(`kill ${name}`);
      await pause(500);
      for (const name of own) await command(`resume ${name}`);
    },
    async close() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const open: { close(): Promise<void> }[] = [];
const opened = <T extends { close(): Promise<void> }>(each: T): T => {
  open.push(each);
  return each;
};
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

const install = async (databaseUrl: string): Promise<Installation> =>
  opened(await openInstallation({ queue: 'database', databaseUrl, site: SITE }));

beforeAll(() => {
  versions.HAProxy = preparePackages().HAProxy;
  for (const version of POSTGRES_VERSIONS) versions[`Postgres ${version}`] = versionOf(version);
  const [, pgbouncer = ''] = execFileSync('/usr/sbin/pgbouncer', ['--version'], { encoding: 'utf8' }).split(/\s/);
  versions.pgbouncer = pgbouncer;
});

describe.each(COLUMNS)('$title', ({ title, version, mode }) => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(version);
  });
  afterAll(async () => {
    await server.close();
    write();
  });
  const see = (row: string, text: string): unknown => cells.set(cellKey(row, title), text);

  /** The URL for the product: of a database that is asked through pgbouncer if the column has one. */
  async function through(port: number, database: string): Promise<{ url: string; pooler: Pooler | undefined }> {
    const name = new URL(database).pathname.slice(1);
    if (mode === undefined) return { url: `postgres://jobmirror@127.0.0.1:${port}/${name}`, pooler: undefined };
    const pooler = opened(await startPooler(port, mode));
    return { url: withDatabase(pooler.url, name), pooler };
  }

  if (mode === 'transaction' || mode === 'statement') {
    it('is refused', async () => {
      const { url } = await through(server.port, await server.newDatabase());
      const installation = await install(url);
      await installation.writeFeed(feedXml(BEFORE));
      const end = await installation.spawn(['sync']).ended;
      expect(end).toMatchObject({ status: 1, output: expect.stringContaining('set pool_mode = session') });
      expect(installation.sandbox.requests.recent()).toEqual([]);
      for (const { name } of [...FAULTS, ...POOLED]) see(name, 'refused, status 1');
      for (const name of [PROMOTED, BEHIND, FULL]) see(name, 'refused, status 1');
    });
    return;
  }

  it.each([...FAULTS, ...POOLED])('$name', async (fault) => {
    const { name, settings = {}, since = 14 } = fault;
    if (version < since || (POOLED.includes(fault) && mode === undefined)) return void see(name, '–');
    const { url, pooler } = await through(server.port, await server.newDatabase());
    const installation = await install(url);
    const none = Object.fromEntries(Object.keys(settings).map((each) => [each, null]));
    see(
      name,
      await liveThrough(installation, {
        pass: () => fault.pass({ server, pooler, installation }),
        before: () => server.set(settings),
        after: () => server.set(none),
        complaint: COMPLAINT,
      }),
    );
  });

  it(PROMOTED, async () => {
    const primary = opened(await startPostgres(version));
    const standby = opened(await primary.makeStandby(primary.port));
    await standby.start();
    await primary.set({ synchronous_standby_names: 'standby', synchronous_commit: 'remote_apply' });
    const proxy = opened(await startFailover(primary.port, standby.port, 'first that listens'));
    const { url } = await through(proxy.port, await primary.newDatabase());
    const installation = await install(url);
    const text = await liveThrough(installation, {
      complaint: COMPLAINT,
      pass: async () => {
        await primary.end('SIGKILL');
        // As long as it takes to notice and to decide.
        await pause(1_500);
        await standby.set({ synchronous_standby_names: '' });
        await runSql(standby.url, 'select pg_promote()');
      },
    });
    see(PROMOTED, text);
  });

  it(BEHIND, async () => {
    const primary = opened(await startPostgres(version));
    const link = await openDatabaseProxy(primary.url);
    const standby = opened(await primary.makeStandby(Number(new URL(link.url).port)));
    await standby.start();
    const proxy = opened(await startFailover(primary.port, standby.port, 'first that listens'));
    const { url } = await through(proxy.port, await primary.newDatabase());
    const installation = await install(url);
    while ((await runSql(primary.url, 'select from pg_stat_replication where replay_lsn = sent_lsn')).length === 0)
      await pause(50);
    const text = await liveThrough(installation, {
      complaint: COMPLAINT,
      loses: true,
      pass: async () => {
        await link.close();
        let left = 8;
        await installation.sandbox.requests.next(() => --left === 0);
        await primary.end('SIGKILL');
        await runSql(standby.url, 'select pg_promote()');
      },
    });
    see(BEHIND, text);
  });

  it(FULL, async () => {
    const small = opened(await startPostgres(version, 100));
    const { url } = await through(small.port, await small.newDatabase());
    const installation = await install(url);
    const filler = join(small.folder, 'data/filler');
    const text = await liveThrough(installation, {
      complaint: COMPLAINT,
      pass: async () => {
        execFileSync('sh', ['-c', `dd if=/dev/zero of=${filler} bs=4k 2>/dev/null || true`]);
        await pause(5_000);
        rmSync(filler);
        if (!small.isRunning()) {
          see(FULL, 'Postgres ended');
          await small.start();
        }
      },
    });
    see(FULL, text + (cells.get(cellKey(FULL, title)) === undefined ? '' : '; Postgres ended'));
  });
});
