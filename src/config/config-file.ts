// The configuration file's default name, and the names in it, read without checking or completing the file.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readFeedFiles } from './include.ts';
import { parseYaml, toData, withFeedFiles } from './yaml-source.ts';

/** The default file, in the current folder. */
export const CONFIG_FILE = 'jobmirror.yaml';

/** The names of the sites or feeds in a file; none if it can't be read. */
export async function readNames(path: string, group: 'sites' | 'feeds'): Promise<readonly string[]> {
  try {
    const main = parseYaml(path, await readFile(path, 'utf8'));
    const { sources } = await readFeedFiles(main, { path: resolve(path), shown: (file) => file, draft: undefined });
    const data = toData(sources === undefined ? main : withFeedFiles(main, sources));
    return Object.keys((data as Partial<Record<string, object>> | null)?.[group] ?? {});
  } catch {
    return [];
  }
}
