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
const endOfComment = (bytes: Buffer, from: number): number => after(bytes.indexOf(COMMENT_END, from), 3);

/** Position after the first `?>` that starts at or after `from`, or -1. */
const endOfInstruction = (bytes: Buffer, from: number): number => after(bytes.indexOf(INSTRUCTION_END, from), 2);

const after = (found: number, length: number): number => (found < 0 ? -1 : found + length);

/** State of the search for a tag's end: position, and the open quote (0: none). Changed in place. */
interface TagScan {
  at: number;
  quote: number;
}

/** Moves `scan.at` to the `>` that ends the tag, outside quotes. False: it is not in `bytes` yet. */
function findTagEnd(bytes: Buffer, scan: TagScan): boolean {
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

// The position of a scan in XML bytes, and the construct that it is in, kept from chunk to chunk.

/** The construct that the scan is in. Numbers, because they are compared for every tag of every record. */
export const TEXT = 0;
export const CDATA = 1;
export const COMMENT = 2;
export const INSTRUCTION = 3;
/** Outside records: a tag, a document type declaration. */
export const TAG = 4;
export const DOCTYPE = 5;
/** Inside a record: a tag with the record's name, or a start tag with its parent's name. */
export const OWN_START = 6;
export const OWN_END = 7;
export const PARENT_START = 8;

const NAMES: readonly string[] = ['', 'a CDATA section', 'a comment', 'a processing instruction', 'a tag', 'a DOCTYPE'];

/** Positions are relative to the current bytes; they are negative for bytes no longer held. */
export class MarkupCursor {
  mode = TEXT;
  /** The next byte to scan; inside a tag, see `tag`. */
  at = 0;
  /** The `<` of the current tag or declaration. */
  markupStart = 0;
  /** The state of the search for the end of that tag. */
  readonly tag = { at: 0, quote: 0 };

  /** The current construct, for messages; empty in text and in tags of records. */
  get construct(): string {
    return NAMES[this.mode] ?? '';
  }

  shift(by: number): void {
    this.at -= by;
    this.markupStart -= by;
    this.tag.at -= by;
  }

  /** Continues at `at`, in text or in a section. */
  enter(mode: number, at: number): true {
    this.mode = mode;
    this.at = at;
    return true;
  }

  /** Continues at `at`, inside the tag that starts at `start`. */
  enterTag(mode: number, start: number, at: number): true {
    this.mode = mode;
    this.markupStart = start;
    this.tag.at = at;
    this.tag.quote = 0;
    return true;
  }

  /** Moves past the end of the current CDATA section, comment or instruction. False: it is not in these bytes. */
  leaveSection(bytes: Buffer): boolean {
    let end: number;
    if (this.mode === CDATA) end = endOfCdata(bytes, this.at);
    else if (this.mode === COMMENT) end = endOfComment(bytes, this.at);
    else end = endOfInstruction(bytes, this.at);
    // The end, or the start of another comment, may begin in the last three bytes.
    this.at = end < 0 ? Math.max(this.at, bytes.length - 3) : end;
    return end >= 0;
  }

  /** Moves `tag.at` to the `>` of the current tag. False: it is not in these bytes. */
  findTagEnd(bytes: Buffer): boolean {
    return findTagEnd(bytes, this.tag);
  }
}
