// Reads the files of a zip archive as documents. The archive is kept in a temporary file, because its list of files is at its
// end; the files in it are never written anywhere, so their names can do no harm.
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl';
import { FeedReadingError, idOfDocument, reasonOf, type SourceDocument } from '../source/source.ts';
import { RATIO_FROM_BYTES, SizeExceeded, type SizeLimits } from './gunzip.ts';

/** A feed with more files is none. */
const MAX_FILES = 10_000;
const MAX_NAME_CHARACTERS = 200;
const [STORED, DEFLATED] = [0, 8];

/** Yields the files of the archive. The first one fails if the archive cannot be read. */
export async function* readZip(
  document: SourceDocument,
  limits: SizeLimits,
  signal: AbortSignal,
): AsyncGenerator<SourceDocument> {
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-zip-'));
  let file: FileHandle | undefined;
  try {
    file = await open(join(folder, 'archive.zip'), 'wx+', 0o600);
    // An open file needs no name, except on Windows; without one, nothing is left behind however the process ends.
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    let archive: ZipFile;
    let entries: readonly Entry[];
    try {
      const bytes = await spool(document.chunks, file, limits);
      archive = await openZip(file);
      entries = await listFiles(archive);
      refuseBomb(entries, bytes, limits);
      refuseOffice(entries);
      refuseTwoVersions(entries);
    } catch (error) {
      signal.throwIfAborted();
      yield { ...document, chunks: failing(error) };
      return;
    }
    for (const entry of entries) {
      const name = nameOf(entry);
      const { uncompressedSize: totalBytes } = entry;
      const chunks = readFile(archive, entry, signal);
      const { pageOf, stop, madeAt, isCached } = document;
      const id = `${idOfDocument(document)}, ${name}`;
      const from = { pageOf, stop, madeAt, isCached };
      yield { name: `${document.name}, ${name}`, id, chunks, isEndProven: true, totalBytes, ...from };
    }
  } finally {
    await file?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function refuseOffice(entries: readonly Entry[]): void {
  if (!entries.some((entry) => /^(?:\[Content_Types\]|META-INF\/manifest)\.xml$/.test(nameOf(entry)))) return;
  throw new FeedReadingError('it is a workbook, as of Excel, or another document of an office program; save it as CSV');
}

/** A file that is added again stays in the archive beside its new version; some programs read the first one, some the last. */
function refuseTwoVersions(entries: readonly Entry[]): void {
  const checksums = new Map<string, number>();
  for (const entry of entries) {
    const name = wholeNameOf(entry);
    if ((checksums.get(name) ?? entry.crc32) !== entry.crc32) {
      throw new FeedReadingError(
        `the zip archive has two versions of ${nameOf(entry)}; let the source write a new archive for each version`,
      );
    }
    checksums.set(name, entry.crc32);
  }
}

/** Returns how many bytes the archive has. */
async function spool(chunks: AsyncIterable<Buffer>, file: FileHandle, { maxBytes }: SizeLimits): Promise<number> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new SizeExceeded(`the zip archive is larger than the limit of ${maxBytes} bytes`);
    try {
      for (let written = 0; written < chunk.length; ) {
        written += (await file.write(chunk, written)).bytesWritten;
      }
    } catch (error) {
      throw new FeedReadingError(`the zip archive can't be kept in ${tmpdir()}: ${reasonOf(error)}`);
    }
  }
  return bytes;
}

async function openZip(file: FileHandle): Promise<ZipFile> {
  try {
    // Names are only shown: they need not be safe as paths.
    return await fromFdPromise(file.fd, { autoClose: false, decodeStrings: false, validateEntrySizes: true });
  } catch (error) {
    throw new FeedReadingError(`the zip archive is cut or damaged: ${reasonOf(error)}`);
  }
}

async function listFiles(archive: ZipFile): Promise<readonly Entry[]> {
  if (archive.entryCount > MAX_FILES) throw new FeedReadingError(`the zip archive has more than ${MAX_FILES} files`);
  const entries: Entry[] = [];
  try {
    for await (const entry of archive.eachEntry()) if (isFeedFile(wholeNameOf(entry))) entries.push(entry);
  } catch (error) {
    throw new FeedReadingError(`the zip archive is cut or damaged: ${reasonOf(error)}`);
  }
  if (entries.length === 0) throw new FeedReadingError('the zip archive has no files');
  return entries;
}

/** Folders, and what desktop systems add, are no files of the feed. */
const isFeedFile = (name: string): boolean =>
  !/\/$|^__MACOSX\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/.test(name);

const wholeNameOf = ({ fileNameRaw }: Entry): string => fileNameRaw.toString('utf8');

/** For people. */
const nameOf = (entry: Entry): string => wholeNameOf(entry).slice(0, MAX_NAME_CHARACTERS);

/** Files may share their bytes in the archive, so their sum is checked, and reading one fails beyond its declared size. */
function refuseBomb(entries: readonly Entry[], archiveBytes: number, { maxBytes, maxRatio }: SizeLimits): void {
  const bytes = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
  if (bytes > maxBytes) throw new SizeExceeded(`the feed is larger than the limit of ${maxBytes} bytes`);
  if (bytes > RATIO_FROM_BYTES && bytes > archiveBytes * maxRatio) {
    throw new SizeExceeded(`the zip archive decompresses to more than ${maxRatio} times its size`);
  }
}

/** Ends only if the file has the declared size and checksum. */
async function* readFile(archive: ZipFile, entry: Entry, signal: AbortSignal): AsyncGenerator<Buffer> {
  if (entry.isEncrypted()) throw new FeedReadingError('it is encrypted, which jobmirror cannot read');
  const method = entry.compressionMethod;
  if (method !== STORED && method !== DEFLATED) {
    throw new FeedReadingError(
      `it is compressed by method ${method}; jobmirror reads only deflate (${DEFLATED}) and stored files`,
    );
  }
  let checksum = 0;
  try {
    for await (const chunk of (await archive.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      signal.throwIfAborted();
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new FeedReadingError(`it is damaged in the zip archive: ${reasonOf(error)}`);
  }
  if (checksum !== entry.crc32) throw new FeedReadingError('it is damaged in the zip archive: its checksum is wrong');
}

const failing = (error: unknown): AsyncIterable<Buffer> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
});
