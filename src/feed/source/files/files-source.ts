// Reads the files of a folder as a source: the newest one, or all as one feed; and verifies that they stayed as they were.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileSource } from '../file/file-source.ts';
import {
  BrokenOff,
  type OpenedSource,
  reasonOf,
  type SourceContext,
  type SourceDocument,
  type SourceKind,
} from '../source.ts';

export interface FilesConfig {
  readonly kind: 'files';
  readonly folder: string;
  /** Of the names; `*` and `?` stand for any characters, or one. */
  readonly pattern: string;
  readonly pick: 'newest' | 'all';
}

export const filesSource: SourceKind<FilesConfig> = {
  isRemote: false,
  isRepeatable: true,
  open: openFiles,
  request: ({ kind, folder, pattern, pick }) => ({ kind, folder, pattern, pick }),
  placeOf: ({ folder, pattern, pick }) =>
    `${join(folder, pattern)} (${pick === 'newest' ? 'the newest file' : 'all files'})`,
  secretsOf: () => [],
  publicConfig: ({ folder, pattern, pick }) => ({ place: join(folder, pattern), settings: { pick } }),
};

/** A folder with more was meant for something else. */
const MAX_FILES = 10_000;

interface FoundFile {
  readonly name: string;
  readonly modifiedNs: bigint;
  /** Changes with the file. */
  readonly identity: string;
}

async function openFiles(config: FilesConfig, context: SourceContext): Promise<OpenedSource> {
  try {
    const files = await findFiles(config);
    if (files.length > 0) return { kind: 'documents', documents: readFiles(files, config, context) };
    return { kind: 'failed', message: `no file matches ${join(config.folder, config.pattern)}` };
  } catch (error) {
    if (error instanceof BrokenOff) return { kind: 'failed', message: error.message };
    throw error;
  }
}

async function* readFiles(
  files: readonly FoundFile[],
  config: FilesConfig,
  context: SourceContext,
): AsyncGenerator<SourceDocument> {
  for (const { name } of files) {
    const path = join(config.folder, name);
    const opened = await fileSource.open({ kind: 'file', path }, context);
    if (opened.kind !== 'documents') throw new BrokenOff(opened.kind === 'failed' ? opened.message : path);
    for await (const document of opened.documents) yield { ...document, name };
  }
  const change = difference(files, await findFiles(config));
  if (change !== undefined)
    throw new BrokenOff(`the folder ${config.folder} changed while it was being read: ${change}`);
}

/** The files to read, in the order of their names. */
async function findFiles({ folder, pattern, pick }: FilesConfig): Promise<readonly FoundFile[]> {
  const matches = matcherOf(pattern);
  let names: string[];
  try {
    names = (await readdir(folder)).filter(matches).sort();
  } catch (error) {
    throw new BrokenOff(`the folder ${folder} can't be read: ${reasonOf(error)}`);
  }
  if (names.length > MAX_FILES) throw new BrokenOff(`more than ${MAX_FILES} files match ${join(folder, pattern)}`);
  const files = (await Promise.all(names.map((name) => statFile(folder, name)))).filter((file) => file !== undefined);
  if (pick === 'all') return files;
  const [newest] = files.toSorted((a, b) => Number(b.modifiedNs - a.modifiedNs) || (a.name < b.name ? 1 : -1));
  return newest === undefined ? [] : [newest];
}

/** `undefined` for what is no file, and for one that was removed meanwhile. */
async function statFile(folder: string, name: string): Promise<FoundFile | undefined> {
  try {
    const found = await stat(join(folder, name), { bigint: true });
    if (!found.isFile()) return undefined;
    const { ino, size, mtimeNs, ctimeNs } = found;
    return { name, modifiedNs: mtimeNs, identity: [ino, size, mtimeNs, ctimeNs].join(' ') };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new BrokenOff(`${join(folder, name)} can't be read: ${reasonOf(error)}`);
  }
}

/** Hidden files match only a pattern that begins with a dot. */
function matcherOf(pattern: string): (name: string) => boolean {
  const source = pattern
    .replace(/[\\^$.+()[\]{}|]/g, '\\$&')
    .replaceAll('*', '[^]*')
    .replaceAll('?', '[^]');
  const whole = new RegExp(`^${source}$`, 'u');
  return (name) => whole.test(name) && (pattern.startsWith('.') || !name.startsWith('.'));
}

function difference(before: readonly FoundFile[], after: readonly FoundFile[]): string | undefined {
  const gone = before.find((file) => !after.some(({ name }) => name === file.name));
  const appeared = after.find((file) => !before.some(({ name }) => name === file.name));
  // Of the newest files there is one: another one in its place is newer, or all that is left.
  if (appeared !== undefined) return `${appeared.name} appeared`;
  if (gone !== undefined) return `${gone.name} disappeared`;
  const changed = before.find((file) =>
    after.some(({ name, identity }) => name === file.name && identity !== file.identity),
  );
  return changed === undefined ? undefined : `${changed.name} changed`;
}
