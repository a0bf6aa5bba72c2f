// Starts one Postgres server for the whole test run, prepares the template database that tests copy, and bundles the
// program for the processes that they start.
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openEmbeddedServer } from '../../src/embedded-postgres/server.ts';
import { openQueueBackend } from '../../src/queue/backend.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { addParts, PARTED_TABLES } from '../../src/store/status/parts.ts';
import { ACCOUNTS } from './accounts.ts';
import { bundleProgram } from './bundle.ts';
import { fastFolder } from './fast-folder.ts';
import { describeReset, type Reset } from './reset-database.ts';
import { runSql, whenUnused, withDatabase } from './sql.ts';
import { watchLifeCycle } from './watch-life-cycle.ts';

/** Systems limit the path of a socket to 104 bytes or slightly more, of which its name takes up to 20. */
const LONGEST_SOCKET_FOLDER = 84;

interface Template {
  readonly name: string;
  /** How to reset a copy, if that is possible. */
  readonly reset: Reset | undefined;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of a database on the server of this run, with a user who may create databases. */
    readonly postgresUrl: string;
    /** Distinguishes the databases of this run: letters and digits. */
    readonly run: string;
    /** Ends `create database`: how a template is copied fastest. Postgres 14 knows no other way. */
    readonly fileCopy: string;
    /** For files that tests of this run share; others may enter it. */
    readonly runFolder: string;
    /** The migrated template database, which nobody is connected to. */
    readonly postgresTemplate: Template;
    /** The same, with accounts of the sandbox. */
    readonly postgresTemplateWithAccounts: Template;
  }
}

/** Runs before all test files; the returned function runs after them. `TEST_DATABASE_URL` selects an existing server. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // With `--project unit`: those tests need no database, and start no process of an installation.
  if (project.vitest.projects.every(({ name }) => name === 'unit')) return async () => undefined;
  await bundleProgram();
  const server = await openServer();
  const run = `${process.pid}`;
  const runFolder = await mkdtemp(join(tmpdir(), 'jobmirror-run-'));
  await chmod(runFolder, 0o711);
  const template = `jobmirror_template_${run}`;
  await runSql(server.url, `create database ${template}`);
  await prepare(withDatabase(server.url, template));
  const withAccounts = `${template}_accounts`;
  const fileCopy = (await majorOf(server.url)) < 15 ? '' : 'strategy file_copy';
  await whenUnused(() => runSql(server.url, `create database ${withAccounts} template ${template} ${fileCopy}`));
  await addAccounts(withDatabase(server.url, withAccounts));
  // The first connection after a change of the tables writes a cache file, which the copies then have too.
  const describe = async (name: string): Promise<Template> => ({
    name,
    reset: await describeReset(withDatabase(server.url, name)),
  });
  project.provide('postgresUrl', server.url);
  project.provide('run', run);
  project.provide('fileCopy', fileCopy);
  project.provide('runFolder', runFolder);
  project.provide('postgresTemplate', await describe(template));
  project.provide('postgresTemplateWithAccounts', await describe(withAccounts));
  return async () => {
    const left = await runSql<{ datname: string }>(
      server.url,
      `select datname from pg_database where datname in ('${template}', '${withAccounts}') or datname like 'test\\_${run}\\_%'`,
    );
    for (const { datname } of left) await whenUnused(() => runSql(server.url, `drop database ${datname} with (force)`));
    await server.end();
    await rm(runFolder, { recursive: true });
  };
}

/** Users of a copy create these tables and parts too, which is much faster if they exist. */
async function prepare(databaseUrl: string): Promise<void> {
  await migrate(databaseUrl);
  const db = openDatabase(databaseUrl, { max: 1 });
  for (const table of PARTED_TABLES) await addParts(db, table, 30);
  await db.close();
  await watchLifeCycle(databaseUrl);
  const onError = (error: Error): void => {
    throw error;
  };
  await openQueueBackend({ queue: 'database', databaseUrl, installation: 'template', onError });
  await (await startSandbox({ databaseUrl })).close();
}

async function majorOf(url: string): Promise<number> {
  const [row] = await runSql<{ version: number }>(url, `select current_setting('server_version_num')::int as version`);
  return Math.floor((row?.version ?? 0) / 10_000);
}

async function addAccounts(databaseUrl: string): Promise<void> {
  const sandbox = await startSandbox({ databaseUrl });
  for (const { email, password } of ACCOUNTS) await sandbox.ensureUser(email, password);
  await sandbox.close();
}

async function openServer(): Promise<{ url: string; end(): Promise<void> }> {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return { url: given, end: async () => {} };
  const folder = await mkdtemp(join(await fastFolder(), 'jobmirror-test-'));
  // If the tests run as root, the server runs as another user, who must be able to enter the folder.
  await chmod(folder, 0o711);
  const sockets = join(folder, 'sockets');
  const hasSockets = Buffer.byteLength(sockets) <= LONGEST_SOCKET_FOLDER;
  await mkdir(sockets);
  await chmod(sockets, 0o777);
  const settings = {
    // No data has to survive a power cut, and copying is much faster without waiting for the disk.
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    // As on connections that have executed a statement five times, which few connections of tests do: planning it each time
    // takes longer than executing it.
    plan_cache_mode: 'force_generic_plan',
    unix_socket_directories: hasSockets ? sockets : '',
  };
  const server = await openEmbeddedServer(folder, { settings });
  const url = hasSockets ? overSocket(server.url('postgres'), sockets) : server.url('postgres');
  await hashPasswordOnce(url);
  if (hasSockets) await askNoPasswordOverSockets(url);
  return {
    url,
    end: async () => {
      await server.leave();
      await rm(folder, { recursive: true });
    },
  };
}

/** The URL for connections over a socket of the file system, which take a fifth less processor time than those over TCP. */
function overSocket(url: string, folder: string): string {
  const over = new URL(url);
  over.searchParams.set('host', folder);
  return over.href;
}

/**
 * The tests open some ten thousand connections, and proving a password takes half of the processor time of each. Connections over TCP
 * still need it.
 */
async function askNoPasswordOverSockets(url: string): Promise<void> {
  const [settings] = await runSql<{ hba_file: string }>(url, 'show hba_file');
  const file = settings?.hba_file ?? '';
  await writeFile(file, `local all all trust\n${await readFile(file, 'utf8')}`);
  await runSql(url, 'select pg_reload_conf()');
}

/** By default, a password is hashed 4,096 times for each connection, at both ends. */
async function hashPasswordOnce(url: string): Promise<void> {
  const { username, password } = new URL(url);
  await runSql(url, `set scram_iterations = 1; alter role ${username} password '${decodeURIComponent(password)}'`);
}
