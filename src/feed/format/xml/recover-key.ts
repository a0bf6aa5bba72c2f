// Recovers the key of an unreadable record if the damage leaves no doubt about it.
import { isUtf8 } from 'node:buffer';
import type { KeyRule } from '../../../posting/field-mapping.ts';
import { parseValuePath, textsAt, type ValuePath } from '../../../posting/paths/value-path.ts';
import type { RecordTree } from '../../../posting/posting.ts';
import { compileKey } from '../../../posting/posting-key.ts';
import type { RecoverKey } from '../format.ts';
import {
  ATTRIBUTE,
  addChild,
  type Branch,
  END_TAG,
  holdsEnd,
  localName,
  MAX_DEPTH,
  matchAt,
  newBranch,
  START_TAG,
  TAG_END,
  tryDecodeEntities,
} from './xml-tags.ts';

/** Compiles the recovery for a key rule. Throws `MalformedPathError`. */
export function compileKeyRecovery(rule: KeyRule): RecoverKey {
  const readKey = compileKey(rule);
  const paths = rule.paths.map(parseValuePath);
  const names = new Set(paths.flatMap(namesIn));
  // The record's own start tag precedes everything that may be broken.
  const inStartTag = paths.every(([step, ...more]) => more.length === 0 && step?.name.startsWith('@'));
  return (record) => {
    const text = record.toString();
    // If the bytes are not valid UTF-8, U+FFFD usually stands for an undecodable one.
    const { tree, certain } = readTolerantly(isUtf8(record) ? text : text.replaceAll('\ufffd', BROKEN), names);
    if (tree === undefined || !(certain || inStartTag)) return undefined;
    if (paths.some((path) => valuesAt(path, tree).size !== 1)) return undefined;
    const reading = readKey(tree);
    return reading.kind === 'key' ? reading.key : undefined;
  };
}

const valuesAt = (path: ValuePath, tree: Parameters<typeof textsAt>[1]): ReadonlySet<string> =>
  new Set(
    textsAt(path, tree)
      .map((text) => text.trim())
      .filter((text) => text !== ''),
  );

/** All names that decide what the path matches, including those in its conditions. */
const namesIn = (path: ValuePath): string[] =>
  path.flatMap(({ name, conditions }) => [name, ...conditions.flatMap((condition) => namesIn(condition.path))]);

// Reads a malformed record as far as possible, and determines whether the damage may have moved, hidden or altered the
// elements that matter.

/** Stands for undecodable bytes. It is not a character and never part of a key. */
const BROKEN = '\uffff';

interface TolerantReading {
  /** `undefined` if not even the record's start tag could be read, or if the record contains another one. */
  readonly tree: RecordTree | undefined;
  /** Elements and attributes that matter are whole and in the same place as in the intact record. */
  readonly certain: boolean;
}

interface Open {
  readonly name: string;
  readonly matters: boolean;
  /** Number of elements that matter that had begun before it. */
  readonly before: number;
  text: string;
  branch: Branch | undefined;
  hasChildren: boolean;
}

/** @param names local names that matter, attributes with their `@`; `*`: any element. */
function readTolerantly(xml: string, names: ReadonlySet<string>): TolerantReading {
  return new TolerantReader(xml.includes('\r') ? xml.replace(/\r\n?/g, '\n') : xml, names).read();
}

/**
 * Damage inside an element leaves the others certain if the element ends with its own end tag, except for these cases:
 *
 * | damage                                      | where                              | consequence           |
 * | ------------------------------------------- | ---------------------------------- | --------------------- |
 * | an entity, a bare `&`                       | in an element that matters         | nothing is certain    |
 * | a `<` that begins no tag, undecodable bytes | there, or in the record's own text | the rest is uncertain |
 * | an end tag without a start tag, `]]>`       | there, or in the record's own text | nothing is certain    |
 * | an element without an end tag               | around an element that matters     | nothing is certain    |
 * | unended CDATA, comment or instruction       | anywhere                           | the rest is not read  |
 * | the same, up to the end of another one      | around the end tag of a record     | there is no tree      |
 */
class TolerantReader {
  readonly #xml: string;
  readonly #names: ReadonlySet<string>;
  readonly #open: Open[] = [];
  #root: RecordTree | undefined;
  #certain = true;
  /** From here on, tags may not be where they seem to be. */
  #doubtful = false;
  #mattering = 0;

  constructor(xml: string, names: ReadonlySet<string>) {
    this.#xml = xml;
    this.#names = names;
  }

  read(): TolerantReading {
    const xml = this.#xml;
    for (let at = 0; at < xml.length; ) {
      const markup = xml.indexOf('<', at);
      this.#takeText(xml.slice(at, markup < 0 ? xml.length : markup));
      if (markup < 0) break;
      const end = this.#takeMarkup(markup);
      if (end === undefined) break;
      const isSection = xml[markup + 1] === '!' || xml[markup + 1] === '?';
      if (isSection && holdsEnd(xml.slice(markup, end), this.#open[0]?.name))
        return { tree: undefined, certain: false };
      at = end;
    }
    while (this.#open.length > 1) this.#closeUnended();
    this.#close();
    return { tree: this.#root, certain: this.#certain };
  }

  /** Returns the end of the markup at `at`; `undefined`: the rest can't be read. */
  #takeMarkup(at: number): number | undefined {
    const xml = this.#xml;
    if (xml.startsWith('<![CDATA[', at)) {
      const end = after(xml, ']]>', at + 9);
      const top = this.#open.at(-1);
      if (end === undefined) {
        if (top?.matters) this.#certain = false;
      } else if (top !== undefined) {
        this.#addText(top, xml.slice(at + 9, end - 3));
      }
      return end;
    }
    if (xml.startsWith('<!--', at)) return after(xml, '-->', at + 4);
    if (xml.startsWith('<?', at)) return after(xml, '?>', at + 2);
    return xml[at + 1] === '/' ? this.#takeEndTag(at) : this.#takeStartTag(at);
  }

  #takeEndTag(at: number): number {
    const name = matchAt(END_TAG, this.#xml, at)?.[1];
    if (name === undefined) return this.#takeBareLess(at);
    const end = END_TAG.lastIndex;
    if (this.#open.some((open) => open.name === name)) {
      while (this.#open.at(-1)?.name !== name) this.#closeUnended();
      this.#close();
    } else if (this.#isOnTheWay() || this.#matters(name)) {
      this.#certain = false;
    }
    return end;
  }

  #takeStartTag(at: number): number | undefined {
    const xml = this.#xml;
    const name = matchAt(START_TAG, xml, at)?.[1];
    if (name === undefined) return this.#takeBareLess(at);
    if (this.#open.length >= MAX_DEPTH) return undefined;
    if (this.#open.length === 0 && this.#root !== undefined) {
      this.#certain = false;
      return undefined;
    }
    const { branch, end } = this.#readAttributes(START_TAG.lastIndex);
    const ending = matchAt(TAG_END, xml, end);
    if (ending !== null) {
      const tagEnd = TAG_END.lastIndex;
      this.#begin(name, branch, ending[1] !== '');
      return tagEnd;
    }
    // Attributes as in HTML, `<p align=center>`: not a tag in XML, but clearly meant as one.
    const next = xml.indexOf('<', end);
    // Not searched for beyond the next tag: a record of nothing but beginnings of tags would be read again for each of them.
    const inTag = xml.slice(end, next < 0 ? xml.length : next).indexOf('>');
    if (inTag < 0 || !/[\s/]/.test(xml[at + 1 + name.length] ?? '')) return this.#takeBareLess(at);
    const close = end + inTag;
    if (this.#matters(name)) this.#certain = false;
    this.#begin(name, undefined, xml[close - 1] === '/');
    return close + 1;
  }

  #begin(name: string, branch: Branch | undefined, isEmpty: boolean): void {
    const matters = this.#matters(name);
    this.#open.push({ name, matters, before: this.#mattering, text: '', branch, hasChildren: false });
    if (matters) {
      this.#mattering++;
      if (this.#doubtful) this.#certain = false;
    }
    if (isEmpty) this.#close();
  }

  /** Reads attributes as long as they are well-formed. */
  #readAttributes(from: number): { branch: Branch | undefined; end: number } {
    let branch: Branch | undefined;
    for (let end = from; ; end = ATTRIBUTE.lastIndex) {
      const attribute = matchAt(ATTRIBUTE, this.#xml, end);
      if (attribute === null) return { branch, end };
      const key = `@${attribute[1]}`;
      const value = tryDecodeEntities((attribute[2] ?? attribute[3] ?? '').replace(/[\t\n]/g, ' '));
      branch ??= newBranch();
      // Replace an uncertain value with one that a key can't have.
      branch[key] = branch[key] === undefined ? (value ?? BROKEN) : BROKEN;
      if (branch[key].includes(BROKEN) && this.#matters(key)) this.#certain = false;
    }
  }

  #takeText(text: string): void {
    const top = this.#open.at(-1);
    if (top === undefined) {
      if (/\S/.test(text)) this.#certain = false;
      return;
    }
    if (text.includes(']]>') && this.#isOnTheWay()) this.#certain = false;
    if (text.includes(BROKEN) && this.#isOnTheWay()) this.#doubtful = true;
    this.#addText(top, tryDecodeEntities(text) ?? BROKEN);
  }

  #addText(to: Open, text: string): void {
    if (to.matters && text.includes(BROKEN)) this.#certain = false;
    to.text += text;
  }

  /** A `<` that begins no tag, but may have been meant as one. */
  #takeBareLess(at: number): number {
    if (this.#isOnTheWay()) this.#doubtful = true;
    const top = this.#open.at(-1);
    if (top?.matters) this.#certain = false;
    if (top !== undefined) top.text += '<';
    return at + 1;
  }

  /** Closes an element without an end tag. Its content may have been meant to follow it. */
  #closeUnended(): void {
    const top = this.#open.at(-1);
    if (top !== undefined && this.#mattering > top.before) this.#certain = false;
    this.#close();
  }

  #close(): void {
    const closed = this.#open.pop();
    if (closed === undefined) return;
    const tree = treeOf(closed);
    const parent = this.#open.at(-1);
    if (parent === undefined) {
      this.#root = tree;
    } else {
      parent.branch = addChild(parent.branch, closed.name, tree);
      parent.hasChildren = true;
    }
  }

  /** Whether the position is directly in the record, or in an element that matters. */
  #isOnTheWay(): boolean {
    return this.#open.length <= 1 || this.#open.at(-1)?.matters === true;
  }

  #matters(name: string): boolean {
    const isAttribute = name.startsWith('@');
    if (!isAttribute && this.#names.has('*')) return true;
    return this.#names.has(name) || this.#names.has(isAttribute ? `@${localName(name.slice(1))}` : localName(name));
  }
}

/** An element with children has no text that could be a key. */
function treeOf({ text, branch, hasChildren }: Open): RecordTree {
  if (branch === undefined) return text;
  if (hasChildren) branch['#markup'] = BROKEN;
  else if (/\S/.test(text)) branch['#text'] = text;
  return branch;
}

function after(xml: string, terminator: string, from: number): number | undefined {
  const found = xml.indexOf(terminator, from);
  return found < 0 ? undefined : found + terminator.length;
}
