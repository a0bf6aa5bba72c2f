// Finds the end of a JSON value in chunks of any size, without parsing it, and notices when strings cannot be where they
// seem to be.

/** Brackets are matched by their kind down to this depth; no record nests deeper. */
const MATCHED_DEPTH = 1_024;

/** `end`: `at` is behind the value. `more`: its end is not in these bytes. `fault`: the byte at `at` is impossible. */
type ScanEnd = 'end' | 'more' | 'fault';

/** Positions are relative to the current bytes. */
export class ValueScanner {
  /** The next byte to scan. */
  at = 0;
  #depth = 0;
  #state = START;
  #inString = false;
  readonly #strings = new StringScanner();
  /** What is open at each depth, from 1. */
  readonly #containers = new Uint8Array(MATCHED_DEPTH + 1).fill(NONE);

  /** Starts at the first byte of a value. */
  begin(at: number): void {
    this.at = at;
    this.#depth = 0;
    this.#state = START;
    this.#inString = false;
  }

  shift(by: number): void {
    this.at -= by;
  }

  scan(bytes: Buffer): ScanEnd {
    if (this.#inString) {
      if (!this.#leaveString(bytes, this.at)) return 'more';
      if (this.#depth === 0) return 'end';
    }
    const end = bytes.length;
    let state = this.#state;
    for (let at = this.at; at < end; at++) {
      const step = STEPS[state | (KIND_OF[bytes[at] as number] as number)] as number;
      state = step & ~ACTION;
      switch (step & ACTION) {
        case 0:
          break;
        case STRING:
          this.#state = state;
          if (!this.#leaveString(bytes, at + 1)) return 'more';
          if (this.#depth === 0) return 'end';
          at = this.at - 1;
          break;
        case OPEN:
          this.#depth++;
          if (this.#depth > MATCHED_DEPTH) state = AFTER_DEEP_OPENING;
          else this.#containers[this.#depth] = containerOf(state);
          break;
        case CLOSE:
          this.#depth--;
          if (this.#depth === 0) return this.#stop(at + 1, 'end');
          state = afterClosing(this.#depth > MATCHED_DEPTH ? UNKNOWN : (this.#containers[this.#depth] as number));
          break;
        case END:
          return this.#stop(at, 'end');
        case FAULT:
          return this.#stop(at, 'fault');
      }
    }
    this.#state = state;
    return this.#stop(end, 'more');
  }

  #stop(at: number, result: ScanEnd): ScanEnd {
    this.at = at;
    return result;
  }

  /** Moves behind the quote that ends the string. False: it is not in these bytes. */
  #leaveString(bytes: Buffer, from: number): boolean {
    const behind = this.#strings.findEnd(bytes, from);
    this.#inString = behind < 0;
    this.at = behind < 0 ? this.#strings.next : behind;
    return behind >= 0;
  }
}

// What each byte of a JSON value does outside strings, as one table, because every byte is looked up: which byte may
// follow which, and where brackets open and close. An unescaped quote in a string, or a bracket too few, shows as an
// impossible byte. Other faults, such as a comma too many, do not change where strings and brackets are; the parser of the
// record reports them.

/** Kinds of bytes, and what precedes the current byte. */
const LITERAL = 0;
const SPACE = 1;
const QUOTE = 2;
const OPEN_OBJECT = 3;
const OPEN_ARRAY = 4;
const CLOSE_OBJECT = 5;
const CLOSE_ARRAY = 6;
const COMMA = 7;
const COLON = 8;
/** Nothing precedes. */
const FIRST = 9;

const KINDS = [LITERAL, SPACE, QUOTE, OPEN_OBJECT, OPEN_ARRAY, CLOSE_OBJECT, CLOSE_ARRAY, COMMA, COLON] as const;
type Kind = (typeof KINDS)[number];
type Before = Kind | typeof FIRST;

/** The kind of each byte. */
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

/** The innermost open bracket. */
const NONE = 0;
const OBJECT = 1;
const ARRAY = 2;
/** Deeper than brackets are matched by their kind. */
const UNKNOWN = 3;
const CONTAINERS = [NONE, OBJECT, ARRAY, UNKNOWN] as const;
type Container = (typeof CONTAINERS)[number];

/** A state: the innermost open bracket, and what precedes the current byte. Its lowest four bits are free for a kind. */
const CONTAINER_SHIFT = 8;
const BEFORE_SHIFT = 4;
const stateOf = (container: number, before: Before): number =>
  (container << CONTAINER_SHIFT) | (before << BEFORE_SHIFT);
const START = stateOf(NONE, FIRST);
const containerOf = (state: number): number => state >> CONTAINER_SHIFT;
/** The state after an opening bracket that is too deep to be matched. */
const AFTER_DEEP_OPENING = stateOf(UNKNOWN, OPEN_ARRAY);
/** The state after a closing bracket, in what is open then. */
const afterClosing = (container: number): number => stateOf(container, CLOSE_OBJECT);

/** What to do besides entering the next state, in the bits above it. */
const ACTION = 0xf000;
const STRING = 0x1000;
/** The next state is the one inside the bracket. */
const OPEN = 0x2000;
/** What the next state is depends on what is open then. */
const CLOSE = 0x3000;
/** A literal at the top ends before whatever follows. */
const END = 0x4000;
const FAULT = 0x5000;

/** By state and kind: the next state, with an action. */
const STEPS = new Uint16Array(1024);

const VALUES: readonly Before[] = [QUOTE, LITERAL, CLOSE_OBJECT, CLOSE_ARRAY];

/** Whether the kinds of bytes may follow each other. */
function mayFollow(before: Before, kind: Kind): boolean {
  switch (kind) {
    case QUOTE:
    case OPEN_OBJECT:
    case OPEN_ARRAY:
      return !VALUES.includes(before);
    case LITERAL:
      return before === LITERAL || !VALUES.includes(before);
    case COLON:
      return before === QUOTE || before === LITERAL;
    default:
      return true;
  }
}

/** Whether the byte is possible there. */
function fits(container: Container, before: Before, kind: Kind): boolean {
  switch (kind) {
    case OPEN_OBJECT:
    case OPEN_ARRAY:
      return container !== OBJECT || before === COLON;
    case CLOSE_OBJECT:
      return container === OBJECT || container === UNKNOWN;
    case CLOSE_ARRAY:
      return container === ARRAY || container === UNKNOWN;
    case COMMA:
      return container !== NONE;
    case COLON:
      return container !== ARRAY;
    default:
      return true;
  }
}

function stepOf(container: Container, before: Before, kind: Kind): number {
  const state = stateOf(container, before);
  if (container === NONE && before === LITERAL && kind !== LITERAL) return END | state;
  if (kind === SPACE) return state;
  if (!mayFollow(before, kind) || !fits(container, before, kind)) return FAULT | state;
  switch (kind) {
    case QUOTE:
      return STRING | stateOf(container, QUOTE);
    case OPEN_OBJECT:
      return OPEN | stateOf(OBJECT, OPEN_OBJECT);
    case OPEN_ARRAY:
      return OPEN | stateOf(ARRAY, OPEN_ARRAY);
    case CLOSE_OBJECT:
    case CLOSE_ARRAY:
      return CLOSE | state;
    default:
      return stateOf(container, kind);
  }
}

for (const container of CONTAINERS) {
  for (const before of [...KINDS, FIRST] as const) {
    for (const kind of KINDS) STEPS[stateOf(container, before) | kind] = stepOf(container, before, kind);
  }
}

// Finds the quote that ends a JSON string: four bytes at a time, as most strings are short, and natively in long ones.

const QUOTE_BYTE = 0x22;
const BACKSLASH = 0x5c;
const QUOTES = 0x22222222;
const BACKSLASHES = 0x5c5c5c5c;
const LOW_BITS = 0x01010101;
const HIGH_BITS = 0x80808080;

const WORD_BYTES = 4;
/** A native search costs about as much to call as this many bytes here. */
const SHORT_BYTES = 64;

export class StringScanner {
  /** Where to continue if the quote is not in the bytes. */
  next = 0;
  #bytes: Buffer | undefined;
  #words: DataView = new DataView(new ArrayBuffer(0));

  /** Searches from `from`, inside a string and not inside an escape. Returns the position behind the quote, or -1. */
  findEnd(bytes: Buffer, from: number): number {
    const words = this.#wordsOf(bytes);
    const end = bytes.length;
    const last = Math.min(end - WORD_BYTES, from + SHORT_BYTES);
    let at = from;
    while (at <= last) {
      const word = words.getInt32(at, true);
      // A byte that equals becomes 0; subtracting 1 sets its highest bit, and the lowest such bit is always a right one.
      const quotes = word ^ QUOTES;
      const backslashes = word ^ BACKSLASHES;
      const found = (((quotes - LOW_BITS) & ~quotes) | ((backslashes - LOW_BITS) & ~backslashes)) & HIGH_BITS;
      if (found === 0) {
        at += WORD_BYTES;
        continue;
      }
      at += 3 - (Math.clz32(found & -found) >> 3);
      if (bytes[at] === QUOTE_BYTE) return at + 1;
      at += 2;
    }
    // An escape may begin with the last byte: its second byte is still to come.
    if (at > end) at = end - 1;
    else if (at < end) {
      for (let quote = bytes.indexOf(QUOTE_BYTE, at); quote >= 0; quote = bytes.indexOf(QUOTE_BYTE, at)) {
        if (backslashesBefore(bytes, quote, at) % 2 === 0) return quote + 1;
        at = quote + 1;
      }
      at = end - (backslashesBefore(bytes, end, at) % 2);
    }
    this.next = at;
    return -1;
  }

  #wordsOf(bytes: Buffer): DataView {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    return this.#words;
  }
}

function backslashesBefore(bytes: Buffer, at: number, from: number): number {
  let first = at;
  while (first > from && bytes[first - 1] === BACKSLASH) first--;
  return at - first;
}
