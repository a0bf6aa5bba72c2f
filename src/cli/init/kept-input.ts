// Keeps standard input in a temporary file, because `init` reads its feed several times.
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UserError } from '../../runtime/exit-status.ts';

export interface KeptInput {
  readonly path: string;
  /** The input, from its beginning. */
  read(): Readable;
  remove(): Promise<void>;
}

/** As much as a feed may have by default. */
const MOST_BYTES = 64 * 1024 ** 3;

/** @param most bytes. Throws a `UserError` if there is more, and the reason of the signal. */
export async function keepInput(input: Readable, signal: AbortSignal, most = MOST_BYTES): Promise<KeptInput> {
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-input-'));
  const path = join(folder, 'input');
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await pipeline(input, bounded(most), createWriteStream(path, { mode: 0o600 }), { signal });
  } catch (error) {
    await remove();
    signal.throwIfAborted();
    throw error;
  }
  return { path, read: () => createReadStream(path), remove };
}

const bounded = (most: number) =>
  async function* (chunks: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer | string> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > most) throw new UserError(`standard input has more than ${most} bytes`);
      yield chunk;
    }
  };
