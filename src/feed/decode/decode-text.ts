// Streaming decoders by encoding name. In the decoded text, a lone surrogate stands for undecodable bytes.
// Decodes UTF-16 and UTF-32 itself, because iconv-lite drops an incomplete UTF-16 character at the end.
import iconv from 'iconv-lite';

/** Decodes one stream, whose chunks may be split anywhere. */
export interface DecodeText {
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
export const UNDECODABLE = /[\ud800-\udfff]/u;

/** Known to the library, but not a character encoding for feeds. */
const NO_CHARSETS = /^(base64|hex|binary|utf-?7|cesu-?8)/;

/** Returns the decoder of an encoding; `undefined` if it is unknown. */
export function decoderOf(encoding: string): DecodeText | undefined {
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
