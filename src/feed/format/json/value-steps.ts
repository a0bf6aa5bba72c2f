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
export const KIND_OF = new Uint8Array(256);
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
export const NONE = 0;
const OBJECT = 1;
const ARRAY = 2;
/** Deeper than brackets are matched by their kind. */
export const UNKNOWN = 3;
const CONTAINERS = [NONE, OBJECT, ARRAY, UNKNOWN] as const;
type Container = (typeof CONTAINERS)[number];

/** A state: the innermost open bracket, and what precedes the current byte. Its lowest four bits are free for a kind. */
const CONTAINER_SHIFT = 8;
const BEFORE_SHIFT = 4;
const stateOf = (container: number, before: Before): number =>
  (container << CONTAINER_SHIFT) | (before << BEFORE_SHIFT);
export const START = stateOf(NONE, FIRST);
export const containerOf = (state: number): number => state >> CONTAINER_SHIFT;
/** The state after an opening bracket that is too deep to be matched. */
export const AFTER_DEEP_OPENING = stateOf(UNKNOWN, OPEN_ARRAY);
/** The state after a closing bracket, in what is open then. */
export const afterClosing = (container: number): number => stateOf(container, CLOSE_OBJECT);

/** What to do besides entering the next state, in the bits above it. */
export const ACTION = 0xf000;
export const STRING = 0x1000;
/** The next state is the one inside the bracket. */
export const OPEN = 0x2000;
/** What the next state is depends on what is open then. */
export const CLOSE = 0x3000;
/** A literal at the top ends before whatever follows. */
export const END = 0x4000;
export const FAULT = 0x5000;

/** By state and kind: the next state, with an action. */
export const STEPS = new Uint16Array(1024);

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
