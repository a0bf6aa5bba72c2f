// Turns the bytes of a feed, in whatever encoding they are, into UTF-8.
import iconv from 'iconv-lite';
import { readHead } from './read-head.ts';
import { BrokenOff } from './source-body.ts';

/** What is said about the encoding, besides the bytes themselves. */
export interface EncodingHints {
  readonly configured?: string;
  /** `charset` of the HTTP header Content-Type. */
  readonly transport?: string;
}

/** Byte order marks, the surest sign there is. */
const MARKS: readonly (readonly [Buffer, string])[] = [
  [Buffer.of(0xef, 0xbb, 0xbf), 'utf-8'],
  [Buffer.of(0xff, 0xfe, 0x00, 0x00), 'utf-32le'],
  [Buffer.of(0x00, 0x00, 0xfe, 0xff), 'utf-32be'],
  [Buffer.of(0xff, 0xfe), 'utf-16le'],
  [Buffer.of(0xfe, 0xff), 'utf-16be'],
];

/** `<?` or a `<` with a letter, in UTF-16 without a mark (XML 1.0, appendix F). */
const isUtf16 = (head: Buffer, less: number, zero: number): boolean =>
  head.length >= 4 && head[less] === 0x3c && head[zero] === 0 && head[zero + 2] === 0 && head[less + 2] !== 0;

/** Names that people give to what is really another encoding (WHATWG Encoding Standard, 4.2), in our words for them. */
const ALIASES: Readonly<Record<string, string>> = {
  utf8: 'utf-8',
  'us-ascii': 'utf-8',
  ascii: 'utf-8',
  'iso-8859-1': 'windows-1252',
  'iso8859-1': 'windows-1252',
  'iso_8859-1': 'windows-1252',
  latin1: 'windows-1252',
};

/** Known to the library, but no encodings of text that a feed can have. */
const NO_CHARSETS = /^(base64|hex|binary|utf-?7)/;

/**
 * Decodes the stream. Whoever comes first decides: the configuration, a byte order mark, the HTTP header (RFC 7303, 3),
 * the XML declaration, UTF-8. UTF-8 passes through as it is, without its mark; whether it is valid shows record by
 * record. Throws {@link BrokenOff} for an encoding that is not known.
 */
export async function* toUtf8(chunks: AsyncIterable<Buffer>, hints: EncodingHints): AsyncGenerator<Buffer> {
  const { head, all } = await readHead(chunks, 1_024);
  try {
    const encoding = chooseEncoding(head, hints);
    if (encoding === 'utf-8') yield* withoutMark(all, head);
    else yield* decode(all, encoding);
  } finally {
    await all.return(undefined);
  }
}

function chooseEncoding(head: Buffer, hints: EncodingHints): string {
  const mark = MARKS.find(([bytes]) => head.subarray(0, bytes.length).equals(bytes))?.[1];
  const name = (hints.configured ?? mark ?? hints.transport ?? declaredIn(head) ?? 'utf-8').toLowerCase();
  const encoding = ALIASES[name] ?? name;
  if (NO_CHARSETS.test(encoding) || !iconv.encodingExists(encoding)) {
    throw new BrokenOff(
      `the encoding "${name.slice(0, 40)}" is not known; set encoding for this feed, such as utf-8 or windows-1252`,
    );
  }
  return encoding;
}

function declaredIn(head: Buffer): string | undefined {
  if (isUtf16(head, 0, 1)) return 'utf-16le';
  if (isUtf16(head, 1, 0)) return 'utf-16be';
  const declaration = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)["']/.exec(head.toString('latin1'))?.[1];
  // A declaration that can be read byte by byte is not in UTF-16, although some programs write so.
  return declaration !== undefined && /^utf-?(16|32)/i.test(declaration) ? 'utf-8' : declaration;
}

async function* withoutMark(chunks: AsyncIterable<Buffer>, head: Buffer): AsyncGenerator<Buffer> {
  let skip = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  for await (const chunk of chunks) {
    yield chunk.subarray(skip);
    skip = 0;
  }
}

async function* decode(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const decoder = iconv.getDecoder(encoding);
  let half = '';
  for await (const chunk of chunks) {
    const text = half + decoder.write(chunk);
    // Half of a surrogate pair waits for the other half.
    const last = text.charCodeAt(text.length - 1);
    const cut = last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
    half = text.slice(cut);
    yield Buffer.from(text.slice(0, cut));
  }
  yield Buffer.from(half + (decoder.end() ?? ''));
}
