// Reads the files of a folder, wherever it is: the newest one, or all as one feed; and verifies that they stayed as they were.
import { BrokenOff, type OpenedSource, type SourceDocument } from '../source.ts';

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

/** Its methods throw {@link BrokenOff}. */
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
  for (const { name } of files) yield { ...(await folder.read(name)), name };
  const change = difference(files, await findFiles(folder, pick));
  if (change === undefined) return;
  throw new BrokenOff(`the folder ${folder.place} changed while it was being read: ${change}`);
}

/** The files to read, in the order of their names. */
async function findFiles(folder: Folder, { pattern, pick }: FilePick): Promise<readonly FolderFile[]> {
  const files = await folder.list(matcherOf(pattern));
  if (files.length > MAX_FOLDER_FILES)
    throw new BrokenOff(`more than ${MAX_FOLDER_FILES} files in ${folder.place} match`);
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
