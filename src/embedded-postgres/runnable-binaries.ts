// Checks that the server's user can run the Postgres binaries where npm put them, and otherwise copies them.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Binaries, completeLibraries, findBinaries, postgresPath } from './binaries.ts';
import { EmbeddedPostgresError, USE_OWN_POSTGRES } from './embedded-error.ts';
import type { ServerUser } from './server-user.ts';

const run = promisify(execFile);

/**
 * Returns binaries that `user` can run. If needed, copies them (some 60 MB) into `copyFolder`, once per version.
 * @throws EmbeddedPostgresError with the system's message if the copy does not run either.
 */
export async function runnableBinaries(
  user: ServerUser,
  copyFolder: () => string,
  installed = findBinaries(),
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
