// Finds where the JSON in a script begins: at its start, or where a variable is assigned.

/** Beginnings of scripts are compared up to this length, without white space. */
const MAX_OPENING = 64;

/** After white space. No two places for white space follow each other: that would take quadratic time. */
const OPENING = /^(?:(?:\/\/|\/\*)?\s*(?:<!--|<!\[CDATA\[)\s*(?:\*\/\s*)?)?[{[]/;
const isBlank = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
/** What may follow the JSON of a script, apart from white space and semicolons. */
const CLOSING = /^(?:(?:\/\/|\/\*)?\s*(?:-->|\]\]>)\s*(?:\*\/)?)?$/;

/** Takes the text of one script, in chunks of any size. */
export interface ValueSearch {
  /** Returns the bytes from the first of the JSON on, once it is found. */
  push(bytes: Buffer): Buffer | undefined;
}

/** The script is JSON, perhaps in a comment that hides it from old browsers. */
export class OpeningSearch implements ValueSearch {
  #held: Buffer = Buffer.alloc(0);
  #isOther = false;

  push(bytes: Buffer): Buffer | undefined {
    if (this.#isOther) return undefined;
    const held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    let start = 0;
    while (start < held.length && isBlank(held[start] as number)) start++;
    const all = held.subarray(start);
    const opening = OPENING.exec(all.toString('latin1', 0, 4_096));
    if (opening !== null) return all.subarray(opening[0].length - 1);
    this.#isOther = all.length > MAX_OPENING;
    this.#held = this.#isOther ? Buffer.alloc(0) : Buffer.from(all);
    return undefined;
  }
}

/** White space at one place of an assignment; bounded, so that little of the script must be kept. */
const SPACE = '\\s{0,32}';
const OWNER = '(?:window|self|globalThis|this)';
const AROUND_NAME = 256;

/** Where a variable is assigned an object or a list: `NAME = {`, `window.NAME = [`, `window["NAME"] = {`. */
export class AssignmentSearch implements ValueSearch {
  readonly #pattern: RegExp;
  readonly #keep: number;
  #held: Buffer = Buffer.alloc(0);

  constructor(variable: string) {
    const own = variable.replace(new RegExp(`^${OWNER}\\.`), '');
    // Scripts are searched byte by byte.
    const name = Buffer.from(own)
      .toString('latin1')
      .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    const dotted = `(?:${OWNER}${SPACE}\\.${SPACE})?${name}`;
    const quoted = `${OWNER}${SPACE}\\[${SPACE}["']${name}["']${SPACE}\\]`;
    this.#pattern = new RegExp(`(?<![\\w$.'"\\x80-\\xff-])(?:${dotted}|${quoted})${SPACE}=${SPACE}(?=[{[])`);
    this.#keep = name.length + AROUND_NAME;
  }

  push(bytes: Buffer): Buffer | undefined {
    const all = Buffer.concat([this.#held, bytes]);
    const found = this.#pattern.exec(all.toString('latin1'));
    if (found !== null) return all.subarray(found.index + found[0].length);
    this.#held = Buffer.from(all.subarray(Math.max(0, all.length - this.#keep)));
    return undefined;
  }
}

/** Whether this, after the JSON of a script, belongs to the script's form. In linear time: a page may have megabytes of white space. */
export const isClosing = (text: string): boolean => CLOSING.test(text.replace(/^[\s;]+/, '').trimEnd());
