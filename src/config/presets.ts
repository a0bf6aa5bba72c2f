// Turns the name of a preset into the feed format that its file in config/presets describes.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from './package-root.ts';
import { formatSchema, type WrittenFormat } from './schema/format-schema.ts';
import { readSettings } from './settings-file.ts';

const folder = join(packageRoot, 'config', 'presets');

/** The names of all presets, sorted. */
export async function presetNames(): Promise<readonly string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort();
}

/** Reads a preset, by a name of {@link presetNames}. Throws a `ConfigError`. */
export async function readPreset(name: string): Promise<WrittenFormat> {
  return readSettings(join(folder, `${name}.yaml`), formatSchema);
}
