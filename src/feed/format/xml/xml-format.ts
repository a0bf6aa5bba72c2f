// The format of XML documents. Parses the bytes of one record into a tree of plain text, or reports why it can't be
// read. Not fast-xml-parser: it reads much that is not well-formed.
import type { RecordTree } from '../../../posting/posting.ts';
import {
  type FeedFormat,
  MalformedRecord,
  type ParsedRecord,
  parseOrRepair,
  parseTextOf,
  type RepairedText,
} from '../format.ts';
import { compileKeyRecovery } from './recover-key.ts';
import { XmlSplitter } from './xml-splitter.ts';
import {
  ATTRIBUTE,
  addChild,
  type Branch,
  decodeEntities,
  END_TAG,
  endsInAnotherRecord,
  MAX_DEPTH,
  matchAt,
  newBranch,
  PLAIN_TAG,
  START_TAG,
  TAG_END,
  tryDecodeEntities,
} from './xml-tags.ts';

// Parses the bytes of one record into a tree of plain text, or reports why it can't be read.
// Not fast-xml-parser: it reads much that is not well-formed.

/** An open element: its text so far, and its attributes and children, if any. */
interface OpenElement {
  readonly name: string;
  /** The start of its content in the record. */
  readonly start: number;
  text: string;
  branch: Branch | undefined;
  hasChildren: boolean;
}

/**
 * Parses one record, an element found by the splitter, in one pass. It is strict: a record that is not well-formed XML
 * 1.0 is unreadable, reported with the line within the record. It tolerates common faults that can't be misread: the
 * named characters of HTML 4 (`&nbsp;`), `--` in comments, and control characters, which are removed with a note when
 * the posting is read. Names keep their prefixes.
 * @param lenient repair common faults of a record that can't be read otherwise.
 */
export function parseRecord(bytes: Buffer, lenient = false): ParsedRecord {
  return parseTextOf(bytes, (text) => {
    const xml = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    return parseOrRepair(xml, XML_SYNTAX, lenient);
  });
}

const XML_SYNTAX = { name: 'XML', parse: buildTree, repair: repairRecord, keepsLines: true };

const RUNS_ON =
  'a CDATA section, a comment or a processing instruction seems to lack its end, and contains another record';

function buildTree(xml: string): RecordTree {
  const open: OpenElement[] = [];
  let element: OpenElement | undefined;
  let root: RecordTree | undefined;

  const close = (closed: OpenElement, end: number): void => {
    const tree = closeElement(closed, xml, end);
    element = open.at(-1);
    if (element === undefined) {
      root = tree;
    } else {
      element.branch = addChild(element.branch, closed.name, tree);
      element.hasChildren = true;
    }
  };

  for (let at = 0; ; ) {
    const markup = xml.indexOf('<', at);
    if (markup !== at) takeText(xml, at, markup < 0 ? xml.length : markup, element);
    if (markup < 0) break;
    switch (xml[markup + 1]) {
      case '/': {
        const closed = open.pop();
        // Usually it is the expected tag and needs no pattern.
        if (closed !== undefined && xml.startsWith(closed.name, markup + 2)) {
          const end = markup + 2 + closed.name.length;
          if (xml[end] === '>') {
            at = end + 1;
            close(closed, markup);
            break;
          }
        }
        const name = matchAt(END_TAG, xml, markup)?.[1];
        if (closed === undefined || closed.name !== name) {
          const expected = closed === undefined ? 'no element is open' : `"</${closed.name}>" is expected`;
          throw new MalformedRecord(markup, `${excerpt(xml, markup)} where ${expected}`);
        }
        at = END_TAG.lastIndex;
        close(closed, markup);
        break;
      }
      case '!':
        if (xml.startsWith('<![CDATA[', markup)) {
          at = endOf(']]>', xml, markup, 9);
          if (element === undefined) throw new MalformedRecord(markup, 'there is text outside the element');
          if (endsInAnotherRecord(xml.slice(markup, at), '<![CDATA[', open[0]?.name))
            throw new MalformedRecord(markup, RUNS_ON);
          element.text += xml.slice(markup + 9, at - 3);
        } else if (xml.startsWith('<!--', markup)) {
          at = endOf('-->', xml, markup, 4);
          if (endsInAnotherRecord(xml.slice(markup, at), '<!--', open[0]?.name))
            throw new MalformedRecord(markup, RUNS_ON);
        } else {
          throw new MalformedRecord(markup, `${excerpt(xml, markup)} is not allowed here`);
        }
        break;
      case '?':
        at = endOf('?>', xml, markup, 2);
        // Without its end, which may follow a "<".
        if (endsInAnotherRecord(xml.slice(markup, at - 2), '<?', open[0]?.name))
          throw new MalformedRecord(markup, RUNS_ON);
        break;
      default: {
        if (element === undefined && root !== undefined) throw new MalformedRecord(markup, 'a second element follows');
        if (open.length >= MAX_DEPTH) throw new MalformedRecord(markup, `elements are nested deeper than ${MAX_DEPTH}`);
        PLAIN_TAG.lastIndex = markup;
        if (PLAIN_TAG.test(xml)) {
          at = PLAIN_TAG.lastIndex;
          const plain = xml.slice(markup + 1, at - 1);
          element = { name: plain, start: at, text: '', branch: undefined, hasChildren: false };
          open.push(element);
          break;
        }
        const name = matchAt(START_TAG, xml, markup)?.[1];
        if (name === undefined)
          throw new MalformedRecord(markup, `${excerpt(xml, markup)}: a bare "<" must be written as &lt;`);
        const { branch, end } = readAttributes(xml, START_TAG.lastIndex);
        const ending = matchAt(TAG_END, xml, end);
        if (ending === null)
          throw new MalformedRecord(
            markup,
            `the tag ${excerpt(xml, markup)} is not well-formed at ${excerpt(xml, end)}`,
          );
        at = TAG_END.lastIndex;
        element = { name, start: at, text: '', branch, hasChildren: false };
        if (ending[1] === '') open.push(element);
        else close(element, at);
      }
    }
  }
  if (root === undefined || element !== undefined) {
    throw new MalformedRecord(
      xml.length,
      element === undefined ? 'it has no element' : `"</${element.name}>" is missing`,
    );
  }
  return root;
}

function endOf(terminator: string, xml: string, start: number, skip: number): number {
  const found = xml.indexOf(terminator, start + skip);
  if (found < 0) throw new MalformedRecord(start, `${excerpt(xml, start)} is not closed`);
  return found + terminator.length;
}

function takeText(xml: string, from: number, to: number, element: OpenElement | undefined): void {
  const text = xml.slice(from, to);
  const wrong = text.indexOf(']]>');
  if (wrong >= 0) throw new MalformedRecord(from + wrong, '"]]>" is not allowed in text');
  const decoded = decode(text, from);
  if (element !== undefined) element.text += decoded;
  else if (/\S/.test(text)) throw new MalformedRecord(from, 'there is text outside the element');
}

const decode = (text: string, at: number): string =>
  decodeEntities(text, (offset, message) => {
    throw new MalformedRecord(at + offset, message);
  });

function readAttributes(xml: string, from: number): { branch: Branch | undefined; end: number } {
  let branch: Branch | undefined;
  for (let end = from; ; end = ATTRIBUTE.lastIndex) {
    const attribute = matchAt(ATTRIBUTE, xml, end);
    if (attribute === null) return { branch, end };
    const key = `@${attribute[1]}`;
    branch ??= newBranch();
    if (branch[key] !== undefined)
      throw new MalformedRecord(end, `the attribute "${attribute[1]}" appears twice in a tag`);
    branch[key] = decode((attribute[2] ?? attribute[3] ?? '').replace(/[\t\n]/g, ' '), end);
  }
}

/** An element with children keeps its verbatim content, because only that preserves the order of text and elements. */
function closeElement({ start, text, branch, hasChildren }: OpenElement, xml: string, end: number): RecordTree {
  if (branch === undefined) return text;
  if (hasChildren) branch['#markup'] = xml.slice(start, end);
  else if (/\S/.test(text)) branch['#text'] = text;
  return branch;
}

const excerpt = (xml: string, at: number): string => JSON.stringify(xml.slice(at, at + 40));

export const xmlFormat: FeedFormat = {
  createSplitter: (options, sink) => new XmlSplitter(options, sink),
  parseRecord: (bytes, context) => parseRecord(bytes, context?.lenient),
  compileKeyRecovery,
};

// Repairs common faults of a record that is not well-formed XML, so it can be parsed as its author meant it.

/** HTML elements without an end tag that no feed uses as its own elements. */
const VOID = new Set(['br', 'hr', 'img', 'input', 'wbr']);

/** A reference as in the entity decoder, or a `&` alone. */
const REFERENCE = /&(?:#\d{1,8};|#x[\da-f]{1,8};|\w{1,32};|)/gi;

interface OpenTag {
  readonly name: string;
  /** The index of the element in the output pieces. */
  readonly piece: number;
}

/**
 * Escapes a bare `&`, an unknown entity and a `<` that begins no tag; closes `<br>` and similar elements where their
 * parent ends. Everything else stays, and the strict parser decides whether the result is readable, so no repair lets a
 * value swallow other elements. `undefined`: there is nothing to repair.
 */
function repairRecord(xml: string): RepairedText | undefined {
  const pieces: string[] = [];
  const open: OpenTag[] = [];
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  const text = (part: string) => pieces.push(repairReferences(part, count));

  for (let at = 0; at < xml.length; ) {
    const markup = xml.indexOf('<', at);
    text(xml.slice(at, markup < 0 ? xml.length : markup));
    if (markup < 0) break;
    const section = sectionEnd(xml, markup);
    if (section === 'unended') return undefined;
    if (section !== undefined) {
      pieces.push(xml.slice(markup, section));
      at = section;
      continue;
    }
    const tagEnd = endOfTag(xml, markup);
    if (tagEnd === undefined) {
      // Directly in the record, it may have been the tag of an element with children.
      if (open.length < 2) return undefined;
      count('bare "<"');
      pieces.push('&lt;');
      at = markup + 1;
      continue;
    }
    const tag = xml.slice(markup, tagEnd);
    const name = /^<\/?([^\s/>]+)/.exec(tag)?.[1] ?? '';
    if (tag.startsWith('</')) {
      closeVoid(open, name, pieces, count);
      if (open.at(-1)?.name === name) open.pop();
      pieces.push(tag);
    } else {
      text(tag);
      if (!tag.endsWith('/>')) open.push({ name, piece: pieces.length - 1 });
    }
    at = tagEnd;
  }
  if (counts.size === 0) return undefined;
  return { text: pieces.join(''), repairs: [...counts].map(([what, times]) => `${times} ${what}`) };
}

/** Before an end tag, closes open elements that need none, except for those directly in the record. */
function closeVoid(open: OpenTag[], name: string, pieces: string[], count: (what: string) => void): void {
  for (let top = open.at(-1); top !== undefined && top.name !== name; top = open.at(-1)) {
    if (!VOID.has(top.name.toLowerCase()) || open.length < 3) return;
    pieces[top.piece] = `${(pieces[top.piece] ?? '').slice(0, -1)}/>`;
    count(`unclosed <${top.name.toLowerCase()}>`);
    open.pop();
  }
}

/** The end of the CDATA section, comment or instruction that starts at `at`; `undefined`: none starts there. */
function sectionEnd(xml: string, at: number): number | 'unended' | undefined {
  for (const [start, terminator] of [
    ['<![CDATA[', ']]>'],
    ['<!--', '-->'],
    ['<?', '?>'],
  ] as const) {
    if (!xml.startsWith(start, at)) continue;
    const found = xml.indexOf(terminator, at + start.length);
    return found < 0 ? 'unended' : found + terminator.length;
  }
  return undefined;
}

/** The end of the tag that starts at `at`; `undefined`: it is not a well-formed tag. */
function endOfTag(xml: string, at: number): number | undefined {
  if (xml[at + 1] === '/') return matchAt(END_TAG, xml, at) === null ? undefined : END_TAG.lastIndex;
  if (matchAt(START_TAG, xml, at) === null) return undefined;
  let end = START_TAG.lastIndex;
  while (matchAt(ATTRIBUTE, xml, end) !== null) end = ATTRIBUTE.lastIndex;
  return matchAt(TAG_END, xml, end) === null ? undefined : TAG_END.lastIndex;
}

const repairReferences = (text: string, count: (what: string) => void): string =>
  text.includes('&')
    ? text.replace(REFERENCE, (reference) => {
        const isBare = reference === '&';
        if (!isBare && tryDecodeEntities(reference) !== undefined) return reference;
        count(isBare ? 'bare "&"' : 'unknown entity');
        return `&amp;${reference.slice(1)}`;
      })
    : text;
