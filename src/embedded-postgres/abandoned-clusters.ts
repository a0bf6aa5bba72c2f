// Removes clusters in a shelter whose data folder is gone.
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { clusterPaths } from './cluster-paths.ts';
import { readPostmaster } from './postmaster-file.ts';

// The data folder may be on a disk that is not mounted at the moment, and its mappings could not be recovered.
const KEEP_MS = 30 * 24 * 3600_000;

/** Removes clusters that no data folder points to, no server runs on, and nobody has used for 30 days. */
export function removeAbandonedClusters(clusters: string): void {
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
