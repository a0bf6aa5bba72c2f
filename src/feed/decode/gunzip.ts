// Decompresses gzip, including several members and two layers; anything else passes through unchanged.
import { MessageChannel } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';
import { FeedReadingError, reasonOf, type SourceDocument } from '../source/source.ts';
import { readHead } from './read-head.ts';

const OUTPUT_BYTES = 524_288;
/** What is known of the end of a document. */
export interface DocumentLength {
  isProven: boolean;
  /** See `SourceDocument`. */
  relayed?: SourceDocument['relayed'];
}

/**
 * The engine offers each chunk as it has written it. Otherwise a slow consumer would get several small ones joined in a buffer of
 * their own, and the engine's buffer would be released although it is still written to, which ends the process.
 */
const ONE_BY_ONE = { readableObjectMode: true, readableHighWaterMark: 1 };
/** A `.gz` file that the server compresses again for transfer has two layers; a feed never has more. */
const MAX_LAYERS = 2;

/**
 * Detects gzip by its first bytes (RFC 1952), whatever names and headers say. A chunk is valid until the next one is
 * requested. Throws {@link FeedReadingError}. @param length set to proven for gzip, which ends with its length and checksum.
 */
export async function* decompress(
  chunks: AsyncIterable<Buffer>,
  length: DocumentLength,
  layers = 0,
): AsyncGenerator<Buffer> {
  const { head, all } = await readHead(chunks, 2);
  if (head[0] !== 0x1f || head[1] !== 0x8b) {
    yield* all;
  } else if (layers === MAX_LAYERS) {
    await all.return(undefined);
    throw new FeedReadingError(`the feed is compressed more than ${MAX_LAYERS} times`);
  } else {
    length.isProven = true;
    // Compression that the transport has not added is that of the source. Before a pipe, a program that failed may feed the one that compresses.
    if (length.relayed !== 'piped' && layers >= (length.relayed === 'encoded' ? 1 : 0)) length.relayed = undefined;
    yield* decompress(gunzip(all), length, layers + 1);
  }
}

async function* gunzip(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const engine = createGunzip({ chunkSize: OUTPUT_BYTES, ...ONE_BY_ONE });
  let fed = 0;
  const feed = async () => {
    for await (const chunk of chunks) {
      fed += chunk.length;
      // The chunk may be reused only after it is written.
      await new Promise((resolve) => engine.write(chunk, resolve));
    }
    engine.end();
  };
  feed().catch((error) => engine.destroy(error));
  let before: ArrayBufferLike | undefined;
  try {
    for await (const chunk of engine as AsyncIterable<Buffer>) {
      // The engine fills one buffer after another; the previous one is no longer needed.
      if (chunk.buffer !== before) {
        release(before);
        before = chunk.buffer;
      }
      yield chunk;
    }
  } catch (error) {
    throw error instanceof Error && 'code' in error && String(error.code).startsWith('Z_') ? explain(error) : error;
  } finally {
    engine.destroy();
    await chunks.return(undefined);
  }
  // The engine takes zero bytes after the last member for padding and stops reading there.
  if (engine.bytesWritten < fed) throw new FeedReadingError('the gzip data is followed by other data');
}

const { port1: discard, port2: closed } = new MessageChannel();
closed.close();
discard.unref();

/**
 * Frees memory at once by transferring it to a closed port. Left to the garbage collector, every 64 MB would cost a
 * full collection: a fifth of a pull's time.
 */
function release(memory: ArrayBufferLike | undefined): void {
  if (memory instanceof ArrayBuffer) discard.postMessage(undefined, [memory]);
}

const explain = (error: Error & { code?: unknown }): FeedReadingError =>
  error.code === 'Z_BUF_ERROR'
    ? new FeedReadingError('the gzip data ends in the middle')
    : new FeedReadingError(`the gzip data is damaged or followed by other data: ${reasonOf(error)}`);

// Counts the bytes of a feed before and after decompression, over all of its documents, and enforces their limits.

export interface Size {
  /** Decompressed bytes. */
  bytes: number;
  compressedBytes: number;
}

export interface SizeLimits {
  /** Decompressed bytes of the whole feed. */
  readonly maxBytes: number;
  /** Decompressed bytes per compressed byte, checked beyond 10 MiB of output. */
  readonly maxRatio: number;
}

/** Thrown at a size limit: nothing more of the feed may be read. */
export class SizeExceeded extends FeedReadingError {}

/** The compression ratio of smaller feeds is not checked. */
export const RATIO_FROM_BYTES = 10 * 1024 * 1024;

export async function* countStoredBytes(chunks: AsyncIterable<Buffer>, size: Size): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    size.compressedBytes += chunk.length;
    yield chunk;
  }
}

/**
 * Counts decompressed bytes, and throws {@link SizeExceeded} at a limit. Bytes up to the limit are passed on, however the
 * chunks are split.
 */
export async function* limitDecompressedBytes(
  chunks: AsyncIterable<Buffer>,
  size: Size,
  limits: SizeLimits,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    size.bytes += chunk.length;
    const excess = size.bytes - limits.maxBytes;
    if (excess > 0) {
      yield chunk.subarray(0, -excess);
      throw new SizeExceeded(`the feed is larger than the limit of ${limits.maxBytes} bytes`);
    }
    if (size.bytes > RATIO_FROM_BYTES && size.bytes > size.compressedBytes * limits.maxRatio) {
      throw new SizeExceeded(`the feed decompresses to more than ${limits.maxRatio} times its size`);
    }
    yield chunk;
  }
}
