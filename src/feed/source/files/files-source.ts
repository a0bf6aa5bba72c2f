// Files of a local folder as a source.
import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileSource } from '../file/file-source.ts';
import { BrokenOff, reasonOf, type SourceContext, type SourceKind } from '../source.ts';
import { type FilePick, type Folder, type FolderFile, MAX_FOLDER_FILES, openFolder } from './folder.ts';

export interface FilesConfig extends FilePick {
  readonly kind: 'files';
  readonly folder: string;
}

export const filesSource: SourceKind<FilesConfig> = {
  isRemote: false,
  isRepeatable: true,
  open: async ({ folder, ...pick }, context) => openFolder(localFolder(folder, context), pick),
  request: ({ kind, folder, pattern, pick }) => ({ kind, folder, pattern, pick }),
  placeOf: ({ folder, pattern, pick }) =>
    `${join(folder, pattern)} (${pick === 'newest' ? 'the newest file' : 'all files'})`,
  secretsOf: () => [],
  publicConfig: ({ folder, pattern, pick }) => ({ place: join(folder, pattern), settings: { pick } }),
};

const localFolder = (place: string, context: SourceContext): Folder => ({
  place,
  async list(matches) {
    let names: string[];
    try {
      names = (await readdir(place)).filter(matches);
    } catch (error) {
      throw new BrokenOff(`the folder ${place} can't be read: ${reasonOf(error)}`);
    }
    const files: FolderFile[] = [];
    // Not all names are those of files.
    while (names.length > 0 && files.length <= MAX_FOLDER_FILES) {
      const listed = await Promise.all(names.splice(0, MAX_FOLDER_FILES).map((name) => statFile(place, name)));
      files.push(...listed.filter((file) => file !== undefined));
    }
    return files;
  },
  async read(name) {
    const opened = await fileSource.open({ kind: 'file', path: join(place, name) }, context);
    if (opened.kind === 'failed') throw new BrokenOff(opened.message);
    const documents = opened.kind === 'documents' ? opened.documents : [];
    for await (const document of documents) return document;
    throw new BrokenOff(`${name} can't be read`);
  },
});

/**
 * `undefined` for what is no file, and for one that was removed meanwhile. A link that leads nowhere counts as a file, which cannot be
 * read: what it is meant to lead to may be missing only for a while.
 */
async function statFile(folder: string, name: string): Promise<FolderFile | undefined> {
  const path = join(folder, name);
  try {
    const found = (await ifThere(stat(path, BIGINT))) ?? (await ifThere(lstat(path, BIGINT)));
    if (found === undefined || !(found.isFile() || found.isSymbolicLink())) return undefined;
    const { ino, size, mtimeNs, ctimeNs } = found;
    return { name, modifiedNs: mtimeNs, identity: [ino, size, mtimeNs, ctimeNs].join(' ') };
  } catch (error) {
    throw new BrokenOff(`${path} can't be read: ${reasonOf(error)}`);
  }
}

const BIGINT = { bigint: true } as const;

async function ifThere<Stats>(asked: Promise<Stats>): Promise<Stats | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
