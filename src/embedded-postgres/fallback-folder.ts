// Finds a folder for the cluster if the server's user can't reach the data folder, such as one below root's home.
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgresError, USE_OWN_POSTGRES } from './embedded-error.ts';
import { canEnter, type ServerUser } from './server-user.ts';

/** Candidate folders, best first: the system's temporary folder may not survive a restart. */
export const FALLBACK_FOLDERS: readonly string[] = [
  '/var/lib/jobmirror',
  join(tmpdir(), 'jobmirror-root'),
  '/tmp/jobmirror-root',
];

/**
 * The first of `candidates` that root can use and `user` can enter; contains a folder `clusters`.
 * @throws EmbeddedPostgresError if there is none.
 */
export function openFallbackFolder(user: ServerUser, candidates: readonly string[]): string {
  const failures: string[] = [];
  for (const folder of candidates) {
    try {
      makeEnterable(folder);
      if (!canEnter(user, folder)) throw new Error(`user ${user.uid} can't enter it`);
      makeEnterable(join(folder, 'clusters'));
      return folder;
    } catch (error) {
      failures.push(`${folder}: ${(error as Error).message}`);
    }
  }
  throw new EmbeddedPostgresError(
    `No folder for the embedded Postgres: it can't run as root, and user ${user.uid} can't enter the data folder or any other that was tried.`,
    `Set data_dir to a folder that everybody may enter, or run as another user than root.\n${USE_OWN_POSTGRES}`,
    { detail: failures.join('\n') },
  );
}

/** Creates the folder, or uses an existing one that is really ours: anybody could have created one of that name in /tmp. */
function makeEnterable(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error('it belongs to somebody else, or others may write to it');
  }
  chmodSync(folder, 0o755);
}
