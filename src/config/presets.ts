// Loads the feed formats in config/presets by name.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from './package-root.ts';
import { formatSchema, type WrittenFormat } from './schema/format-schema.ts';
import { readSettings } from './settings-file.ts';

/** The base of relative paths in presets. */
export const presetFolder = join(packageRoot, 'config', 'presets');

/** The names of all presets, sorted. */
export async function presetNames(): Promise<readonly string[]> {
  const files = await readdir(presetFolder);
  return files
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort();
}

/** Reads a preset by a name from {@link presetNames}. Throws a `ConfigError` if it is invalid. */
export async function readPreset(name: string): Promise<WrittenFormat> {
  return readSettings(join(presetFolder, `${name}.yaml`), formatSchema);
}
