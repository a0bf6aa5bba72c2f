// The configuration file's default name, and the names in it, read without checking or completing the file.
import { readFile } from 'node:fs/promises';
import { parseYaml, toData } from './yaml-source.ts';

/** The default file, in the current folder. */
export const CONFIG_FILE = 'jobmirror.yaml';

/** The names of the sites or feeds in a file; none if it can't be read. */
export async function readNames(path: string, group: 'sites' | 'feeds'): Promise<readonly string[]> {
  try {
    const data = toData(parseYaml(path, await readFile(path, 'utf8')));
    return Object.keys((data as Partial<Record<string, object>> | null)?.[group] ?? {});
  } catch {
    return [];
  }
}
