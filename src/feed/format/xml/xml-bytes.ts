// Fast primitives on XML in raw UTF-8 bytes: find the next markup, or the end of a section or tag.

const LESS_THAN = 0x3c;
const GREATER_THAN = 0x3e;
export const SLASH = 0x2f;
export const EXCLAMATION = 0x21;
export const QUESTION = 0x3f;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;

export const CDATA_START = Buffer.from('<![CDATA[');
export const COMMENT_START = Buffer.from('<!--');
export const INSTRUCTION_START = Buffer.from('<?');
export const DOCTYPE_START = Buffer.from('<!DOCTYPE');
const CDATA_END = Buffer.from(']]>');
const COMMENT_END = Buffer.from('-->');
const INSTRUCTION_END = Buffer.from('?>');

/**
 * How far to search byte by byte before using the native search, whose call costs about 100 ns, as much as this many
 * steps. Names and short values end sooner, descriptions do not.
 */
const NEAR_BYTES = 48;

/** Position of the next `<` at or after `from`, or -1. */
export function indexOfMarkup(bytes: Buffer, from: number): number {
  const length = bytes.length;
  const near = Math.min(from + NEAR_BYTES, length);
  for (let at = from; at < near; at++) if (bytes[at] === LESS_THAN) return at;
  return near === length ? -1 : bytes.indexOf(LESS_THAN, near);
}

/** Whether the `<` at `at` begins `<![CDATA[`. */
export const isCdataStart = (bytes: Buffer, at: number): boolean =>
  bytes[at + 1] === EXCLAMATION &&
  bytes[at + 2] === BRACKET_OPEN &&
  bytes[at + 8] === BRACKET_OPEN &&
  holdsAt(bytes, at, CDATA_START);

/**
 * Position after the first `]]>` that starts at or after `from`, or -1. Skips two of three bytes: unless the third byte
 * of a possible `]]>` is `]` or `>`, no `]]>` can overlap it (Horspool's algorithm, unrolled).
 */
export function endOfCdata(bytes: Buffer, from: number): number {
  const length = bytes.length;
  const near = Math.min(from + 3 * NEAR_BYTES, length);
  let at = from + 2;
  while (at < near) {
    const byte = bytes[at];
    if (byte === BRACKET_CLOSE) at += 1;
    else if (byte === GREATER_THAN && bytes[at - 1] === BRACKET_CLOSE && bytes[at - 2] === BRACKET_CLOSE) return at + 1;
    else at += 3;
  }
  return near === length ? -1 : after(bytes.indexOf(CDATA_END, at - 2), 3);
}

/** Position after the first `-->` that starts at or after `from`, or -1. */
export const endOfComment = (bytes: Buffer, from: number): number => after(bytes.indexOf(COMMENT_END, from), 3);

/** Position after the first `?>` that starts at or after `from`, or -1. */
export const endOfInstruction = (bytes: Buffer, from: number): number => after(bytes.indexOf(INSTRUCTION_END, from), 2);

const after = (found: number, length: number): number => (found < 0 ? -1 : found + length);

/** State of the search for a tag's end: position, and the open quote (0: none). Changed in place. */
export interface TagScan {
  at: number;
  quote: number;
}

/** Moves `scan.at` to the `>` that ends the tag, outside quotes. False: it is not in `bytes` yet. */
export function findTagEnd(bytes: Buffer, scan: TagScan): boolean {
  let quote = scan.quote;
  let at = scan.at;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (quote !== 0) {
      if (byte === quote) quote = 0;
    } else if (byte === GREATER_THAN) {
      break;
    } else if (byte === DOUBLE_QUOTE || byte === SINGLE_QUOTE) {
      quote = byte;
    }
  }
  scan.at = at;
  scan.quote = quote;
  return at < bytes.length;
}

/** Whether a byte ends a tag's name: white space, `/` or `>`. */
export const endsName = (byte: number | undefined): boolean =>
  byte !== undefined && (byte <= 0x20 || byte === GREATER_THAN || byte === SLASH);

/** Position of the first byte at or after `from` that ends a name, or -1. */
export function endOfName(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) if (endsName(bytes[at])) return at;
  return -1;
}

/** Whether `bytes` contains `sought` at `from`. */
export function holdsAt(bytes: Buffer, from: number, sought: Uint8Array): boolean {
  if (from + sought.length > bytes.length) return false;
  for (let at = 0; at < sought.length; at++) if (bytes[from + at] !== sought[at]) return false;
  return true;
}

/** Position of the first byte in `from..to` that is not white space, or `to`. */
export function skipSpace(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && (bytes[at] ?? 0) <= 0x20) at++;
  return at;
}
