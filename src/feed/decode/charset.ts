// Converts a feed in any encoding to UTF-8. Undecodable bytes become a byte that never occurs in UTF-8, so they are
// detected wherever they are.
import iconv from 'iconv-lite';
import { FeedReadingError } from '../source/source.ts';
import { readHead } from './read-head.ts';

// Streaming decoders by encoding name. In the decoded text, a lone surrogate stands for undecodable bytes.
// Decodes UTF-16 and UTF-32 itself, because iconv-lite drops an incomplete UTF-16 character at the end.

/** Decodes one stream, whose chunks may be split anywhere. */
interface DecodeText {
  write(chunk: Buffer): string;
  /** Returns the rest at the end of the stream. */
  end(): string;
}

/**
 * Stands for undecodable bytes. No encoding can produce it, unlike U+FFFD, which several can and which is data then. A
 * high surrogate never forms a pair with the text before it.
 */
const UNDECODED = '\ud800';
/** Matches one lone surrogate. */
const UNDECODABLE = /[\ud800-\udfff]/u;

/** Known to the library, but not a character encoding for feeds. */
const NO_CHARSETS = /^(base64|hex|binary|utf-?7|cesu-?8)/;

/** Returns the decoder of an encoding; `undefined` if it is unknown. */
function decoderOf(encoding: string): DecodeText | undefined {
  const plain = encoding.replace(/[^0-9a-z]/g, '');
  if (plain === 'utf16le') return utf16(false);
  if (plain === 'utf16be') return utf16(true);
  if (plain === 'utf32le' || plain === 'ucs4le') return utf32((unit) => unit.readUInt32LE());
  if (plain === 'utf32be' || plain === 'ucs4be') return utf32((unit) => unit.readUInt32BE());
  if (NO_CHARSETS.test(encoding) || !iconv.encodingExists(encoding)) return undefined;
  return libraryDecoder(encoding);
}

/** Decodes whole units of `size` bytes; an incomplete unit at the end is undecodable. */
function inUnits(size: number, decode: (units: Buffer) => string): DecodeText {
  let rest: Buffer = Buffer.alloc(0);
  return {
    write(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const whole = bytes.length - (bytes.length % size);
      // Copy, because chunks are reused.
      rest = Buffer.from(bytes.subarray(whole));
      return decode(bytes.subarray(0, whole));
    },
    end: () => (rest.length === 0 ? '' : UNDECODED),
  };
}

const utf16 = (swapped: boolean): DecodeText =>
  inUnits(2, (units) => (swapped ? Buffer.from(units).swap16() : units).toString('utf16le'));

function utf32(codeOf: (unit: Buffer) => number): DecodeText {
  return inUnits(4, (units) => {
    let text = '';
    for (let at = 0; at < units.length; at += 4) {
      const code = codeOf(units.subarray(at, at + 4));
      const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
      text += isCharacter ? String.fromCodePoint(code) : UNDECODED;
    }
    return text;
  });
}

/**
 * The library writes U+FFFD for undecodable bytes. Its multi-byte decoders have a property to change that, which GB
 * 18030 needs because it has a code for U+FFFD. In the other encodings U+FFFD is never a character.
 */
function libraryDecoder(encoding: string): DecodeText {
  const decoder: iconv.DecoderStream & { defaultCharUnicode?: string } = iconv.getDecoder(encoding, {
    stripBOM: false,
  });
  if (decoder.defaultCharUnicode !== undefined) {
    decoder.defaultCharUnicode = UNDECODED;
    return { write: (chunk) => decoder.write(chunk), end: () => decoder.end() ?? '' };
  }
  const marked = (text: string) => (text.includes('\ufffd') ? text.replaceAll('\ufffd', UNDECODED) : text);
  return { write: (chunk) => marked(decoder.write(chunk)), end: () => marked(decoder.end() ?? '') };
}

/** What is known about the encoding, other than from the bytes themselves. */
interface EncodingHints {
  readonly configured?: string;
  /** `charset` of the HTTP header Content-Type. */
  readonly transport?: string;
}

/** Byte order marks, the most reliable sign of an encoding. */
const MARKS: readonly (readonly [Buffer, string])[] = [
  [Buffer.of(0xef, 0xbb, 0xbf), 'utf-8'],
  [Buffer.of(0xff, 0xfe, 0x00, 0x00), 'utf-32le'],
  [Buffer.of(0x00, 0x00, 0xfe, 0xff), 'utf-32be'],
  [Buffer.of(0xff, 0xfe), 'utf-16le'],
  [Buffer.of(0xfe, 0xff), 'utf-16be'],
];

/** Detects ASCII in UTF-16 without a byte order mark, as `<?` (XML 1.0, appendix F), `[{` or the first name of a table. */
const isUtf16 = (head: Buffer, first: number, zero: number): boolean =>
  head.length >= 4 && isAscii(head[first]) && head[zero] === 0 && head[zero + 2] === 0 && isAscii(head[first + 2]);

const isAscii = (byte = 0): boolean => (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d;

/** Names commonly used for another encoding (WHATWG Encoding Standard, 4.2), reduced to letters and digits. */
const ALIASES: Readonly<Record<string, string>> = {
  utf8: 'utf-8',
  unicode11utf8: 'utf-8',
  usascii: 'utf-8',
  ascii: 'utf-8',
  iso88591: 'windows-1252',
  latin1: 'windows-1252',
};

const REPLACEMENT_BYTE = Buffer.of(0xff);

/** Whether the configured encoding is supported. */
export function isKnownEncoding(configured: string): boolean {
  try {
    return chooseDecoder(Buffer.alloc(0), { configured }) !== undefined;
  } catch (error) {
    if (error instanceof FeedReadingError) return false;
    throw error;
  }
}

/**
 * Decodes the stream. The encoding is taken from, in this order: the configuration, a byte order mark, the HTTP header
 * (RFC 7303, 3), the XML declaration or an HTML page's `meta`; otherwise it is UTF-8. UTF-8 passes through unchanged,
 * without its mark. Undecodable bytes become the byte FF, which makes their record invalid UTF-8, as in a UTF-8 feed. Throws {@link
 * BrokenOff} for an unknown encoding.
 */
export async function* toUtf8(chunks: AsyncIterable<Buffer>, hints: EncodingHints): AsyncGenerator<Buffer> {
  const { head, all } = await readHead(chunks, 1_024);
  try {
    const decoder = chooseDecoder(head, hints);
    if (decoder === 'utf-8') yield* withoutMark(all, head);
    else yield* decode(all, decoder);
  } finally {
    await all.return(undefined);
  }
}

function chooseDecoder(head: Buffer, hints: EncodingHints): DecodeText | 'utf-8' {
  const mark = MARKS.find(([bytes]) => head.subarray(0, bytes.length).equals(bytes))?.[1];
  const name = (hints.configured ?? mark ?? hints.transport ?? declaredIn(head) ?? 'utf-8').toLowerCase();
  const plain = name.replace(/:\d{4}$|[^0-9a-z]/g, '');
  const encoding = ALIASES[plain] ?? name;
  if (encoding === 'utf-8') return encoding;
  // If the name has no byte order, take it from the bytes, or use the usual one.
  const width = /^(?:utf|ucs)(2|4|16|32)$/.exec(plain)?.[1];
  const ordered = width === undefined ? encoding : orderedUtf(width === '4' || width === '32' ? 32 : 16, head, mark);
  const decoder = decoderOf(ordered);
  if (decoder === undefined) {
    throw new FeedReadingError(
      `unknown encoding "${name.slice(0, 40)}"; set encoding for this feed, for example utf-8 or windows-1252`,
    );
  }
  return decoder;
}

function orderedUtf(bits: 16 | 32, head: Buffer, mark: string | undefined): string {
  if (mark?.startsWith(`utf-${bits}`)) return mark;
  if (bits === 16) return isUtf16(head, 1, 0) ? 'utf-16be' : 'utf-16le';
  return head[3] === 0x3c && head[0] === 0 ? 'utf-32be' : 'utf-32le';
}

const XML_DECLARATION = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)["']/;
const HTML_START = /^\s*(?:<!--[^>]*-->\s*)?<(?:!doctype\s+html|html)[\s>]/i;
/** Of an HTML page: `<meta charset="…">`, or `content="text/html; charset=…"` (WHATWG HTML, 13.2.3.2). */
const META_CHARSET = /<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]+)/i;

function declaredIn(head: Buffer): string | undefined {
  if (isUtf16(head, 0, 1)) return 'utf-16le';
  if (isUtf16(head, 1, 0)) return 'utf-16be';
  const text = head.toString('latin1');
  const declaration = (XML_DECLARATION.exec(text) ?? (HTML_START.test(text) ? META_CHARSET.exec(text) : null))?.[1];
  // A declaration that is readable as single bytes can't be UTF-16, although some programs write that.
  return declaration !== undefined && /^utf-?(16|32)/i.test(declaration) ? 'utf-8' : declaration;
}

async function* withoutMark(chunks: AsyncIterable<Buffer>, head: Buffer): AsyncGenerator<Buffer> {
  let skip = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  for await (const chunk of chunks) {
    yield chunk.subarray(skip);
    skip = 0;
  }
}

async function* decode(chunks: AsyncIterable<Buffer>, decoder: DecodeText): AsyncGenerator<Buffer> {
  let half = '';
  let begun = false;
  for await (const chunk of chunks) {
    let text = half + decoder.write(chunk);
    if (!begun && text !== '') {
      begun = true;
      if (text.startsWith('\ufeff')) text = text.slice(1);
    }
    // Keep half a surrogate pair until the other half arrives.
    const last = text.charCodeAt(text.length - 1);
    const cut = last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
    half = text.slice(cut);
    yield encode(text.slice(0, cut));
  }
  yield encode(half + decoder.end());
}

/** Encodes as UTF-8, with the byte FF for each lone surrogate, which stands for undecodable input or no character. */
function encode(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const parts: Buffer[] = [];
  for (const part of text.split(UNDECODABLE)) parts.push(REPLACEMENT_BYTE, Buffer.from(part));
  return Buffer.concat(parts.slice(1));
}
