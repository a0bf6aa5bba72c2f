// Finds the package folder, which holds the files that are not compiled (SQL, YAML), from both src and dist; and its version.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

function findPackageRoot(from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) throw new Error(`no package.json above ${from}: the installation is not complete`);
  }
}

/** Absolute path. */
export const packageRoot: string = findPackageRoot(import.meta.dirname);

/** The version of this jobmirror. */
export const programVersion = (): string => {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
};
