// Reads a file, or the files of a folder, from an SFTP server, and verifies that they did not change meanwhile.
import { hash } from 'node:crypto';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { posix } from 'node:path';
import { Client, type FileEntryWithStats, type SFTPWrapper, type Stats } from 'ssh2';
import { guardLookup, refusedPlace } from '../http/redirects.ts';
import {
  FeedReadingError,
  type Network,
  type OpenedSource,
  oneDocument,
  reasonOf,
  type SourceContext,
  type SourceDocument,
} from '../source.ts';
import { type Folder, type FolderFile, MAX_FOLDER_FILES, openFolder } from './file-source.ts';
import { type SftpConfig, sftpPlace } from './remote-config.ts';

export async function openSftp(config: SftpConfig, { signal, network }: SourceContext): Promise<OpenedSource> {
  const session = await connectSftp(config, signal, network);
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
      const files: FolderFile[] = [];
      for (const { filename: name, attrs } of await listFolder(sftp, path, matches)) {
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

/** A server may list without end. */
const MOST_ENTRIES = 20 * MAX_FOLDER_FILES;

/** The entries whose names match; not many more than {@link MAX_FOLDER_FILES}, of which the caller wants none. */
async function listFolder(
  sftp: SFTPWrapper,
  path: string,
  matches: (name: string) => boolean,
): Promise<readonly FileEntryWithStats[]> {
  const handle = await call<Buffer>(path, (done) => sftp.opendir(path, done));
  const matching: FileEntryWithStats[] = [];
  for (let listed = 0; matching.length <= MAX_FOLDER_FILES; ) {
    const part = await call<FileEntryWithStats[] | undefined>(path, (done) =>
      sftp.readdir(handle, (error, entries) => (isEnd(error) ? done(undefined, undefined) : done(error, entries))),
    );
    if (part === undefined) break;
    listed += Math.max(1, part.length);
    if (listed > MOST_ENTRIES)
      throw new FeedReadingError(`the SFTP server lists more than ${MOST_ENTRIES} entries in ${path}`);
    matching.push(...part.filter(({ filename }) => matches(filename)));
  }
  await call<void>(path, (done) => sftp.close(handle, done));
  return matching;
}

/** Servers need not say what kind of file it is: then it counts as one, and reading a folder fails. */
const hasMode = ({ mode }: Partial<Stats>): boolean => mode !== undefined && mode !== 0;

/** The protocol has no more than size and whole seconds. */
const identityOf = ({ size, mtime }: Stats): string => `${size} ${mtime}`;

class MissingFile extends FeedReadingError {}

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
    throw new FeedReadingError(`the SFTP server does not say how large ${path} is, so its end could not be proven`);
  }
  if (before.isDirectory()) {
    throw new FeedReadingError(
      `${path} is a folder, not a feed: name the file in it, or set files: newest or files: all`,
    );
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
    if (identityOf(after) !== identityOf(before))
      throw new FeedReadingError('the file changed while it was being read');
    await call<void>(path, (done) => sftp.close(handle, done));
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof FeedReadingError
      ? error
      : new FeedReadingError(`reading ${path} broke off: ${reasonOf(error)}`);
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
        return reject(new FeedReadingError(`the SFTP server does not let the user read ${path}`));
      reject(new FeedReadingError(`the SFTP server failed on ${path}: ${reasonOf(error)}`));
    });
  });
}

// Opens a session with an SFTP server whose host key is pinned.

const CLOSES_WITHIN_MS = 1_000;

interface SftpSession {
  readonly sftp: SFTPWrapper;
  end(): void;
}

/** Throws {@link FeedReadingError}, and the reason of the signal. */
async function connectSftp(
  { host, port, login }: SftpConfig,
  signal: AbortSignal,
  network: Network | undefined,
): Promise<SftpSession> {
  const client = new Client();
  const server = `the SFTP server ${host}:${port}`;
  let otherKey: string | undefined;
  const onAbort = (): void => void client.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  const end = (): void => {
    signal.removeEventListener('abort', onAbort);
    client.end();
    // A server that does not close its side, as one that still owes answers, would keep the process alive.
    setTimeout(() => client.destroy(), CLOSES_WITHIN_MS).unref();
  };
  try {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      client.on('ready', resolve).on('error', reject);
      client.on('close', () => reject(new Error('the server closed the connection')));
      client.on('keyboard-interactive', (_name, _instructions, _language, prompts, answer) =>
        answer(prompts.map(() => login.password?.reveal() ?? '')),
      );
      client.connect({
        ...(network?.publicOnly === true ? { sock: publicSocket(host, port, network) } : { host, port }),
        username: login.user,
        password: login.password?.reveal(),
        privateKey: login.key?.reveal(),
        passphrase: login.passphrase?.reveal(),
        tryKeyboard: login.password !== undefined,
        // The reading has its own time limits.
        readyTimeout: 0,
        hostVerifier(key: Buffer) {
          const fingerprint = fingerprintOf(key);
          if (login.hostKeys.includes(fingerprint)) return true;
          otherKey = fingerprint;
          return false;
        },
      });
    });
    const sftp = await new Promise<SFTPWrapper>((resolve, reject) => {
      client.sftp((error, session) => (error === undefined ? resolve(session) : reject(error)));
    });
    // A lost connection fails the calls under way; without a listener it would end the process.
    client.on('error', () => undefined);
    return { sftp, end };
  } catch (error) {
    end();
    client.on('error', () => undefined);
    signal.throwIfAborted();
    if (otherKey !== undefined) {
      throw new FeedReadingError(
        `${server} has the host key ${otherKey}, which is not the pinned one; nothing was sent to it. Ask its operator whether the key was changed, and only then set host_key`,
      );
    }
    throw new FeedReadingError(explain(server, error));
  }
}

/** Fails unless every address of the host is public. */
function publicSocket(host: string, port: number, network: Network): Socket {
  if (isIP(host) !== 0 && network.isPrivate(host)) throw refusedPlace();
  return connectTcp({ host, port, lookup: guardLookup(network, refusedPlace) });
}

const fingerprintOf = (key: Buffer): string => `SHA256:${hash('sha256', key, 'base64').replace(/=+$/, '')}`;

function explain(server: string, error: unknown): string {
  const level = error instanceof Error && 'level' in error ? error.level : undefined;
  if (level === 'client-authentication') return `${server} refuses the user, or its password or key`;
  if (error instanceof Error && /privateKey|passphrase/i.test(error.message)) {
    return `the private key for ${server} can't be used: it must be in OpenSSH's format or PEM, and its passphrase right`;
  }
  return `${server} can't be reached: ${reasonOf(error)}`;
}

/** Every server sends this much at once. */
const RANGE_BYTES = 32 * 1024;
const REQUESTS_UNDER_WAY = 32;

/**
 * Reads a file with several requests under way, because each takes as long as a packet to the server and back.
 * Yields exactly `size` bytes. Throws {@link FeedReadingError} if the file is shorter or longer, and what a request throws.
 */
async function* readRanges(sftp: SFTPWrapper, handle: Buffer, size: number): AsyncGenerator<Buffer> {
  const underWay: Promise<Buffer>[] = [];
  let next = 0;
  const request = (): void => {
    const range = readWhole(sftp, handle, next, Math.min(RANGE_BYTES, size - next));
    // It may fail before it is awaited, which must not count as unhandled.
    range.catch(() => undefined);
    underWay.push(range);
    next += RANGE_BYTES;
  };
  while (underWay.length < REQUESTS_UNDER_WAY && next < size) request();
  for (let range = underWay.shift(); range !== undefined; range = underWay.shift()) {
    const bytes = await range;
    if (next < size) request();
    yield bytes;
  }
  if ((await readOnce(sftp, handle, size, 1)).length > 0)
    throw new FeedReadingError('the file grew while it was being read');
}

/** A server may send less than was asked for. */
async function readWhole(sftp: SFTPWrapper, handle: Buffer, from: number, length: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let done = 0; done < length; ) {
    const part = await readOnce(sftp, handle, from + done, length - done);
    if (part.length === 0) throw new FeedReadingError('the file was cut while it was being read');
    parts.push(part);
    done += part.length;
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}

/** SSH_FX_EOF (draft-ietf-secsh-filexfer-02, section 7). */
const isEnd = (error: Error | null | undefined): boolean =>
  error !== undefined && error !== null && 'code' in error && error.code === 1;

/** Empty at the end of the file. */
const readOnce = (sftp: SFTPWrapper, handle: Buffer, from: number, length: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    sftp.read(handle, Buffer.allocUnsafe(length), 0, length, from, (error, bytesRead, buffer) => {
      if (isEnd(error)) resolve(Buffer.alloc(0));
      else if (error) reject(error);
      else resolve(buffer.subarray(0, bytesRead));
    });
  });
