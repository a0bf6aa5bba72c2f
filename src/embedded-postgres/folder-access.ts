// Takes care that nobody else can put files of theirs in the place of the database's.
import { chmodSync, statSync } from 'node:fs';
import { EmbeddedPostgresError, USE_OWN_POSTGRES } from './embedded-error.ts';

const WRITABLE_BY_ALL = 0o002;
/** Others may add files, but neither remove nor rename those of somebody else: as in /tmp. */
const STICKY = 0o1000;

/**
 * Removes the permission to write from a folder that everybody may write to.
 * @throws EmbeddedPostgresError where that is not possible: whoever can write there can exchange the database.
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
      `Everybody may write to ${folder}, so anybody on this machine could exchange the database.`,
      `Take that permission away: chmod o-w '${folder}'; or set data_dir to a folder of your own.\n${USE_OWN_POSTGRES}`,
      { detail: (cause as Error | undefined)?.message, cause },
    );
  }
  onNotice(`Everybody could write to ${folder}; now only its owner and its group can.`);
}

function isOpen(folder: string): boolean {
  const { mode } = statSync(folder);
  return (mode & WRITABLE_BY_ALL) !== 0 && (mode & STICKY) === 0;
}
