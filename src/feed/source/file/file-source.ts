// Opens a file as a source, and verifies that it did not change while it was read.
import { type FileHandle, open } from 'node:fs/promises';
import { BrokenOff, type OpenedSource, oneDocument, reasonOf, type SourceKind } from '../source.ts';

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
  return oneDocument({ name: path, chunks: readChunks(file, before, reading), isEndProven, totalBytes });
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
      throw new BrokenOff('the file changed while it was being read');
    }
  } catch (error) {
    throw error instanceof BrokenOff ? error : new BrokenOff(`reading the file failed: ${reasonOf(error)}`);
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
