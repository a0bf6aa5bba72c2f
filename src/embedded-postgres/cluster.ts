// Finds the cluster of a data folder, or creates one atomically.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { removeAbandonedClusters } from './abandoned-clusters.ts';
import { clusterPaths } from './cluster-paths.ts';
import { EmbeddedPostgresError } from './embedded-error.ts';
import { closeToOthers } from './folder-access.ts';
import { makeLockable, withLock } from './folder-lock.ts';
import { initialiseHome } from './initialise.ts';
import { runnableBinaries } from './runnable-binaries.ts';
import type { ServerSettings } from './server-settings.ts';
import { canEnter, chooseServerUser, type ServerUser } from './server-user.ts';
import { openShelter } from './shelter.ts';

// <data_dir>/postgres/   all our files, the "area"
//   lock-*               held while the cluster is created
//   cluster              its home (see cluster-paths.ts), or a link to the home in a shelter
//   postgres-<version>/  a copy of the binaries, if needed
// <shelter>/             only as root (see shelter.ts)
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
  shelters: readonly string[],
  settings: ServerSettings,
  onNotice: (text: string) => void,
  signal?: AbortSignal,
): Promise<Cluster> {
  const area = openArea(dataDir, onNotice);
  const link = join(area, 'cluster');
  const user = chooseServerUser(clusterPaths(link).data);
  const copyFolder = () => (user.uid === undefined ? area : openShelter(user, shelters));
  if (!exists(link)) {
    const make = async (): Promise<void> => {
      if (exists(link)) return;
      onNotice(`Preparing a database in ${dataDir}.`);
      const binaries = await runnableBinaries(user, copyFolder);
      removeHalfMade(area);
      const place = canEnter(user, area) ? area : join(openShelter(user, shelters), 'clusters');
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
