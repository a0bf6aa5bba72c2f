// Finds the end of a JSON value in chunks of any size, without parsing it, and notices when strings cannot be where they
// seem to be.

/** Kinds of bytes outside strings, and what precedes the current byte. Numbers, because every byte is looked up. */
const LITERAL = 0;
const SPACE = 1;
const QUOTE = 2;
const OPEN_OBJECT = 3;
const OPEN_ARRAY = 4;
const CLOSE_OBJECT = 5;
const CLOSE_ARRAY = 6;
const COMMA = 7;
const COLON = 8;
const START = 9;
const KINDS = 10;

const KIND_OF = new Uint8Array(256);
for (const byte of ' \t\r\n') KIND_OF[byte.charCodeAt(0)] = SPACE;
for (const [byte, kind] of [
  ['"', QUOTE],
  ['{', OPEN_OBJECT],
  ['[', OPEN_ARRAY],
  ['}', CLOSE_OBJECT],
  [']', CLOSE_ARRAY],
  [',', COMMA],
  [':', COLON],
] as const) {
  KIND_OF[byte.charCodeAt(0)] = kind;
}

const QUOTE_BYTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Which kind may not follow which. An unescaped quote in a string, or a bracket too few, shows as one of these. Other
 * faults, such as a comma too many, do not change where strings and brackets are; the parser of the record reports them.
 */
const IMPOSSIBLE = new Uint8Array(KINDS * KINDS);
const forbid = (before: number, kinds: readonly number[]): void => {
  for (const kind of kinds) IMPOSSIBLE[before * KINDS + kind] = 1;
};
for (const before of [QUOTE, LITERAL, CLOSE_OBJECT, CLOSE_ARRAY]) forbid(before, [QUOTE, OPEN_OBJECT, OPEN_ARRAY]);
for (const before of [QUOTE, CLOSE_OBJECT, CLOSE_ARRAY]) forbid(before, [LITERAL]);
for (const before of [START, OPEN_OBJECT, OPEN_ARRAY, CLOSE_OBJECT, CLOSE_ARRAY, COMMA, COLON]) forbid(before, [COLON]);

/** Brackets are matched by their kind down to this depth; no record nests deeper. */
const MATCHED_DEPTH = 1_024;
/** Shorter strings are searched here, as a native search costs about this much to call. */
const SHORT_STRING = 24;

/** `end`: `at` is behind the value. `more`: its end is not in these bytes. `fault`: the byte at `at` is impossible. */
export type ScanEnd = 'end' | 'more' | 'fault';

/** Positions are relative to the current bytes. */
export class ValueScanner {
  /** The next byte to scan. */
  at = 0;
  #depth = 0;
  #before = START;
  #inString = false;
  /** For each open bracket, whether it is that of an object. */
  readonly #objects = new Uint8Array(MATCHED_DEPTH);

  /** Starts at the first byte of a value. */
  begin(at: number): void {
    this.at = at;
    this.#depth = 0;
    this.#before = START;
    this.#inString = false;
  }

  shift(by: number): void {
    this.at -= by;
  }

  scan(bytes: Buffer): ScanEnd {
    if (this.#inString && !this.#leaveString(bytes)) return 'more';
    if (this.#depth === 0 && this.#before === QUOTE) return 'end';
    const end = bytes.length;
    for (let at = this.at; at < end; at++) {
      const kind = KIND_OF[bytes[at] as number] as number;
      if (kind === SPACE) {
        if (this.#depth === 0 && this.#before === LITERAL) return this.#stop(at, 'end');
        continue;
      }
      // A literal at the top ends before whatever follows.
      if (this.#depth === 0 && this.#before === LITERAL && kind !== LITERAL) return this.#stop(at, 'end');
      if (IMPOSSIBLE[this.#before * KINDS + kind] === 1 || this.#isMisplaced(kind)) return this.#stop(at, 'fault');
      this.#before = kind;
      switch (kind) {
        case QUOTE:
          this.at = at + 1;
          if (!this.#leaveString(bytes)) return 'more';
          if (this.#depth === 0) return 'end';
          at = this.at - 1;
          break;
        case OPEN_OBJECT:
        case OPEN_ARRAY:
          if (this.#depth < MATCHED_DEPTH) this.#objects[this.#depth] = kind === OPEN_OBJECT ? 1 : 0;
          this.#depth++;
          break;
        case CLOSE_OBJECT:
        case CLOSE_ARRAY:
          this.#depth--;
          if (this.#depth === 0) return this.#stop(at + 1, 'end');
          break;
      }
    }
    return this.#stop(end, 'more');
  }

  #stop(at: number, result: ScanEnd): ScanEnd {
    this.at = at;
    return result;
  }

  /** Whether a bracket or a colon does not fit the innermost open bracket. */
  #isMisplaced(kind: number): boolean {
    const depth = this.#depth;
    if (depth === 0) return kind === CLOSE_OBJECT || kind === CLOSE_ARRAY || kind === COMMA;
    if (kind < OPEN_OBJECT || depth > MATCHED_DEPTH) return false;
    const inObject = this.#objects[depth - 1] === 1;
    switch (kind) {
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        return inObject && this.#before !== COLON;
      case CLOSE_OBJECT:
        return !inObject;
      case CLOSE_ARRAY:
      case COLON:
        return kind === COLON ? !inObject : inObject;
      default:
        return false;
    }
  }

  /** Moves behind the quote that ends the current string. False: it is not in these bytes. */
  #leaveString(bytes: Buffer): boolean {
    const end = bytes.length;
    const near = Math.min(end, this.at + SHORT_STRING);
    let at = this.at;
    for (; at < near; at++) {
      const byte = bytes[at];
      if (byte === QUOTE_BYTE) return this.#endString(at + 1);
      if (byte === BACKSLASH) at++;
    }
    // An escape may begin with the last byte: its second byte is still to come.
    if (at > end) at = end - 1;
    else if (at < end) {
      for (let quote = bytes.indexOf(QUOTE_BYTE, at); quote >= 0; quote = bytes.indexOf(QUOTE_BYTE, at)) {
        if (backslashesBefore(bytes, quote, at) % 2 === 0) return this.#endString(quote + 1);
        at = quote + 1;
      }
      at = end - (backslashesBefore(bytes, end, at) % 2);
    }
    this.#inString = true;
    this.at = at;
    return false;
  }

  #endString(at: number): true {
    this.#inString = false;
    this.at = at;
    return true;
  }
}

function backslashesBefore(bytes: Buffer, at: number, from: number): number {
  let first = at;
  while (first > from && bytes[first - 1] === BACKSLASH) first--;
  return at - first;
}
