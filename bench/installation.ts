// Sets up an installation to measure: databases with any number of mappings or changes, and their configurations.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '../src/config/load-config.ts';
import type { EmbeddedServer } from '../src/embedded-postgres/server.ts';
import { HASH_BYTES, interpretedHash, recordHash, xorHash } from '../src/posting/hash.ts';
import { feedSetups } from '../src/runtime/feed-setups.ts';
import { RowCopier } from '../src/store/postgres/copy-rows.ts';
import { type Database, openDatabase } from '../src/store/postgres/database.ts';
import { migrate } from '../src/store/postgres/migrate.ts';
import { writerOf } from './feed-formats.ts';
import { type FeedShape, feedRecords } from './feed-writer.ts';

/** One database with its configuration. */
export interface Installation {
  readonly configPath: string;
  readonly databaseUrl: string;
  readonly db: Database;
  close(): Promise<void>;
}

export interface InstallationOptions {
  /** The file with the feed `acme`. */
  readonly source: string;
  readonly siteUrl?: string;
  /** `database`, or a Redis URL. */
  readonly queue?: string;
  readonly concurrency?: number;
  readonly requestsPerSecond?: number;
  /** In YAML; by default the preset `indeed`. */
  readonly format?: string;
  /** Further YAML lines of the feed, with their indentation. */
  readonly feedLines?: string;
  /** In YAML. */
  readonly feedLimits?: string;
  /** Further YAML lines of the site, with their indentation. */
  readonly siteLines?: string;
}

let numbered = 0;

/** Creates an empty database, and a configuration with a feed `acme` and a site `board`. */
export async function openInstallation(
  server: EmbeddedServer,
  folder: string,
  options: InstallationOptions,
): Promise<Installation> {
  const name = `bench_${process.pid}_${++numbered}`;
  const admin = openDatabase(server.url('postgres'), { max: 1 });
  await admin.query(`create database ${name}`);
  const databaseUrl = server.url(name);
  await migrate(databaseUrl);
  await mkdir(folder, { recursive: true });
  const configPath = join(folder, `${name}.yaml`);
  await writeFile(configPath, configText(databaseUrl, options), { mode: 0o600 });
  const db = openDatabase(databaseUrl, { max: 2 });
  return {
    configPath,
    databaseUrl,
    db,
    async close() {
      await db.close();
      await admin.query(`drop database ${name} with (force)`);
      await admin.close();
    },
  };
}

function configText(databaseUrl: string, options: InstallationOptions): string {
  return `database: ${databaseUrl}
queue: ${options.queue ?? 'database'}
sites:
  board:
    base_url: ${options.siteUrl ?? 'http://127.0.0.1:9'}
    token: \${BENCH_TOKEN}
    limits: { requests_per_second: ${options.requestsPerSecond ?? 100_000}, concurrency: ${options.concurrency ?? 64}, timeout_seconds: 30 }
${options.siteLines ?? ''}feeds:
  acme:
    source: ${JSON.stringify(options.source)}
    format: ${options.format ?? 'indeed'}
    site: board
    limits: ${options.feedLimits ?? '{ max_bytes: 1TB }'}
${options.feedLines ?? ''}`;
}

/** Environment of a measured process. */
export const BENCH_ENV = { BENCH_TOKEN: 'a-token-for-measuring' };

const ROWS_AT_ONCE = 10_000;
const MAPPING_COLUMNS = {
  feed: 'text',
  key: 'text',
  site: 'text',
  site_job_id: 'text',
  record_hash: 'bytea',
  content_hash: 'bytea',
} as const;

/** Fills the mapping table as if the feed of this shape had been mirrored completely. */
export function mapFeed(installation: Installation, shape: FeedShape): Promise<void> {
  return mapRecords(installation, feedRecords(shape), writerOf(shape.format).prefix);
}

/** Fills the mapping table as if these records had been mirrored. @param prefix of every record. */
export async function mapRecords(
  installation: Installation,
  records: Iterable<{ readonly key: string; readonly record: string }>,
  prefix = '',
): Promise<void> {
  const config = await loadConfig({ path: installation.configPath, env: BENCH_ENV, cwd: process.cwd() });
  const [setup] = feedSetups(config, []);
  if (setup === undefined) throw new Error('the configuration has no feed');
  const session = await installation.db.session();
  const noContent = Buffer.alloc(16);
  let rows: (string | Buffer)[][] = [];
  const copier = new RowCopier(session, 'mapping', MAPPING_COLUMNS);
  const flush = async () => {
    await copier.copy(rows);
    rows = [];
  };
  let number = 0;
  const prefixHash = prefix === '' ? Buffer.alloc(HASH_BYTES) : recordHash(Buffer.from(prefix));
  for (const { key, record } of records) {
    const hash = recordHash(Buffer.from(record));
    xorHash(hash, 0, prefixHash);
    const stored = interpretedHash(hash, 0, setup.interpretation);
    rows.push(['acme', key, 'board', String(++number), stored, noContent]);
    if (rows.length === ROWS_AT_ONCE) await flush();
  }
  await flush();
  await session.query(`insert into feed_state (feed, site) values ('acme', 'board')`);
  await session.query('vacuum analyze mapping');
  await session.end();
}

/** Fills the mapping table with rows that the server generates, without a feed: for measuring the index alone. */
export async function mapSynthetic({ db }: Installation, rows: number): Promise<void> {
  await db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
     select 'acme', 'REQ-' || lpad(n::text, 9, '0'), 'board', n::text, decode(md5(n::text), 'hex'), '\\x00'
     from generate_series(1, $1::int) n`,
    [rows],
  );
  await db.query('vacuum analyze mapping');
}

/** Fills the backlog with creates that are due. */
export async function fillBacklog({ db }: Installation, rows: number): Promise<void> {
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, state)
     select 'acme', 'REQ-' || lpad(n::text, 9, '0'), 'board', 'present', 'create', '{"title": "Nurse"}',
       decode(md5(n::text), 'hex'), decode(md5(n::text), 'hex'), 'ready'
     from generate_series(1, $1::int) n`,
    [rows],
  );
  await db.query('vacuum analyze change');
}
