// Finds the schema.org JobPostings in a JSON-LD text, wherever they are nested, by their extent.
import { isClosing } from '../html/value-search.ts';
import { ValueScanner } from '../json/value-scanner.ts';

/** A JobPosting; positions are bytes of the text. */
export interface FoundPosting {
  readonly start: number;
  readonly end: number;
  /** The first text at its name `url`, at `validThrough`, and at `datePosted`. */
  readonly url: string | undefined;
  readonly validThrough: string | undefined;
  readonly datePosted: string | undefined;
}

/** Every form in which schema.org's types are written. */
const JOB_POSTING = /^(?:(?:https?:\/\/schema\.org\/|schema:)?JobPosting)$/;

/** Lists and objects around postings; no page nests them deeper. */
const MAX_DEPTH = 64;

/** What is read of a posting, besides its type. */
const NAMES = ['url', 'validThrough', 'datePosted'] as const;
type Name = (typeof NAMES)[number];
const TYPES = ['@type', 'type'] as const;
/** By the length of their text, which leaves out nearly all other names. */
const BY_LENGTH = new Map<number, Name | (typeof TYPES)[number]>(
  [...NAMES, ...TYPES].map((name) => [name.length, name]),
);
/** Of a name that is written with escapes only. */
const MAX_NAME_BYTES = 6 * Math.max(...BY_LENGTH.keys());

const [QUOTE, BACKSLASH, SPACE, COMMA, COLON] = [0x22, 0x5c, 0x20, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Instead of a position: the text is not JSON here. */
const MISMATCH = -1;

/** Has no state between two values. */
const scanner = new ValueScanner();

/**
 * In document order; a posting inside another one belongs to that one. `undefined` if the strings or brackets of the
 * text do not match, or something follows. Other faults, such as a line break in a string, are found when the posting is parsed.
 */
export function findPostings(json: Buffer): readonly FoundPosting[] | undefined {
  const start = skip(json, 0);
  scanner.begin(start);
  if (scanner.scan(json) !== 'end' || !isClosing(json.toString('latin1', scanner.at))) return undefined;
  const visitor = new Visitor(json);
  return visitor.visit(start, 0) === MISMATCH || visitor.mismatches > 0 ? undefined : visitor.found;
}

/** Walks through a text once, whose strings and brackets match, and remembers nothing of what is no posting. */
class Visitor {
  readonly found: FoundPosting[] = [];
  /** Values outside of postings that are not JSON. */
  mismatches = 0;
  readonly #json: Buffer;
  /** Whether the last string has an escape. */
  #hasEscape = false;

  constructor(json: Buffer) {
    this.#json = json;
  }

  /** Returns the end of the value that starts here, or `MISMATCH`. */
  visit(at: number, depth: number): number {
    switch (this.#json[at]) {
      case OPEN_OBJECT:
        return depth > MAX_DEPTH ? MISMATCH : this.#visitObject(at, depth);
      case OPEN_LIST:
        return depth > MAX_DEPTH ? MISMATCH : this.#visitList(at, depth);
      case QUOTE:
        return this.#endOfString(at);
      default:
        return this.#endOfLiteral(at);
    }
  }

  #visitList(list: number, depth: number): number {
    const json = this.#json;
    for (let at = skip(json, list + 1); at < json.length; at = skip(json, at)) {
      if (json[at] === CLOSE_LIST) return at + 1;
      at = this.#visitInner(at, depth);
      if (at === MISMATCH) return MISMATCH;
    }
    return MISMATCH;
  }

  #visitObject(object: number, depth: number): number {
    const json = this.#json;
    const before = { found: this.found.length, mismatches: this.mismatches };
    const texts: { [name in Name]?: Extent } = {};
    let isPosting = false;
    for (let at = skip(json, object + 1); at < json.length; at = skip(json, at)) {
      if (json[at] === CLOSE_OBJECT) {
        if (isPosting) this.#addPosting({ start: object, end: at + 1 }, texts, before);
        return at + 1;
      }
      if (json[at] !== QUOTE) return MISMATCH;
      const nameEnd = this.#endOfString(at);
      if (nameEnd === MISMATCH) return MISMATCH;
      const name = this.#nameIn({ start: at, end: nameEnd });
      const start = skip(json, nameEnd, COLON);
      at = this.#visitInner(start, depth);
      if (at === MISMATCH) return MISMATCH;
      const value = { start, end: at };
      if (name === '@type' || name === 'type') isPosting ||= isJobPosting(json, value);
      else if (name !== undefined) texts[name] ??= value;
    }
    return MISMATCH;
  }

  /** Returns the end of a list's element, or an object's value. One that is not JSON is passed over if it has brackets. */
  #visitInner(at: number, depth: number): number {
    const { mismatches } = this;
    const found = this.found.length;
    const end = this.visit(at, depth + 1);
    if (end !== MISMATCH || (this.#json[at] !== OPEN_OBJECT && this.#json[at] !== OPEN_LIST)) return end;
    this.found.length = found;
    this.mismatches = mismatches + 1;
    scanner.begin(at);
    return scanner.scan(this.#json) === 'end' ? scanner.at : MISMATCH;
  }

  /** What was found inside belongs to the posting. */
  #addPosting(
    extent: Extent,
    texts: { readonly [name in Name]?: Extent },
    before: { readonly found: number; readonly mismatches: number },
  ): void {
    this.found.length = before.found;
    this.mismatches = before.mismatches;
    const textOf = (name: Name) => firstText(this.#json, texts[name]);
    this.found.push({
      ...extent,
      url: textOf('url'),
      validThrough: textOf('validThrough'),
      datePosted: textOf('datePosted'),
    });
  }

  #endOfString(quote: number): number {
    const json = this.#json;
    this.#hasEscape = false;
    for (let at = quote + 1; at < json.length; at++) {
      if (json[at] === QUOTE) return at + 1;
      if (json[at] === BACKSLASH) {
        this.#hasEscape = true;
        at++;
      }
    }
    return MISMATCH;
  }

  #endOfLiteral(start: number): number {
    const json = this.#json;
    let at = start;
    while (at < json.length && !ENDS_LITERAL.has(json[at] as number) && (json[at] as number) > SPACE) at++;
    return at === start ? MISMATCH : at;
  }

  /** The name, if it is one of those that are read. */
  #nameIn({ start, end }: Extent): Name | (typeof TYPES)[number] | undefined {
    const length = end - start - 2;
    if (length > MAX_NAME_BYTES || (!this.#hasEscape && !BY_LENGTH.has(length))) return undefined;
    const json = this.#json;
    const text = this.#hasEscape ? parsed(json, { start, end }) : json.toString('latin1', start + 1, end - 1);
    const name = BY_LENGTH.get(text?.length ?? 0);
    return name === text ? name : undefined;
  }
}

const ENDS_LITERAL: ReadonlySet<number> = new Set([
  QUOTE,
  COMMA,
  COLON,
  CLOSE_OBJECT,
  CLOSE_LIST,
  OPEN_OBJECT,
  OPEN_LIST,
]);

interface Extent {
  readonly start: number;
  readonly end: number;
}

/** Moves over white space and this separator. */
function skip(json: Buffer, from: number, separator = COMMA): number {
  let at = from;
  while (at < json.length && ((json[at] as number) <= 0x20 || json[at] === separator)) at++;
  return at;
}

const isJobPosting = (json: Buffer, value: Extent): boolean =>
  textsOf(json, value).some((text) => JOB_POSTING.test(text));

const firstText = (json: Buffer, value: Extent | undefined): string | undefined =>
  value === undefined ? undefined : textsOf(json, value)[0]?.trim() || undefined;

/** The texts of a string, or of a list of strings. */
function textsOf(json: Buffer, value: Extent): readonly string[] {
  const first = json[value.start];
  // Longer lists of types do not exist.
  if ((first !== QUOTE && first !== OPEN_LIST) || value.end - value.start > 10_000) return [];
  return [parsed<unknown>(json, value)].flat().filter((text) => typeof text === 'string');
}

function parsed<Value = string>(json: Buffer, { start, end }: Extent): Value | undefined {
  try {
    return JSON.parse(json.toString('utf8', start, end)) as Value;
  } catch {
    return undefined;
  }
}
