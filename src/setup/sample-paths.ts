// The paths of a sample's records by the format of a draft whose other settings may still be wrong or missing.

import { ConfigError } from '../config/config-error.ts';
import { findPresets, readPreset } from '../config/presets.ts';
import { formatSchema, type WrittenFormat } from '../config/schema/format-schema.ts';
import { parseYaml, toData } from '../config/yaml-source.ts';
import { type PathFill, PathValues } from '../posting/paths/path-census.ts';
import { readOpening } from './opening.ts';
import { feedConfigOf } from './preset-fit.ts';
import { sampleRecords } from './sample-records.ts';

/** Empty if the format is wrong, or the sample has no records of it. @param folder that of the configuration file */
export async function samplePaths(
  { path, isUpload }: { readonly path: string; readonly isUpload: boolean },
  draft: string,
  folder: string,
): Promise<readonly PathFill[]> {
  const data = settingsOf(draft);
  const format = await formatInFolder(data.format, folder);
  if (format === undefined) return [];
  const written = typeof data.encoding === 'string' ? data.encoding : undefined;
  const opening = await readOpening({ kind: 'file', path }, isUpload ? written : 'utf-8', AbortSignal.timeout(10_000));
  if (opening.kind === 'failed') return [];
  const { source } = feedConfigOf(format);
  // Tables are refused without the columns of the key.
  const table = source.table && { ...source.table, keyPaths: [] };
  const lenient = data.lenient === true;
  const { trees } = await sampleRecords(opening.bytes, { ...source, lenient, ...(table && { table }) });
  const values = new PathValues();
  for (const tree of trees) values.add(tree);
  return values.all();
}

function settingsOf(draft: string): {
  readonly format?: unknown;
  readonly encoding?: unknown;
  readonly lenient?: unknown;
} {
  try {
    const data = toData(parseYaml('feed.yaml', draft));
    return typeof data === 'object' && data !== null ? data : {};
  } catch (error) {
    if (error instanceof ConfigError) return {};
    throw error;
  }
}

async function formatInFolder(written: unknown, folder: string): Promise<WrittenFormat | undefined> {
  if (typeof written === 'string') {
    const preset = (await findPresets(folder)).byName.get(written);
    return preset && readPreset(preset);
  }
  // The key and the fields may be what is wrong.
  const settings = { ...Object(written), key: 'key', fields: {} };
  const checked = formatSchema.safeParse(settings);
  return checked.success ? checked.data : undefined;
}
