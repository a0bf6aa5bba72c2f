// Removes clusters from a shelter's folder whose data folder is gone.
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { clusterPaths } from './cluster-paths.ts';
import { readPostmaster } from './postmaster-file.ts';

// A data folder may only be out of sight for a while, on a disk that is not mounted, and its mappings can't be had again.
const KEEP_MS = 30 * 24 * 3600_000;

/** Removes what no data folder points to, no server runs on, and nobody has used for 30 days. */
export function removeAbandonedClusters(clusters: string): void {
  for (const name of readdirSync(clusters)) {
    const home = join(clusters, name);
    // Every start and stop makes and removes links of the lock there.
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
