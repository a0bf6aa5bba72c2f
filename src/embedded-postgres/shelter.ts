// Finds a place for what the server's user can't reach in the data folder: a clone below root's home (mode 0700), above all.
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgresError, USE_OWN_POSTGRES } from './embedded-error.ts';
import { canEnter, type ServerUser } from './server-user.ts';

/** Where a shelter may be, best first: what lies in the system's folder for temporary files may not survive a restart. */
export const SHELTERS: readonly string[] = [
  '/var/lib/jobmirror',
  join(tmpdir(), 'jobmirror-root'),
  '/tmp/jobmirror-root',
];

/**
 * The first of `candidates` that root can use and `user` can enter, with a folder `clusters` in it.
 * @throws EmbeddedPostgresError where there is none.
 */
export function openShelter(user: ServerUser, candidates: readonly string[]): string {
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

/** Creates a folder of ours, or takes it where it is truly ours: anybody could have made one of that name in /tmp. */
function makeEnterable(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error('it belongs to somebody else, or others may write to it');
  }
  chmodSync(folder, 0o755);
}
