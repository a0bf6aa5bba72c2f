// Debian's packages, unpacked below a temporary folder and laid over the machine's files for one command at a time. Nothing is installed.
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Unpacks the packages and what they need, unless a former run did. @returns the version of each, by its name. */
export function unpackPackages(folder: string, packages: readonly string[]): Readonly<Record<string, string>> {
  const archives = join(folder, 'archives');
  const archiveOf = (name: string) => archivesIn(archives).find((file) => file.startsWith(`${name}_`));
  if (!existsSync(archives) || packages.some((name) => archiveOf(name) === undefined)) {
    mkdirSync(join(archives, 'partial'), { recursive: true });
    chmodSync(folder, 0o755);
    execFileSync('chown', ['-R', '_apt', archives]);
    const places = ['-o', 'Debug::NoLocking=1', '-o', `Dir::Cache::archives=${archives}`];
    execFileSync(
      'apt-get',
      ['install', '-qq', '-y', '--download-only', '--reinstall', '--no-install-recommends', ...places, ...packages],
      { stdio: 'ignore' },
    );
    for (const file of archivesIn(archives)) execFileSync('dpkg-deb', ['--extract', join(archives, file), folder]);
  }
  return Object.fromEntries(
    packages.map((name) => {
      const archive = join(archives, archiveOf(name) ?? '');
      return [name, execFileSync('dpkg-deb', ['--field', archive, 'Version'], { encoding: 'utf8' }).trim()];
    }),
  );
}

const archivesIn = (folder: string): readonly string[] => readdirSync(folder).filter((name) => name.endsWith('.deb'));

/** What the installation of some packages would do besides unpacking them. */
export function completePackages(folder: string): void {
  const registry = join(folder, 'usr/lib/libreoffice/share/.registry');
  if (existsSync(registry)) cpSync(registry, join(folder, 'etc/libreoffice/registry'), { recursive: true });
  const environment = join(folder, 'usr/lib/R/etc/Renviron.ucf');
  if (existsSync(environment)) copyFileSync(environment, join(folder, 'etc/R/Renviron'));
}

const OVERLAY = `folder="$1"; shift
mount --make-rprivate / && mount -t overlay overlay -o lowerdir="$folder/usr:/usr" /usr &&
mount -t overlay overlay -o lowerdir="$folder/etc:/etc" /etc && exec "$@"`;

/** The arguments with which a command runs in a mount namespace of its own, where the packages seem to be installed; needs root. */
export const withPackages = (folder: string, ...command: readonly string[]): readonly [string, readonly string[]] => [
  'unshare',
  ['--mount', 'sh', '-c', OVERLAY, 'sh', folder, ...command],
];

/** Runs a script of the shell with the packages. @returns its output. */
export async function runScript(
  folder: string,
  script: string,
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  const libraries = '/usr/lib/x86_64-linux-gnu';
  const [command, options] = withPackages(folder, 'sh', '-euc', script);
  const { stdout } = await promisify(execFile)(command, options, {
    cwd,
    env: {
      PATH: '/usr/local/bin:/usr/bin:/usr/sbin:/bin:/usr/lib/go-1.19/bin',
      HOME: cwd,
      TZ: 'UTC',
      LC_ALL: 'C.UTF-8',
      LD_LIBRARY_PATH: `${libraries}/blas:${libraries}/lapack`,
      ...env,
    },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}
