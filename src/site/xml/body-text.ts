// Decodes the bytes of an answer: decompression, charset, size limit; at once, or piece by piece.
import { performance } from 'node:perf_hooks';
import { type Duplex, pipeline, Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify, TextDecoder } from 'node:util';
import { brotliDecompress, createBrotliDecompress, createGunzip, createInflate, gunzip, inflate } from 'node:zlib';

/** The text of a body; `trouble` says why it is incomplete. */
export interface BodyText {
  readonly text: string;
  readonly trouble?: string;
}

const unpackers: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/**
 * Reads a body. `maxBytes` limits the decompressed size. A body that cannot be decompressed gives empty text and a
 * `trouble`. NUL characters become U+FFFD, because Postgres cannot store them.
 */
export async function readBodyText(
  bytes: Buffer,
  contentEncoding: string,
  contentType: string,
  maxBytes: number,
): Promise<BodyText> {
  const encoding = contentEncoding.trim().toLowerCase();
  if (encoding === '' || encoding === 'identity' || bytes.length === 0) {
    return { text: await withoutNul(decode(bytes, contentType)) };
  }
  const unpack = Object.hasOwn(unpackers, encoding) ? unpackers[encoding] : undefined;
  if (!unpack) return { text: '', trouble: `the answer has an unknown content encoding: ${encoding.slice(0, 50)}` };
  try {
    return { text: await withoutNul(decode(await unpack(bytes, { maxOutputLength: maxBytes }), contentType)) };
  } catch (error) {
    const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return {
      text: '',
      trouble: tooLarge ? `the answer is larger than ${maxBytes} bytes` : 'the answer cannot be decompressed',
    };
  }
}

// A body may consist of NULs. `replaceAll` would defer joining its result to the first read, then join it all at once,
// slowly.
async function withoutNul(text: string): Promise<string> {
  if (!text.includes('\0')) return text;
  const pause = timeSlices();
  let clean = '';
  for (let at = 0; at < text.length; at += MAX_PIECE_BYTES) {
    clean += text
      .slice(at, at + MAX_PIECE_BYTES)
      .split('\0')
      .join('\uFFFD');
    await pause();
  }
  return clean;
}

/** A body that cannot be read further. The message says why. */
export class BrokenBody extends Error {
  override readonly name = 'BrokenBody';
}

const openUnpacker: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Maximum length of a piece of text, so processing one takes negligible time. */
const MAX_PIECE_BYTES = 16 << 10;

/** Decodes piece by piece, keeping only the current piece in memory. @throws BrokenBody */
export async function* readBodyPieces(
  chunks: AsyncIterable<Buffer>,
  contentEncoding: string,
  contentType: string,
  maxBytes: number,
): AsyncGenerator<string> {
  let size = 0;
  let decoder: TextDecoder | undefined;
  let head: Buffer = Buffer.alloc(0);
  for await (const chunk of unpack(chunks, contentEncoding.trim().toLowerCase())) {
    size += chunk.length;
    if (size > maxBytes) throw new BrokenBody(`the answer is larger than ${maxBytes} bytes`);
    let bytes = chunk;
    if (decoder === undefined) {
      head = Buffer.concat([head, chunk]);
      if (head.length < HEAD_BYTES) continue;
      decoder = decoderFor(charsetOf(head, contentType));
      bytes = head;
    }
    for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) {
      yield decoder.decode(bytes.subarray(at, at + MAX_PIECE_BYTES), { stream: true });
    }
  }
  if (decoder === undefined) yield decode(head, contentType);
  else yield decoder.decode();
}

async function* unpack(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  if (encoding === '' || encoding === 'identity') return yield* chunks;
  const open = Object.hasOwn(openUnpacker, encoding) ? openUnpacker[encoding] : undefined;
  if (!open) throw new BrokenBody(`the answer has an unknown content encoding: ${encoding.slice(0, 50)}`);
  let broken: unknown;
  const watched = async function* (): AsyncGenerator<Buffer> {
    try {
      yield* chunks;
    } catch (error) {
      broken = error;
      throw error;
    }
  };
  const unpacked = pipeline(Readable.from(watched()), open(), () => {});
  try {
    yield* unpacked;
  } catch {
    throw broken ?? new BrokenBody('the answer cannot be decompressed');
  }
}

/** The charset is declared within this many bytes. */
const HEAD_BYTES = 200;

function decode(bytes: Buffer, contentType: string): string {
  const decoder = decoderFor(charsetOf(bytes, contentType));
  // As a stream: in one go, Node.js 20 reads ISO-8859-1 and Windows-1252 without their `€` and typographic quotes.
  return decoder.decode(bytes, { stream: true }) + decoder.decode();
}

// First the byte order mark, then the header, then the XML declaration (RFC 7303, 3.2).
function charsetOf(bytes: Buffer, contentType: string): string {
  const head = bytes.subarray(0, HEAD_BYTES).toString('latin1');
  return (
    markedCharset(bytes) ??
    /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1] ??
    // .NET declares UTF-16 for texts that it sends in UTF-8: a declaration that can be read as single bytes is not in UTF-16.
    /^\s*<\?xml[^>]*?encoding\s*=\s*["'](?!utf-?16|ucs-?2)([\w.:-]+)/i.exec(head)?.[1] ??
    'utf-8'
  );
}

function markedCharset(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

function decoderFor(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/**
 * Cuts text to at most `maxBytes` of UTF-8, at a character boundary, and appends a note that it was cut.
 * @param bytes the full length, if the text is only a beginning.
 */
export function cutText(text: string, maxBytes: number, bytes = 0): string {
  const length = Math.max(bytes, Buffer.byteLength(text));
  if (length <= maxBytes) return text;
  const mark = `\n[cut: ${length} bytes in all]`;
  const kept = Buffer.from(text).subarray(0, maxBytes - mark.length);
  // A character cut in two decodes to U+FFFD at the end.
  return kept.toString().replace(/\uFFFD{1,3}$/, '') + mark;
}

// Divides long work into slices of a few milliseconds and yields to the event loop between them.

/** Other work of the process waits about this long at most. */
const SLICE_MS = 6;

/** Await between small parts of a piece of work; yields to the event loop once a slice is over. */
export type Pause = () => Promise<void>;

export function timeSlices(): Pause {
  let workedFrom = performance.now();
  return async () => {
    if (performance.now() - workedFrom < SLICE_MS) return;
    await nextTurn();
    workedFrom = performance.now();
  };
}
