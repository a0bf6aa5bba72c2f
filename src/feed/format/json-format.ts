// The format of JSON documents. Parses the bytes of one record into a tree of plain text, repairs common faults, or
// reports why it can't be read.
import type { KeyRule } from '../../posting/field-mapping.ts';
import { noteIdAndName } from '../../posting/id-and-name.ts';
import type { RecordTree } from '../../posting/posting.ts';
import {
  compileKeyOfTree,
  type FeedFormat,
  MalformedRecord,
  type ParsedRecord,
  parseOrRepair,
  parseTextOf,
  type RecoverKey,
  type RepairedText,
  textWithFaults,
  UNREADABLE_TEXT,
} from './format.ts';
import { JsonSplitter } from './json-splitter.ts';
import { quote } from './unexpected-document.ts';

// Parses the bytes of one JSON record into a tree of plain text, or reports why it can't be read.

/** No posting nests deeper. Trees are walked recursively, so the depth must be bounded. */
const MAX_DEPTH = 64;

/** A string without escapes, and one with them, each without its closing quote. The parser decodes escapes separately. */
const PLAIN_STRING = /"[ !#-[\]-\uffff]*/y;
const STRING = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*/y;
const STRING_PART = /[ !#-[\]-\uffff]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y;
const WORD = /(?:true|false|null)(?!\w)/y;
const SPACE = /[ \t\r\n]*/y;
/** What a broken string or literal extends to, if the rest of the record is in its place. */
const BROKEN_STRING = /"(?:[^"\\]|\\[\s\S])*"/y;
const BROKEN_LITERAL = /[^\s"{}[\],:]+/y;

/**
 * Parses one record. It is strict (RFC 8259). Numbers keep their text (`007` is refused, `1e5` and numbers beyond 2^53
 * stay as they are), `true` and `false` become text, and a `null` counts as absent. Two different values under one name
 * make the record unreadable, as it is not known which one is meant. @param lenient repair a record that cannot be parsed.
 */
export function parseJson(bytes: Buffer, lenient = false): ParsedRecord {
  return parseTextOf(bytes, (text) => parseOrRepair(text, JSON_SYNTAX, lenient));
}

const JSON_SYNTAX = {
  name: 'JSON',
  parse: (text: string) => new RecordParser(text, false).parse(),
  repair: repairRecord,
  keepsLines: false,
};

/**
 * Parses a record of which single strings or literals are broken, as {@link UNREADABLE_TEXT}; `undefined` if others than these may
 * be damaged. Both values of a repeated name are kept.
 */
function parseTolerantly(text: string): RecordTree | undefined {
  try {
    return new RecordParser(text, true).parse();
  } catch (error) {
    if (!(error instanceof MalformedRecord)) throw error;
    return undefined;
  }
}

class RecordParser {
  readonly #text: string;
  readonly #tolerant: boolean;
  #at = 0;

  constructor(text: string, tolerant: boolean) {
    this.#text = text;
    this.#tolerant = tolerant;
  }

  parse(): RecordTree {
    const tree = this.#value(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#fault('the end of the record is expected');
    return tree ?? '';
  }

  /** `undefined`: null. */
  #value(depth: number): RecordTree | undefined {
    this.#skipSpace();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#list(depth);
      case '"':
        return this.#string();
      default:
        return this.#literal();
    }
  }

  #object(depth: number): RecordTree {
    if (depth >= MAX_DEPTH) throw this.#fault(`it is nested deeper than ${MAX_DEPTH}`);
    // Names come from the feed, so objects have no prototype: `__proto__` and `constructor` are ordinary names.
    const object: { [name: string]: RecordTree } = Object.create(null);
    this.#at++;
    if (this.#takes('}')) return object;
    do {
      this.#skipSpace();
      const start = this.#at;
      if (this.#text[start] !== '"') throw this.#fault('a name in quotes is expected');
      const name = this.#string();
      this.#expect(':');
      const value = this.#value(depth + 1);
      if (value === undefined) continue;
      const before = object[name];
      if (before === undefined) object[name] = value;
      else if (this.#tolerant) object[name] = [before, value];
      else if (before !== value)
        throw new MalformedRecord(start, `the name ${quote(name)} appears twice in one object`);
    } while (this.#takes(','));
    this.#expect('}');
    return object;
  }

  #list(depth: number): RecordTree {
    if (depth >= MAX_DEPTH) throw this.#fault(`it is nested deeper than ${MAX_DEPTH}`);
    const list: RecordTree[] = [];
    this.#at++;
    if (this.#takes(']')) return list;
    let [first, second] = [0, 0];
    do {
      this.#skipSpace();
      if (list.length === 0) first = this.#at;
      else if (list.length === 1) second = this.#at;
      const value = this.#value(depth + 1);
      if (value !== undefined) list.push(value);
    } while (this.#takes(','));
    this.#expect(']');
    if (list.length === 2 && this.#text[first] !== '"' && this.#text[second] === '"') noteIdAndName(list);
    return list;
  }

  #string(): string {
    const start = this.#at;
    const plain = this.#match(PLAIN_STRING) as string;
    if (this.#takesNow('"')) return plain.slice(1);
    this.#at = start;
    const whole = this.#escapedString();
    if (!this.#takesNow('"')) return this.#broken(BROKEN_STRING, start, describeFault(this.#text, this.#at));
    const value = JSON.parse(`${whole}"`) as string;
    if (value.isWellFormed()) return value;
    return this.#broken(BROKEN_STRING, start, 'a string contains half of a surrogate pair');
  }

  /** A string with escapes, without its closing quote. */
  #escapedString(): string {
    const start = this.#at;
    try {
      return this.#match(STRING) as string;
    } catch (error) {
      // The engine has no room for a million escapes in one match.
      if (!(error instanceof RangeError)) throw error;
      this.#at = start + 1;
      while (this.#match(STRING_PART) !== undefined);
      return this.#text.slice(start, this.#at);
    }
  }

  #literal(): string | undefined {
    const start = this.#at;
    const number = this.#match(NUMBER);
    if (number !== undefined) return number;
    const word = this.#match(WORD);
    if (word !== undefined) return word === 'null' ? undefined : word;
    return this.#broken(BROKEN_LITERAL, start, 'a value is expected');
  }

  #broken(extent: RegExp, start: number, message: string): string {
    const fault = this.#fault(message);
    this.#at = start;
    if (!this.#tolerant || this.#match(extent) === undefined) throw fault;
    return UNREADABLE_TEXT;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match[0];
  }

  #skipSpace(): void {
    // Usually there is none, or one space.
    if (this.#text.charCodeAt(this.#at) > 0x20) return;
    this.#match(SPACE);
  }

  #takes(character: string): boolean {
    this.#skipSpace();
    return this.#takesNow(character);
  }

  #takesNow(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #expect(character: string): void {
    if (!this.#takes(character)) throw this.#fault(`"${character}" is expected`);
  }

  #fault(message: string): MalformedRecord {
    const rest = this.#text.slice(this.#at, this.#at + 40);
    return new MalformedRecord(this.#at, `${message} at ${rest === '' ? 'its end' : quote(rest)}`);
  }
}

function describeFault(text: string, at: number): string {
  const character = text[at];
  if (character === undefined) return 'a string is not closed';
  if (character === '\\') return 'a string contains an invalid escape';
  return 'a string contains a control character, such as a line break, that must be written as an escape';
}

/** Compiles the recovery for a key rule. Throws `MalformedPathError`. */
function compileKeyRecovery(rule: KeyRule): RecoverKey {
  const keyOf = compileKeyOfTree(rule);
  return (record) => {
    const tree = parseTolerantly(textWithFaults(record));
    return tree === undefined ? undefined : keyOf(tree);
  };
}

export const jsonFormat: FeedFormat = {
  createSplitter: (options, sink) => new JsonSplitter(options, sink),
  parseRecord: (bytes, context) => parseJson(bytes, context?.lenient),
  compileKeyRecovery,
};

// Repairs common faults of a record that is not well-formed JSON, so it can be parsed as its author meant it.

/** A string with any characters in it, or what surrounds strings. */
const PART = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|[^"]+/g;
const CONTROL = /\p{Cc}/gu;
const TRAILING_COMMA = /,(?=\s*[}\]])/g;

/**
 * Escapes control characters in strings, and drops a comma before a closing bracket. Neither moves where a string or a
 * value ends; the strict parser decides whether the result is readable. `undefined`: there is nothing to repair.
 */
function repairRecord(json: string): RepairedText | undefined {
  let controls = 0;
  let commas = 0;
  const repaired = json.replace(PART, (part) => {
    if (!part.startsWith('"')) {
      return part.replace(TRAILING_COMMA, () => {
        commas++;
        return '';
      });
    }
    return part.replace(CONTROL, (character) => {
      if (character >= '\x7f') return character;
      controls++;
      return JSON.stringify(character).slice(1, -1);
    });
  });
  if (controls + commas === 0) return undefined;
  return { text: repaired, repairs: [...count(controls, CONTROLS), ...count(commas, COMMAS)] };
}

const CONTROLS = [
  'line break or other control character in a string',
  'line breaks or other control characters in strings',
];
const COMMAS = ['comma before a closing bracket', 'commas before closing brackets'];

const count = (number: number, [one, several]: readonly string[]): readonly string[] =>
  number === 0 ? [] : [`${number} ${number === 1 ? one : several}`];
