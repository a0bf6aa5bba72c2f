// Deletes the cluster of a data folder, wherever its home is.
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-error.ts';
import { readPostmaster } from './postmaster-file.ts';
import { openEmbeddedServer } from './server.ts';

/**
 * Deletes the database of `dataDir` with all its data. First stops a server that a killed process left running. No other
 * process may be about to open the folder.
 * @throws EmbeddedPostgresError if another process still uses it.
 */
export async function removeCluster(dataDir: string): Promise<void> {
  const link = join(dataDir, 'postgres', 'cluster');
  if (!existsSync(link)) return;
  const home = realpathSync(link);
  if (readPostmaster(home)) {
    // Joining and leaving stops the server, unless somebody else is still a member.
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
