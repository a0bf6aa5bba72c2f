// Opens a local file, the files of a folder, or standard input as a source, and verifies that files did not change
// while they were read.
import { fstatSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  FeedReadingError,
  type OpenedSource,
  oneDocument,
  reasonOf,
  type SourceContext,
  type SourceDocument,
  type SourceKind,
} from '../source.ts';

export interface FileConfig {
  readonly kind: 'file';
  readonly path: string;
}

export const fileSource: SourceKind<FileConfig> = {
  isRemote: false,
  isRepeatable: true,
  open: ({ path }, { signal }) => openFile(path, signal),
  request: ({ kind, path }) => ({ kind, path }),
  placeOf: ({ path }) => path,
  secretsOf: () => [],
  publicConfig: ({ path }) => ({ place: path }),
};

/** Large, because waking a pool thread for each read costs about half as much as reading this many bytes. */
const CHUNK_BYTES = 1024 * 1024;

async function openFile(path: string, signal: AbortSignal): Promise<OpenedSource> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (error) {
    return { kind: 'failed', message: explain(path, error) };
  }
  const before = await file.stat({ bigint: true });
  if (before.isDirectory()) {
    await file.close();
    return { kind: 'failed', message: `"${path}" is a folder, not a feed: name the file in it` };
  }
  const totalBytes = before.isFile() ? Number(before.size) : undefined;
  const reading = { begun: false };
  // Once reading has begun, it closes the file itself.
  const close = (): void => {
    if (!reading.begun) void file.close().catch(() => undefined);
  };
  if (signal.aborted) close();
  else signal.addEventListener('abort', close, { once: true });
  // A pipe ends when its writer does, whatever the reason.
  const isEndProven = before.isFile();
  const end = isEndProven ? { isEndProven } : ({ isEndProven, relayed: 'piped' } as const);
  return oneDocument({ name: path, chunks: readChunks(file, before, reading), ...end, totalBytes });
}

interface Identity {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  isFile(): boolean;
}

/** Alternates between two buffers: while the caller processes one, the other is filled. */
async function* readChunks(file: FileHandle, before: Identity, reading: { begun: boolean }): AsyncGenerator<Buffer> {
  reading.begun = true;
  // One byte more than a short file has, so the first read already shows its end.
  const chunkBytes = before.isFile() ? Math.min(CHUNK_BYTES, Number(before.size) + 1) : CHUNK_BYTES;
  let filling = Buffer.allocUnsafe(chunkBytes);
  let spare = Buffer.allocUnsafe(chunkBytes);
  let total = 0n;
  const fill = (buffer: Buffer) => {
    const read = file.read(buffer, 0, chunkBytes, null);
    // It may fail before it is awaited, which must not count as unhandled.
    read.catch(() => undefined);
    return read;
  };
  let next = fill(filling);
  try {
    for (;;) {
      const { bytesRead } = await next;
      if (bytesRead === 0) break;
      total += BigInt(bytesRead);
      const filled = filling;
      [filling, spare] = [spare, filling];
      next = fill(filling);
      yield filled.subarray(0, bytesRead);
    }
    const after = await file.stat({ bigint: true });
    const changed = after.size !== before.size || after.mtimeNs !== before.mtimeNs || after.ctimeNs !== before.ctimeNs;
    if (before.isFile() && (changed || total !== before.size)) {
      throw new FeedReadingError('the file changed while it was being read');
    }
  } catch (error) {
    throw error instanceof FeedReadingError
      ? error
      : new FeedReadingError(`reading the file failed: ${reasonOf(error)}`);
  } finally {
    await next.catch(() => undefined);
    await file.close();
  }
}

function explain(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return `there is no file "${path}"`;
  if (code === 'EACCES' || code === 'EPERM') return `no permission to read the file "${path}"`;
  return `the file "${path}" can't be opened: ${reasonOf(error)}`;
}

// Files of a local folder as a source.

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
      throw new FeedReadingError(`the folder ${place} can't be read: ${reasonOf(error)}`);
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
    if (opened.kind === 'failed') throw new FeedReadingError(opened.message);
    const documents = opened.kind === 'documents' ? opened.documents : [];
    for await (const document of documents) return document;
    throw new FeedReadingError(`${name} can't be read`);
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
    throw new FeedReadingError(`${path} can't be read: ${reasonOf(error)}`);
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

// Reads standard input as a source. All that can be known about its end is that the program before the pipe closed it.

export interface StdinConfig {
  readonly kind: 'stdin';
}

export const stdinSource: SourceKind<StdinConfig> = {
  isRemote: false,
  isRepeatable: false,
  open: async (_config, { stdin = process.stdin }) => {
    const isFile = stdin === process.stdin && fstatSync(0).isFile();
    return oneDocument({
      name: 'standard input',
      chunks: readInput(stdin),
      ...(isFile ? {} : { relayed: 'piped' }),
    });
  },
  request: ({ kind }) => ({ kind }),
  placeOf: () => '-',
  secretsOf: () => [],
  publicConfig: () => ({ place: '-' }),
};

async function* readInput(input: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of input) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  } catch (error) {
    throw new FeedReadingError(`reading standard input failed: ${reasonOf(error)}`);
  }
}

// Reads the files of a folder, wherever it is: the newest one, or all as one feed; and verifies that they stayed as they were.

export interface FilePick {
  /** Of the names; `*` and `?` stand for any characters, or one. */
  readonly pattern: string;
  readonly pick: 'newest' | 'all';
}

export interface FolderFile {
  readonly name: string;
  readonly modifiedNs: bigint;
  /** Changes with the file. */
  readonly identity: string;
}

/** Its methods throw {@link FeedReadingError}. */
export interface Folder {
  /** For people. */
  readonly place: string;
  /** The files, and no folders, whose names match. */
  list(matches: (name: string) => boolean): Promise<readonly FolderFile[]>;
  /** The document is checked to its end. */
  read(name: string): Promise<SourceDocument>;
}

/** A folder with more was meant for something else. */
export const MAX_FOLDER_FILES = 10_000;

export async function openFolder(folder: Folder, pick: FilePick): Promise<OpenedSource> {
  const files = await findFiles(folder, pick);
  if (files.length > 0) return { kind: 'documents', documents: readFiles(files, folder, pick) };
  return { kind: 'failed', message: `no file in ${folder.place} matches ${pick.pattern}` };
}

async function* readFiles(
  files: readonly FolderFile[],
  folder: Folder,
  pick: FilePick,
): AsyncGenerator<SourceDocument> {
  const place = `${folder.place}/${pick.pattern}`;
  // The newest file may have another name each day.
  for (const { name } of files)
    yield { ...(await folder.read(name)), name, id: pick.pick === 'newest' ? place : `${place}, ${name}` };
  const change = difference(files, await findFiles(folder, pick));
  if (change === undefined) return;
  throw new FeedReadingError(`the folder ${folder.place} changed while it was being read: ${change}`);
}

/** The files to read, in the order of their names. */
async function findFiles(folder: Folder, { pattern, pick }: FilePick): Promise<readonly FolderFile[]> {
  const files = await folder.list(matcherOf(pattern));
  if (files.length > MAX_FOLDER_FILES)
    throw new FeedReadingError(`more than ${MAX_FOLDER_FILES} files in ${folder.place} match`);
  if (pick === 'all') return files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const [newest] = files.toSorted((a, b) => Number(b.modifiedNs - a.modifiedNs) || (a.name < b.name ? 1 : -1));
  return newest === undefined ? [] : [newest];
}

/** Hidden files match only a pattern that begins with a dot. */
function matcherOf(pattern: string): (name: string) => boolean {
  const characters = [...pattern];
  return (name) => matches(characters, [...name]) && (pattern.startsWith('.') || !name.startsWith('.'));
}

/** Only the last `*` that was passed takes more when what follows it does not fit: earlier ones never need to. */
function matches(pattern: readonly string[], name: readonly string[]): boolean {
  let [at, star, taken] = [0, -1, 0];
  for (let next = 0; next < name.length; ) {
    if (pattern[at] === '*') {
      star = at++;
      taken = next;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === name[next])) {
      at++;
      next++;
    } else if (star >= 0) {
      at = star + 1;
      next = ++taken;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

function difference(before: readonly FolderFile[], after: readonly FolderFile[]): string | undefined {
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
