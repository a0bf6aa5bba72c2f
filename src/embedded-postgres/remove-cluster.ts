// Removes the cluster of a data folder for good, wherever its home is.
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-error.ts';
import { readPostmaster } from './postmaster-file.ts';
import { openEmbeddedServer } from './server.ts';

/**
 * Removes the database of `dataDir`, and with it all that is in it. A server that a killed process has left running is
 * stopped first. No other process may be about to open the folder.
 * @throws EmbeddedPostgresError where another process still uses it.
 */
export async function removeCluster(dataDir: string): Promise<void> {
  const link = join(dataDir, 'postgres', 'cluster');
  if (!existsSync(link)) return;
  const home = realpathSync(link);
  if (readPostmaster(home)) {
    // Who joins and leaves is the last to leave, unless somebody else is still a member.
    const server = await openEmbeddedServer(dataDir);
    await server.leave();
  }
  if (readPostmaster(home)) {
    throw new EmbeddedPostgresError(
      `The database in ${dataDir} is still in use.`,
      'End the other jobmirror commands that work on it, and try again.',
    );
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
}
