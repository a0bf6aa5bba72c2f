// Finds feed formats by name: those in config/presets, and the user's own in the folder `presets` beside the configuration.
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from './config-error.ts';
import { packageRoot } from './package-root.ts';
import { formatSchema, type WrittenFormat } from './schema/format-schema.ts';
import { nameSchema } from './schema/scalars.ts';
import { fileErrorInWords, readSettings } from './settings-file.ts';

const BUNDLED = join(packageRoot, 'config', 'presets');

export interface Preset {
  readonly name: string;
  /** Absolute path of its file. */
  readonly file: string;
}

export interface Presets {
  /** By name, sorted. Of two with the same name, the user's own. */
  readonly byName: ReadonlyMap<string, Preset>;
  /** The user's own. */
  readonly own: readonly Preset[];
  /** What deserves attention about the user's own, one line each. */
  readonly warnings: readonly string[];
}

/** @param folder the folder of the configuration file. Throws a {@link ConfigError} if its `presets` can't be read. */
export async function findPresets(folder: string): Promise<Presets> {
  const bundled = await presetsIn(BUNDLED);
  const ownFolder = join(folder, 'presets');
  // The example configuration lies beside the bundled presets.
  const files = ownFolder === BUNDLED ? [] : await presetsIn(ownFolder);
  // An own preset is meant even if a later version of jobmirror brings one of that name.
  const own = files.filter(({ name }) => nameSchema.safeParse(name).success);
  const names = new Set(bundled.map(({ name }) => name));
  const warnings = [
    ...files
      .filter((preset) => !own.includes(preset))
      .map(
        ({ file }) =>
          `${file}: no feed can name this preset; rename the file to lower-case letters, digits, - and _, with the ending .yaml`,
      ),
    ...own
      .filter(({ name }) => names.has(name))
      .map(({ name, file }) => `${file} replaces the preset ${name} that comes with jobmirror`),
  ];
  const all = [...bundled, ...own].map((preset) => [preset.name, preset] as const);
  return { byName: new Map(all.toSorted(([a], [b]) => (a < b ? -1 : 1))), own, warnings };
}

/** The presets that come with jobmirror. */
export const bundledPresets = (): Promise<readonly Preset[]> => presetsIn(BUNDLED);

/** Bundled ones by file, once read: they never change, and `init` reads each of them. */
const bundledFormats = new Map<string, WrittenFormat>();

/** Reads a preset. Throws a {@link ConfigError} if it is invalid. */
export async function readPreset(preset: Preset): Promise<WrittenFormat> {
  const { file } = preset;
  const format = bundledFormats.get(file) ?? (await readSettings(file, formatSchema));
  if (isBundled(preset)) bundledFormats.set(file, format);
  return format;
}

/** Whether the preset comes with jobmirror. */
export const isBundled = ({ file }: Preset): boolean => dirname(file) === BUNDLED;

/** The base of relative paths in a preset. */
export const folderOf = ({ file }: Preset): string => dirname(file);

async function presetsIn(folder: string): Promise<readonly Preset[]> {
  const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new ConfigError([{ file: folder, setting: '', message: `can't be read: ${fileErrorInWords(error)}` }]);
  });
  return files
    .filter((file) => /\.ya?ml$/i.test(file))
    .sort()
    .map((file) => ({
      name: file.endsWith('.yaml') ? file.slice(0, -'.yaml'.length) : file,
      file: join(folder, file),
    }));
}
