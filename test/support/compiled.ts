// Tests run the program as it is shipped: what they import from `src` and `jobs` is what the compiler wrote to `dist`. Node loads
// that by itself, in a third of the time that Vitest needs to transform the sources in each run and for each process.
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync, utimesSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { packageRoot } from '../../src/config/package-root.ts';

const FOLDERS = ['src', 'jobs'];
/** The compiler's notes: as old as the last compilation. */
const NOTES = join(packageRoot, 'dist/.tsbuildinfo');
const SOURCE = /^(?<module>.*)\.tsx?$/;

/** Vitest leaves these files to Node. */
export const COMPILED = /\/dist\/(src|jobs)\//;

/** A plugin for Vitest: imports of a source become those of its compiled file. */
export const importCompiled = {
  name: 'import-compiled',
  enforce: 'pre' as const,
  resolveId(source: string, importer: string | undefined): string | undefined {
    if (importer === undefined || !/^[./]/.test(source)) return undefined;
    const path = resolve(dirname(importer), source);
    const isSource = FOLDERS.some((folder) => path.startsWith(`${join(packageRoot, folder)}/`));
    const module = isSource ? SOURCE.exec(path.slice(packageRoot.length))?.groups?.module : undefined;
    return module && `${join(packageRoot, 'dist')}${module}.js`;
  },
};

/** Compiles what has changed since the last time, without checking types: that is what `npm run typecheck` is for. */
export function compile(): void {
  if (isUpToDate()) return;
  const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', '.', '--noCheck'], { cwd: packageRoot, stdio: 'inherit' });
  // The compiler leaves them alone if files are newer, but not different.
  const now = new Date();
  utimesSync(NOTES, now, now);
}

function isUpToDate(): boolean {
  const compiled = statSync(NOTES, { throwIfNoEntry: false });
  if (compiled === undefined) return false;
  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  ).filter((file) => SOURCE.test(file));
  return sources.every((file) => statSync(join(packageRoot, file)).mtimeMs < compiled.mtimeMs);
}
