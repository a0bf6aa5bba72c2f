// Reads a file, or the files of a folder, from an SFTP server, and verifies that they did not change meanwhile.
import { posix } from 'node:path';
import type { FileEntryWithStats, SFTPWrapper, Stats } from 'ssh2';
import { type Folder, type FolderFile, openFolder } from '../files/folder.ts';
import {
  BrokenOff,
  type OpenedSource,
  oneDocument,
  reasonOf,
  type SourceContext,
  type SourceDocument,
} from '../source.ts';
import { connectSftp, type SftpSession } from './connect-sftp.ts';
import { readRanges } from './read-ranges.ts';
import { type SftpConfig, sftpPlace } from './sftp-config.ts';

export async function openSftp(config: SftpConfig, { signal }: SourceContext): Promise<OpenedSource> {
  const session = await connectSftp(config, signal);
  // The reading aborts its signal at its end, however it ends.
  signal.addEventListener('abort', session.end, { once: true });
  try {
    const { path, pick } = config;
    if (pick !== undefined) return withEnd(await openFolder(remoteFolder(config, session, signal), pick), session);
    return withEnd(oneDocument(await openRemote(session.sftp, path, sftpPlace(config), signal)), session);
  } catch (error) {
    session.end();
    signal.throwIfAborted();
    throw error;
  }
}

/** Ends the session after the last document. */
function withEnd(opened: OpenedSource, session: SftpSession): OpenedSource {
  if (opened.kind === 'documents') return { ...opened, documents: endAfter(opened.documents, session) };
  session.end();
  return opened;
}

async function* endAfter(
  documents: AsyncIterable<SourceDocument>,
  session: SftpSession,
): AsyncGenerator<SourceDocument> {
  try {
    yield* documents;
  } finally {
    session.end();
  }
}

function remoteFolder(config: SftpConfig, { sftp }: SftpSession, signal: AbortSignal): Folder {
  const { path } = config;
  const { pick: _, ...folder } = config;
  return {
    place: sftpPlace(folder),
    async list(matches) {
      const entries = await call<FileEntryWithStats[]>(path, (done) => sftp.readdir(path, done));
      const files: FolderFile[] = [];
      for (const { filename: name, attrs } of entries) {
        if (!matches(name)) continue;
        // Asking for each file would take as many times to the server and back.
        const isLink = hasMode(attrs) && attrs.isSymbolicLink();
        const isClear = hasMode(attrs) && !isLink;
        const found = isClear ? attrs : await statIfThere(sftp, posix.join(path, name));
        // A link that leads nowhere counts as a file, which cannot be read: what it is meant to lead to may be missing only for a while.
        const stats = found ?? (isLink ? attrs : undefined);
        if (stats !== undefined && (!hasMode(stats) || stats.isFile() || stats.isSymbolicLink()))
          files.push({ name, modifiedNs: BigInt(stats.mtime), identity: identityOf(stats) });
      }
      return files;
    },
    read: (name) => openRemote(sftp, posix.join(path, name), name, signal),
  };
}

/** Servers need not say what kind of file it is: then it counts as one, and reading a folder fails. */
const hasMode = ({ mode }: Partial<Stats>): boolean => mode !== undefined && mode !== 0;

/** The protocol has no more than size and whole seconds. */
const identityOf = ({ size, mtime }: Stats): string => `${size} ${mtime}`;

class MissingFile extends BrokenOff {}

async function statIfThere(sftp: SFTPWrapper, path: string): Promise<Stats | undefined> {
  try {
    return await statOf(sftp, path);
  } catch (error) {
    if (error instanceof MissingFile) return undefined;
    throw error;
  }
}

async function openRemote(sftp: SFTPWrapper, path: string, name: string, signal: AbortSignal): Promise<SourceDocument> {
  const before = await statOf(sftp, path);
  if (!Number.isSafeInteger(before.size)) {
    throw new BrokenOff(`the SFTP server does not say how large ${path} is, so its end could not be proven`);
  }
  if (before.isDirectory()) {
    throw new BrokenOff(`${path} is a folder, not a feed: name the file in it, or set files: newest or files: all`);
  }
  return { name, chunks: readRemote(sftp, path, before, signal), isEndProven: true, totalBytes: before.size };
}

async function* readRemote(
  sftp: SFTPWrapper,
  path: string,
  before: Stats,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    const handle = await call<Buffer>(path, (done) => sftp.open(path, 'r', done));
    yield* readRanges(sftp, handle, before.size);
    const after = await statOf(sftp, path);
    if (identityOf(after) !== identityOf(before)) throw new BrokenOff('the file changed while it was being read');
    await call<void>(path, (done) => sftp.close(handle, done));
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof BrokenOff ? error : new BrokenOff(`reading ${path} broke off: ${reasonOf(error)}`);
  }
}

const statOf = (sftp: SFTPWrapper, path: string): Promise<Stats> => call<Stats>(path, (done) => sftp.stat(path, done));

type Done<Result> = (error: Error | null | undefined, result: Result) => void;

/** SSH_FX_NO_SUCH_FILE and SSH_FX_PERMISSION_DENIED (draft-ietf-secsh-filexfer-02, section 7). */
const [NO_SUCH_FILE, PERMISSION_DENIED] = [2, 3];

function call<Result>(path: string, start: (done: Done<Result>) => void): Promise<Result> {
  return new Promise((resolve, reject) => {
    start((error, result) => {
      if (error === null || error === undefined) return resolve(result);
      const code = 'code' in error ? error.code : undefined;
      if (code === NO_SUCH_FILE) return reject(new MissingFile(`there is no ${path} on the SFTP server`));
      if (code === PERMISSION_DENIED)
        return reject(new BrokenOff(`the SFTP server does not let the user read ${path}`));
      reject(new BrokenOff(`the SFTP server failed on ${path}: ${reasonOf(error)}`));
    });
  });
}
