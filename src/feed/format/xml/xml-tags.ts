// Patterns of XML tags, entities in text, and helpers to build a record's tree, shared by the record readers.
import { NAMED_CHARACTERS } from '../../../posting/markup.ts';
import type { RecordTree } from '../../../posting/posting.ts';

/** No posting nests deeper. Trees are walked recursively, so the depth must be bounded. */
export const MAX_DEPTH = 64;

/** XML 1.0, productions 4 and 4a. */
const NAME_START =
  ':A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const NAME_REST = `[${NAME_START}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}]`;
const NAME = `[${NAME_START}]${NAME_REST}*`;
const NAME_CHARACTER = new RegExp(NAME_REST, 'uy');
/** Most tags: an ASCII name and nothing else. Several times as fast to match as the general patterns. */
export const PLAIN_TAG = /<[A-Za-z_][A-Za-z0-9_.:-]*>/y;
export const START_TAG = new RegExp(`<(${NAME})`, 'uy');
export const ATTRIBUTE = new RegExp(`[ \\t\\n]+(${NAME})[ \\t\\n]*=[ \\t\\n]*(?:"([^"<]*)"|'([^'<]*)')`, 'uy');
export const TAG_END = /[ \t\n]*(\/?)>/y;
export const END_TAG = new RegExp(`</(${NAME})[ \\t\\n]*>`, 'uy');

/** Matches a sticky pattern at a position. */
export function matchAt(pattern: RegExp, xml: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(xml);
}

/** Whether a section goes on into another record, because its own end is missing. @param own the record's name. */
export const endsInAnotherRecord = (
  section: string,
  start: '<![CDATA[' | '<!--' | '<?',
  own: string | undefined,
): boolean => section.indexOf(start, start.length) >= 0 && holdsEnd(section, own);

/** Whether it has the end tag of a record; that of an element whose name only begins with the record's is none. */
export function holdsEnd(section: string, own: string | undefined): boolean {
  if (own === undefined) return false;
  const tag = `</${own}`;
  for (let at = section.indexOf(tag); at >= 0; at = section.indexOf(tag, at + tag.length)) {
    if (matchAt(NAME_CHARACTER, section, at + tag.length) === null) return true;
  }
  return false;
}

export type Branch = { [name: string]: RecordTree };

/** Names come from the feed, so objects have no prototype: `__proto__` and `constructor` are ordinary names. */
export const newBranch = (): Branch => Object.create(null);

export function addChild(branch: Branch = newBranch(), name: string, tree: RecordTree): Branch {
  const before = branch[name];
  if (before === undefined) branch[name] = tree;
  else if (Array.isArray(before)) before.push(tree);
  else branch[name] = [before, tree];
  return branch;
}

// Decodes the entities and character references in XML text, each once.

const REFERENCE = /&(?:#(\d{1,8});|#x([\da-f]{1,8});|(\w{1,32});|)/gi;

const UNDECODABLE = new Error('undecodable reference');

/** Decodes the references in a text; `undefined` if one of them can't be decoded. */
export function tryDecodeEntities(text: string): string | undefined {
  try {
    return decodeEntities(text, () => {
      throw UNDECODABLE;
    });
  } catch (error) {
    if (error !== UNDECODABLE) throw error;
    return undefined;
  }
}

/**
 * Decodes the references in a piece of text. Known names are XML's five and those of HTML 4; each stands for one
 * character, so text never grows. `complain` is called for a bare `&`, an unknown name and a code that is no character;
 * it must throw. References to control characters are decoded here and removed when the posting is read.
 */
export function decodeEntities(text: string, complain: (offset: number, message: string) => never): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (reference, decimal?: string, hex?: string, name?: string, offset = 0) => {
    if (name !== undefined) return NAMED_CHARACTERS[name] ?? complain(offset, `unknown entity ${reference}`);
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    if (Number.isNaN(code)) return complain(offset, 'a bare "&" must be written as &amp;');
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) complain(offset, `${reference} is not a character`);
    return String.fromCodePoint(code);
  });
}

// Parses configured paths such as `source/job` or `source/@jobs` and compares them with the open elements.

/**
 * A path from the root: names of nested elements without prefixes (`*`: any), optionally with an attribute at the end.
 */
export interface ElementPath {
  readonly elements: readonly string[];
  readonly attribute?: string;
}

/** Parses a path. Throws an `Error` with the path if it has an empty part or an attribute before its end. */
export function parseElementPath(path: string): ElementPath {
  const parts = path.replace(/^\//, '').split('/');
  const last = parts.at(-1) ?? '';
  const attribute = last.startsWith('@') ? localName(last.slice(1)) : undefined;
  const elements = (attribute === undefined ? parts : parts.slice(0, -1)).map(localName);
  if (elements.length === 0 || attribute === '' || elements.some((name) => name === '' || name.startsWith('@'))) {
    throw new Error(
      `"${path}" is not a valid element path: write it from the root, for example source/job or source/@jobs`,
    );
  }
  return { elements, attribute };
}

/** The name without its prefix: `job` for `hr:job`. */
export const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Whether one name of a path matches an element's local name. */
export const coversName = (pattern: string | undefined, local: string): boolean => pattern === '*' || pattern === local;

/** Whether the path matches exactly these open elements, given by their local names from the root. */
export const coversElements = (path: ElementPath, open: readonly string[]): boolean =>
  path.elements.length === open.length && open.every((local, depth) => coversName(path.elements[depth], local));
