// Finds the decoder of an encoding: bytes, chunk by chunk, into text in which all that can't be decoded is a lone surrogate.
import iconv from 'iconv-lite';

/** Decodes one stream, whose chunks may be cut anywhere. */
export interface DecodeText {
  write(chunk: Buffer): string;
  /** What is left at the stream's end. */
  end(): string;
}

/**
 * Stands for bytes that can't be decoded. No encoding of characters has it, U+FFFD several have: as a character of the
 * feed that is data. It is a high surrogate, so that it makes no pair with what stands before it.
 */
const UNDECODED = '\ud800';
/** One lone surrogate. */
export const UNDECODABLE = /[\ud800-\udfff]/u;

/** Known to the library, but no encodings of text that a feed can have. */
const NO_CHARSETS = /^(base64|hex|binary|utf-?7|cesu-?8)/;

/** `undefined`: no such encoding is known. */
export function decoderOf(encoding: string): DecodeText | undefined {
  const plain = encoding.replace(/[^0-9a-z]/g, '');
  if (plain === 'utf16le') return utf16(false);
  if (plain === 'utf16be') return utf16(true);
  if (plain === 'utf32le' || plain === 'ucs4le') return utf32((unit) => unit.readUInt32LE());
  if (plain === 'utf32be' || plain === 'ucs4be') return utf32((unit) => unit.readUInt32BE());
  if (NO_CHARSETS.test(encoding) || !iconv.encodingExists(encoding)) return undefined;
  return libraryDecoder(encoding);
}

/** In whole units of `size` bytes; what is left of one at the end can't be decoded. */
function inUnits(size: number, decode: (units: Buffer) => string): DecodeText {
  let rest: Buffer = Buffer.alloc(0);
  return {
    write(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const whole = bytes.length - (bytes.length % size);
      // A copy: chunks are used again.
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
 * The library writes U+FFFD for what it can't decode. Its decoders of several bytes a character have a property for that;
 * GB 18030, which has a code for U+FFFD, needs another one. In the others U+FFFD is never a character.
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
