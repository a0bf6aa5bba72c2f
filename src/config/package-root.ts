// Finds the package folder, which holds the files that are not compiled (SQL, YAML), from both src and dist.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

function findPackageRoot(from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) throw new Error(`no package.json above ${from}: the installation is not complete`);
  }
}

/** Absolute path. */
export const packageRoot: string = findPackageRoot(import.meta.dirname);
