// Writes all tables, as of one moment, into a backup file, which has its name only once it was read back; memory does not depend on their size.
import { createHash, type Hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import { type Database, inSnapshot, type Session } from '../postgres/database.ts';
import { readInstallation, readMigrations } from '../postgres/migrate.ts';
import { PARTED_TABLES } from '../status/parts.ts';
import {
  BACKUP_MAGIC,
  type BackupEnd,
  type BackupHeader,
  type BackupSequence,
  type BackupTable,
  type BackupTableEnd,
  COPY_SETTINGS,
  countRows,
  type FrameKind,
  frameHead,
  MOST_FRAME_BYTES,
  objectsOf,
  TABLES_LEFT_OUT,
} from './backup-frames.ts';
import { type BackupSummary, checkBackup } from './read-backup.ts';

/** Writes frames at the pace of the stream, and keeps the checksum of all of them. */
class FrameWriter {
  readonly #out: Writable;
  readonly #signal: AbortSignal;
  readonly #hash: Hash = createHash('sha256');
  tables = 0;
  rows = 0;

  constructor(out: Writable, signal: AbortSignal) {
    this.#out = out;
    this.#signal = signal;
  }

  async write(kind: FrameKind, content: Buffer): Promise<void> {
    this.#signal.throwIfAborted();
    const head = frameHead(kind, content.length);
    this.#hash.update(head).update(content);
    this.#out.write(head);
    if (this.#out.write(content)) return;
    await once(this.#out, 'drain', { signal: this.#signal }).catch((error: unknown) => {
      throw this.#signal.aborted ? this.#signal.reason : error;
    });
  }

  json(kind: FrameKind, content: unknown): Promise<void> {
    return this.write(kind, Buffer.from(JSON.stringify(content)));
  }

  end(): Promise<void> {
    const end: BackupEnd = { tables: this.tables, rows: this.rows, sha256: this.#hash.copy().digest('hex') };
    return this.json('Z', end);
  }
}

/**
 * Writes the frames of a backup to `out`, which stays open. The database may be in use meanwhile: all tables are as they were when
 * the backup began. @param version of jobmirror. @param signal aborts, for example because `out` has failed.
 */
export async function writeBackup(db: Database, out: Writable, version: string, signal: AbortSignal): Promise<void> {
  const own = objectsOf(await readMigrations());
  await inSnapshot(db, async (session) => {
    await session.query(COPY_SETTINGS);
    // No snapshot keeps a part of a table that is dropped before it is read.
    await session.query(`lock table ${PARTED_TABLES.join(', ')} in access share mode`);
    const writer = new FrameWriter(out, signal);
    await writer.json('H', await readHeader(session, version));
    const tables = await readTables(session, own.tables);
    for (const table of tables) await writeTable(session, writer, table);
    for (const sequence of await readSequences(session, own.sequences, tables)) await writer.json('S', sequence);
    await writer.end();
  });
}

async function readHeader(session: Session, version: string): Promise<BackupHeader> {
  const names = await session.query<{ name: string }>('select name from migration order by name');
  const [row] = await session.query<{ at: Date; postgres: string }>(
    `select now() as at, current_setting('server_version') as postgres`,
  );
  return {
    jobmirror: version,
    postgres: row?.postgres ?? '',
    installation: await readInstallation(session),
    at: (row?.at ?? new Date()).toISOString(),
    migrations: names.map(({ name }) => name),
  };
}

/** The tables with their columns, in an order in which a table follows those that it refers to. */
async function readTables(session: Session, own: readonly string[]): Promise<BackupTable[]> {
  const rows = await session.query<BackupTable & { refers: string[] }>(
    `select t.name, (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
         where a.attrelid = to_regclass(t.name) and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
       array(select f.relname::text from pg_constraint k join pg_class f on f.oid = k.confrelid
         where k.conrelid = to_regclass(t.name) and k.contype = 'f' and k.confrelid <> k.conrelid) as refers
     from unnest($1::text[]) with ordinality t(name, at) where to_regclass(t.name) is not null order by at`,
    [own.filter((name) => !TABLES_LEFT_OUT.includes(name))],
  );
  const sorted: BackupTable[] = [];
  const waiting = new Map(rows.map((row) => [row.name, row]));
  while (waiting.size > 0) {
    const before = waiting.size;
    for (const [name, { columns, refers }] of waiting) {
      if (refers.some((other) => other !== name && waiting.has(other))) continue;
      waiting.delete(name);
      sorted.push({ name, columns });
    }
    if (waiting.size === before) throw new Error(`tables refer to one another: ${[...waiting.keys()].join(', ')}`);
  }
  return sorted;
}

async function writeTable(session: Session, writer: FrameWriter, table: BackupTable): Promise<void> {
  await writer.json('T', table);
  const hash = createHash('sha256');
  let rows = 0;
  let bytes = 0;
  const flush = async (text: Buffer): Promise<void> => {
    rows += countRows(text);
    bytes += text.length;
    hash.update(text);
    for (let at = 0; at < text.length; at += MOST_FRAME_BYTES)
      await writer.write('D', text.subarray(at, at + MOST_FRAME_BYTES));
  };
  const copying = session.client.query(copyTo(`copy (select ${columnList(table)} from ${table.name}) to stdout`));
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const piece of copying) {
    waiting.push(piece as Buffer);
    size += (piece as Buffer).length;
    if (size < FLUSH_BYTES) continue;
    await flush(Buffer.concat(waiting));
    waiting = [];
    size = 0;
  }
  await flush(Buffer.concat(waiting));
  // The rows end before the server says how many it has copied, which may arrive later; the next statement is answered after it.
  await session.query('select');
  if (rows !== copying.rowCount)
    throw new Error(`the server copied ${copying.rowCount} rows of ${table.name}, but sent ${rows}`);
  const end: BackupTableEnd = { rows, bytes, sha256: hash.digest('hex') };
  await writer.json('E', end);
  writer.tables++;
  writer.rows += rows;
}

const FLUSH_BYTES = 256 << 10;

const columnList = ({ columns }: BackupTable): string => columns.map((name) => `"${name}"`).join(', ');

/** Read last: a number that was given out for a row of the snapshot is never given out again. */
async function readSequences(
  session: Session,
  own: readonly string[],
  tables: readonly BackupTable[],
): Promise<BackupSequence[]> {
  const names = await session.query<{ name: string }>(
    `select s.relname::text as name from pg_class s where s.relkind = 'S' and (s.oid = any(
         select to_regclass(n)::oid from unnest($1::text[]) n)
       or exists (select from pg_depend d where d.objid = s.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
         and d.refobjid = any(select to_regclass(n)::oid from unnest($2::text[]) n)))
     order by 1`,
    [own, tables.map(({ name }) => name)],
  );
  const sequences: BackupSequence[] = [];
  for (const { name } of names) {
    const [row] = await session.query<{ last: string; called: boolean }>(
      `select last_value::text as last, is_called as called from ${name}`,
    );
    if (row !== undefined) sequences.push({ name, ...row });
  }
  return sequences;
}

export interface BackupOptions {
  /** Version of jobmirror. */
  readonly version: string;
  /** Replace the file if it exists. */
  readonly force: boolean;
  readonly signal: AbortSignal;
}

/**
 * Backs up the database into a file that only its owner can read. Throws the error `EEXIST` if the file exists, unless it may be
 * replaced; then the former file stays until the new one is whole. A failed backup leaves nothing behind.
 */
export async function backUpToFile(
  db: Database,
  path: string,
  { version, force, signal }: BackupOptions,
): Promise<BackupSummary> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.part`);
  try {
    await writeFrames(db, temporary, version, signal);
    const summary = await checkBackup(temporary, signal);
    if (force) await rename(temporary, path);
    else await nameNew(temporary, path);
    await syncFolder(dirname(path));
    return summary;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Throws `EEXIST` if the file exists. */
async function nameNew(temporary: string, path: string): Promise<void> {
  try {
    // A link, unlike a rename, fails if the file appeared meanwhile.
    await link(temporary, path);
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await (await open(path, 'wx', 0o600)).close();
    await rename(temporary, path);
  }
}

/** Some file systems have no links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

async function writeFrames(db: Database, path: string, version: string, signal: AbortSignal): Promise<void> {
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  const gzip = createGzip({ level: 6 });
  const failed = new AbortController();
  file.write(BACKUP_MAGIC);
  const written = pipeline(gzip, file).catch((error: unknown) => {
    failed.abort(error);
    throw error;
  });
  // Awaited below; until then a failure only aborts the writing.
  written.catch(() => undefined);
  try {
    await writeBackup(db, gzip, version, AbortSignal.any([signal, failed.signal]));
    gzip.end();
  } catch (error) {
    gzip.destroy();
    await written.catch(() => undefined);
    throw failed.signal.aborted ? failed.signal.reason : error;
  }
  await written;
}

/** So that the name survives a power failure. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
