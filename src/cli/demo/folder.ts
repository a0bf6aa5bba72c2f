// Creates the demo's folder and removes it again, together with the folders that killed demos left behind.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityOf, isAlive } from '../../embedded-postgres/process-identity.ts';
import { removeCluster } from '../../embedded-postgres/server.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { printNotice } from '../../telemetry/print.ts';

export interface DemoFolder {
  /** Absolute. */
  readonly path: string;
  /** Removes the folder. Stop its database server first. */
  remove(): Promise<void>;
}

/** Holds the identity of the owning process: a process ID alone can be reused. */
const OWNER_FILE = 'owner';

/**
 * Creates `.jobmirror/demo-<pid>` below `parent`.
 * @throws UserError if that fails
 */
export async function makeDemoFolder(parent: string): Promise<DemoFolder> {
  const area = join(parent, '.jobmirror');
  const path = join(area, `demo-${process.pid}`);
  try {
    mkdirSync(area, { recursive: true });
    await removeLeftovers(area);
    mkdirSync(path);
    writeFileSync(join(path, OWNER_FILE), identityOf(process.pid) ?? '');
  } catch (cause) {
    throw new UserError(
      `the demo can't keep its files in ${area}: ${(cause as Error).message}\nStart it in a folder that you may write to.`,
      { cause },
    );
  }
  return {
    path,
    async remove() {
      await removeFolder(path);
      removeIfEmpty(area);
    },
  };
}

/** Removes the folders of demos whose process is gone. A folder that can't be removed is left to the next demo. */
async function removeLeftovers(area: string): Promise<void> {
  for (const name of readdirSync(area).filter(isLeftover(area))) {
    // Renaming claims the folder: of several demos that start at once, only one succeeds. The new name is recognised again.
    const claimed = join(area, `demo-${process.pid}-leftover-${randomBytes(4).toString('hex')}`);
    try {
      renameSync(join(area, name), claimed);
      await removeFolder(claimed);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') printNotice(`${join(area, name)}, of an earlier demo, stays: ${message}`);
    }
  }
}

const isLeftover =
  (area: string) =>
  (name: string): boolean => {
    const [, pid, claimed] = /^demo-(\d+)(-leftover-[0-9a-f]+)?$/.exec(name) ?? [];
    if (pid === undefined) return false;
    if (identityOf(Number(pid)) === undefined) return true;
    // The owner file of a claimed folder still names the first owner, so go by the claimer's pid. We have claimed nothing
    // yet: a folder with our pid is left over from an earlier process.
    if (claimed !== undefined) return Number(pid) === process.pid;
    const owner = readOwner(join(area, name));
    return owner !== undefined && !isAlive(owner);
  };

/** `undefined`: the owner has not written it yet, or is removing the folder. */
function readOwner(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, OWNER_FILE), 'utf8') || undefined;
  } catch {
    return undefined;
  }
}

async function removeFolder(path: string): Promise<void> {
  await removeCluster(path);
  // A server process may still be writing for a moment.
  rmSync(path, { recursive: true, force: true, maxRetries: 10 });
}

/** Keeps the folder if it holds the user's own database or another demo. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error;
  }
}
