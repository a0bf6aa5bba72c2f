// Writes a backup under a temporary name, reads it back, and only then gives it its name: a file that exists is a whole backup.
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Database } from '../postgres/database.ts';
import { MAGIC } from './backup-frames.ts';
import { type BackupSummary, checkBackup } from './read-backup.ts';
import { writeBackup } from './write-backup.ts';

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
  file.write(MAGIC);
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
