// Patterns of XML tags and helpers to build a record's tree, shared by the record readers.
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
export const runsOn = (section: string, start: '<![CDATA[' | '<!--' | '<?', own: string | undefined): boolean =>
  section.indexOf(start, start.length) >= 0 && holdsEnd(section, own);

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
