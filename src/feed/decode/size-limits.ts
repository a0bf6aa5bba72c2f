// Counts the bytes of a feed before and after decompression, over all of its documents, and enforces their limits.
import { BrokenOff } from '../source/source.ts';

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
export class SizeExceeded extends BrokenOff {}

/** The compression ratio of smaller feeds is not checked. */
export const RATIO_FROM_BYTES = 10 * 1024 * 1024;

/** Counts the bytes as stored or sent. */
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
