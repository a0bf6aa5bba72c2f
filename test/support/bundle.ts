// Bundles the compiled program for the processes that tests start, as `npm run build` does, unless that was done since it was compiled.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { loadConfig } from 'rolldown/config';
import { packageRoot } from '../../src/config/package-root.ts';

const COMPILED = join(packageRoot, 'dist');
const CONFIG = join(packageRoot, 'rolldown.config.mjs');

/** Does nothing if the program is not compiled, or was bundled since. */
export async function bundleProgram(): Promise<void> {
  if (!existsSync(join(COMPILED, 'src/cli/entry.js')) || isUpToDate()) return;
  const configs = await loadConfig(CONFIG);
  if (!Array.isArray(configs)) throw new Error(`${CONFIG} is not a list of bundles`);
  for (const config of configs) {
    if (Array.isArray(config.output)) throw new Error(`${CONFIG} writes a bundle twice`);
    const bundle = await rolldown({ ...config, cwd: packageRoot });
    await bundle.write({ ...config.output, dir: join(packageRoot, config.output?.dir ?? '') });
    await bundle.close();
  }
}

function isUpToDate(): boolean {
  const bundled = statSync(join(COMPILED, 'bundled/entry.js'), { throwIfNoEntry: false });
  if (bundled === undefined) return false;
  const compiled = ['src', 'jobs'].flatMap((folder) =>
    readdirSync(join(COMPILED, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(COMPILED, folder, file),
    ),
  );
  return [...compiled, CONFIG].every((file) => statSync(file).mtimeMs < bundled.mtimeMs);
}
