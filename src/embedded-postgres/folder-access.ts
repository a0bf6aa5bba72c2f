// Prevents other users from replacing the database's files with their own.
import { chmodSync, statSync } from 'node:fs';
import { EmbeddedPostgresError, USE_OWN_POSTGRES } from './embedded-error.ts';

const WRITABLE_BY_ALL = 0o002;
/** Users may add files, but not remove or rename those of others, as in /tmp. */
const STICKY = 0o1000;

/**
 * Makes a world-writable folder writable by its owner and group only.
 * @throws EmbeddedPostgresError if that fails: whoever can write there can replace the database.
 */
export function closeToOthers(folder: string, onNotice: (text: string) => void): void {
  if (!isOpen(folder)) return;
  const { mode } = statSync(folder);
  let cause: unknown;
  try {
    chmodSync(folder, mode & 0o7777 & ~WRITABLE_BY_ALL);
  } catch (error) {
    cause = error;
  }
  if (isOpen(folder)) {
    throw new EmbeddedPostgresError(
      `Everybody may write to ${folder}, so anybody on this machine could replace the database.`,
      `Remove that permission: chmod o-w '${folder}'; or set data_dir to a folder of your own.\n${USE_OWN_POSTGRES}`,
      { detail: (cause as Error | undefined)?.message, cause },
    );
  }
  onNotice(`Everybody could write to ${folder}; now only its owner and its group can.`);
}

function isOpen(folder: string): boolean {
  const { mode } = statSync(folder);
  return (mode & WRITABLE_BY_ALL) !== 0 && (mode & STICKY) === 0;
}
