// Finds the cluster of a data folder, or creates one atomically.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgresError, findBinaries, runnableBinaries, USE_OWN_POSTGRES } from './binaries.ts';
import { clusterPaths, makeLockable, openFallbackFolder, withLock } from './cluster-paths.ts';
import { initialiseHome, type ServerSettings } from './initialise.ts';
import { readPostmaster } from './postmaster-file.ts';
import { canEnter, chooseServerUser, type ServerUser } from './server-user.ts';

// <data_dir>/postgres/   all our files, the "area"
//   lock-*               held while the cluster is created
//   cluster              its home (see cluster-paths.ts), or a link to the home in a fallback folder
//   postgres-<version>/  a copy of the binaries, if needed
// <fallback folder>/     only as root (see `openFallbackFolder`)
//   clusters/<id>/       homes; the id is random, so a recreated data folder never finds the old data again
//   postgres-<version>/

/** A cluster that exists and is complete. */
export interface Cluster {
  readonly home: string;
  readonly user: ServerUser;
  /** The password of its only database user. */
  readonly password: string;
  /** The folder for a copy of the binaries, if `user` can't run those in node_modules. */
  copyFolder(): string;
}

/**
 * The cluster of `dataDir`, created if it does not exist.
 * @param signal aborts the creation
 * @throws EmbeddedPostgresError if it can't be created, or `dataDir` points to one that is gone; the reason of `signal`.
 */
export async function openCluster(
  dataDir: string,
  fallbackFolders: readonly string[],
  settings: ServerSettings,
  onNotice: (text: string) => void,
  signal?: AbortSignal,
): Promise<Cluster> {
  const area = openArea(dataDir, onNotice);
  const link = join(area, 'cluster');
  const user = chooseServerUser(clusterPaths(link).data);
  const copyFolder = () => (user.uid === undefined ? area : openFallbackFolder(user, fallbackFolders));
  if (!exists(link)) {
    const make = async (): Promise<void> => {
      if (exists(link)) return;
      onNotice(`Preparing a database in ${dataDir}.`);
      const binaries = await runnableBinaries(user, copyFolder, findBinaries());
      removeHalfMade(area);
      const place = canEnter(user, area) ? area : join(openFallbackFolder(user, fallbackFolders), 'clusters');
      const half = makeFolder(join(place, HALF_MADE));
      await initialiseHome(half, link, binaries, user, settings, signal);
      const home = place === area ? link : join(place, randomBytes(8).toString('hex'));
      renameSync(half, home);
      if (home === link) return;
      symlinkSync(home, link);
      removeAbandonedClusters(place);
    };
    await withLock(area, make, signal);
  }
  const home = realpathSync(link);
  return { home, user, password: readFileSync(clusterPaths(home).password, 'utf8'), copyFolder };
}

const HALF_MADE = 'half-made-';

function openArea(dataDir: string, onNotice: (text: string) => void): string {
  const area = join(dataDir, 'postgres');
  mkdirSync(dataDir, { recursive: true });
  closeToOthers(dataDir, onNotice);
  if (statSync(area, { throwIfNoEntry: false })) {
    closeToOthers(area, onNotice);
    return area;
  }
  // Create the folder under another name: it must not be visible before it contains its lock.
  const added = makeFolder(join(dataDir, `.postgres-${HALF_MADE}`));
  try {
    renameSync(added, area);
  } catch (error) {
    rmSync(added, { recursive: true });
    if (!statSync(area, { throwIfNoEntry: false })) throw error;
  }
  return area;
}

/** Creates a lockable folder that others may traverse but not list. */
function makeFolder(prefix: string): string {
  const folder = mkdtempSync(prefix);
  chmodSync(folder, 0o711);
  makeLockable(folder);
  return folder;
}

function exists(link: string): boolean {
  if (statSync(link, { throwIfNoEntry: false })) return true;
  if (!lstatSync(link, { throwIfNoEntry: false })) return false;
  throw new EmbeddedPostgresError(
    `The database that ${link} points to is gone.`,
    `Bring that folder back. To begin with an empty database, remove the link: jobmirror then knows none of the jobs it created, and creates them again.`,
  );
}

/** Removes the leftovers of a start that was killed midway. Its initdb may still be writing for a moment. */
function removeHalfMade(area: string): void {
  for (const name of readdirSync(area)) {
    if (name.startsWith(HALF_MADE)) rmSync(join(area, name), { recursive: true, maxRetries: 10 });
  }
}

// The data folder may be on a disk that is not mounted at the moment, and its mappings could not be recovered.
const KEEP_MS = 30 * 24 * 3600_000;

/** Removes clusters that no data folder points to, no server runs on, and nobody has used for 30 days. */
function removeAbandonedClusters(clusters: string): void {
  for (const name of readdirSync(clusters)) {
    const home = join(clusters, name);
    // The mtime shows the last use: every start and stop creates and removes lock links in the folder.
    const unusedMs = Date.now() - statSync(home).mtimeMs;
    if (unusedMs > KEEP_MS && !isSelected(home) && !readPostmaster(home)) rmSync(home, { recursive: true });
  }
}

function isSelected(home: string): boolean {
  try {
    return readlinkSync(readFileSync(clusterPaths(home).madeFor, 'utf8')) === home;
  } catch {
    return false;
  }
}

// Prevents other users from replacing the database's files with their own.

const WRITABLE_BY_ALL = 0o002;
/** Users may add files, but not remove or rename those of others, as in /tmp. */
const STICKY = 0o1000;

/**
 * Makes a world-writable folder writable by its owner and group only.
 * @throws EmbeddedPostgresError if that fails: whoever can write there can replace the database.
 */
function closeToOthers(folder: string, onNotice: (text: string) => void): void {
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
